// SPDX-License-Identifier: Apache-2.0
// What a bundle says of a program beside the program: each claim that a runtime would be misled by is found.
#include "BundleClaims.h"
#include "gc3/Emit/Bundle.h"
#include <gtest/gtest.h>

using namespace gc3;

namespace {

/// Rank 0 sends its two chunks to rank 1 in one message: out of place, one contribution each, whole slots not needed.
class Claims : public testing::Test {
protected:
  void SetUp() override {
    SourceManager sources;
    Diagnostics diags(sources);
    std::vector<ir::Program> read = ir::readGC3IR(sources, diags, "text",
                                                  "gc3-ir move implements move ranks 2\n"
                                                  "buffers input[2] output[2]\n"
                                                  "ensures for c in 0..2: output(1, c) == input(0, c)\n"
                                                  "rank 0: input 2\n"
                                                  "  tb 0 channel 0 send 1\n"
                                                  "    0: send input[0..2]\n"
                                                  "rank 1: output 2\n"
                                                  "  tb 0 channel 0 recv 0\n"
                                                  "    0: recv -> output[0..2]\n",
                                                  {});
    ASSERT_EQ(read.size(), 1u);
    verdict = verify::verify(read[0], {});
    ASSERT_TRUE(verdict.holds());
    ASSERT_FALSE(verdict.wholeSlots);
    std::vector<imports::BundledProgram> bundled;
    std::string bytes = emit::writeBundle({{&read[0], verdict.proven, verdict.minSlots, verdict.wholeSlots}}, "test");
    ASSERT_EQ(imports::readBundle(bytes, {}, bundled), "");
    stored = bundled.at(0);
  }

  /// What is said of the claims; empty if they hold.
  std::string judge() {
    driver::Options options;
    driver::Session session(options);
    bool good = driver::checkClaims(session, stored, verdict);
    EXPECT_NE(good, session.diags.hasErrors());
    return good ? "" : session.diags.all().at(0).message;
  }

  imports::BundledProgram stored;
  verify::Verdict verdict;
};

} // namespace

TEST_F(Claims, trueOnesHold) {
  EXPECT_EQ(judge(), "");
  stored.verified = 0; // less is no lie
  stored.wholeSlots = true;
  stored.minSlots = 8;
  stored.maxCount = 3;
  EXPECT_EQ(judge(), "");
}

TEST_F(Claims, falseOnesAreFound) {
  const std::string begin = "program 'move': the bundle claims ";
  auto changed = [&](auto change) {
    imports::BundledProgram before = stored;
    change(stored);
    std::string said = judge();
    stored = before;
    return said;
  };
  using Stored = imports::BundledProgram;
  EXPECT_EQ(changed([](Stored &s) { s.verified |= 1u << 30; }), begin + "properties that are not proven");
  EXPECT_EQ(changed([](Stored &s) { s.minSlots = 0; }), begin + "0 slots per connection, and it needs 1");
  EXPECT_EQ(changed([](Stored &s) { s.contributions = 2; }), begin + "2 contributions to each output, not 1");
  EXPECT_EQ(changed([](Stored &s) { s.maxCount = 1; }), begin + "messages shorter than there are");
  EXPECT_EQ(changed([](Stored &s) { s.inPlace = true; }), begin + "the wrong placement");
  verdict.wholeSlots = true;
  EXPECT_EQ(judge(), begin + "that slots may be short, and values would be");
}
