// SPDX-License-Identifier: Apache-2.0
// Tests the check of the properties that a bundle claims about a program. The check must find every false claim that
// could mislead a runtime.
#include "BundleClaims.h"
#include "Pipeline.h"
#include "gc3/Emit/Bundle.h"
#include <gtest/gtest.h>

using namespace gc3;

namespace {

/// A program in which rank 0 sends its two chunks to rank 1 in one message, out of place. Each output chunk has one
/// contribution. The program works with any count.
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
    ASSERT_EQ(imports::readBundle(bytes, {}, bundled).message, "");
    stored = bundled.at(0);
  }

  /// Returns the diagnostic about the claims, or an empty string if they hold.
  std::string findProblem() {
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
  EXPECT_EQ(findProblem(), "");
  stored.verified = 0; // weaker claims are true, too
  stored.wholeSlots = true;
  stored.minSlots = 8;
  stored.maxCount = 3;
  stored.form = ""; // bundles before version 1.1 have no form and no meaning
  stored.meaning = 0;
  EXPECT_EQ(findProblem(), "");
}

TEST_F(Claims, falseOnesAreFound) {
  const std::string begin = "program 'move': the bundle claims ";
  auto changed = [&](auto change) {
    imports::BundledProgram before = stored;
    change(stored);
    std::string problem = findProblem();
    stored = before;
    return problem;
  };
  using Stored = imports::BundledProgram;
  EXPECT_EQ(changed([](Stored &s) { s.verified |= 1u << 30; }), begin + "properties that are not proven");
  EXPECT_EQ(changed([](Stored &s) { s.minSlots = 0; }), begin + "0 slots per connection, but the program needs 1");
  EXPECT_EQ(changed([](Stored &s) { s.contributions = 2; }), begin + "2 contributions to each output, not 1");
  EXPECT_EQ(changed([](Stored &s) { s.maxCount = 1; }), begin + "shorter messages than the program has");
  EXPECT_EQ(changed([](Stored &s) { s.inPlace = true; }), begin + "the wrong placement");
  EXPECT_EQ(changed([](Stored &s) { s.form = "move(n = 2)"; }), begin + "the form 'move(n = 2)', not 'move'");
  EXPECT_EQ(changed([](Stored &s) { s.meaning ^= 1; }), begin + "another meaning of 'move' than its postcondition has");
  verdict.wholeSlots = true;
  EXPECT_EQ(findProblem(), begin + "that slots can be short, but values would lose elements");
}

TEST(ClaimedCollective, theNameOfAStandardOneIsNotForOtherPromises) {
  driver::Options options;
  options.from = driver::From::Bundle;
  options.emit = driver::Emit::Verdict;
  auto findProblem = [&](std::string collective) {
    driver::Session session(options);
    std::vector<ir::Program> read = ir::readGC3IR(session.sources, session.diags, "text",
                                                  "gc3-ir keep implements " + collective +
                                                      " ranks 2\n"
                                                      "buffers input[1] output[1]\n"
                                                      "ensures for r in 0..2: output(r, 0) == input(r, 0)\n"
                                                      "rank 0: output 1 (input is output[0..])\n"
                                                      "rank 1: output 1 (input is output[0..])\n",
                                                  {});
    verify::Verdict verdict = verify::verify(read.at(0), {});
    std::string nothing;
    driver::Pipeline(session).compile(
        emit::writeBundle({{&read[0], verdict.proven, verdict.minSlots, verdict.wholeSlots}}, "test"), nothing);
    return session.diags.hasErrors() ? session.diags.all().at(0).message : "";
  };
  EXPECT_EQ(findProblem("own"), "");
  EXPECT_EQ(findProblem("allreduce"),
            "program 'keep': 'allreduce' is a standard collective, and output(0, 0) is promised input(0, 0) instead of "
            "the reduction of 2 chunks: input(0, 0), input(1, 0); give the collective another name");
}

/// The check of a bundle includes the table by which a runtime chooses among its programs.
TEST_F(Claims, programsLeaveSizesAndNamesToEachOther) {
  driver::Options options;
  options.from = driver::From::Bundle;
  options.emit = driver::Emit::Verdict;
  auto findProblem = [&](const char *name, uint64_t minBytes) {
    std::vector<ir::Program> both(2, stored.program);
    auto first = std::make_shared<ir::ProgramInfo>(*stored.program.info),
         second = std::make_shared<ir::ProgramInfo>(*first);
    first->maxBytes = 1024;
    second->name = name;
    second->minBytes = minBytes;
    both[0].info = first;
    both[1].info = second;
    std::string bytes = emit::writeBundle({{&both[0], verdict.proven, verdict.minSlots, verdict.wholeSlots},
                                           {&both[1], verdict.proven, verdict.minSlots, verdict.wholeSlots}},
                                          "test");
    driver::Session session(options);
    driver::Pipeline pipeline(session);
    std::string nothing;
    bool good = pipeline.compile(bytes, nothing);
    EXPECT_NE(good, session.diags.hasErrors());
    return good ? "" : session.diags.all().at(0).message;
  };
  EXPECT_EQ(findProblem("other", 1024), "");
  EXPECT_EQ(findProblem("other", 512), "'other' (512 bytes or more) and 'move' (0 .. 1024 bytes) both implement "
                                       "'move' on 2 ranks; give each a 'sizes' range of its own");
  EXPECT_EQ(findProblem("move", 1024), "there is a program 'move' already");
}
