// SPDX-License-Identifier: Apache-2.0
// Tests the meaning of a collective, which decides whether two programs may serve one name.
#include "gc3/IR/Read.h"
#include <gtest/gtest.h>

using namespace gc3;

namespace {

/// Returns the meaning of a collective on 2 ranks: its buffers, promise, and the buffers of both ranks.
uint64_t meaning(const std::string &buffers, const std::string &ensures, const std::string &first,
                 const std::string &second, const std::string &name = "c") {
  SourceManager sources;
  Diagnostics diags(sources);
  const std::vector<ir::Program> read =
      ir::readGC3IR(sources, diags, "text",
                    "gc3-ir p implements " + name + " ranks 2\nbuffers " + buffers + "\n" + ensures +
                        "rank 0: " + first + "\nrank 1: " + second + "\n",
                    {});
  EXPECT_FALSE(diags.hasErrors()) << (diags.all().empty() ? "" : diags.all()[0].message);
  return read.empty() ? 0 : ir::meaningOf(read[0].info->collective);
}

/// Both ranks have all buffers, with `size` chunks each.
uint64_t meaning(int chunks, const std::string &ensures) {
  const std::string size = std::to_string(chunks), both = "input " + size + " output " + size;
  return meaning("input[" + size + "] output[" + size + "]", ensures, both, both);
}

const char *const swapOne = "ensures for r in 0..2: output(r, 0) == input(1 - r, 0)\n";
const char *const swapTwo = "ensures for r in 0..2, c in 0..2: output(r, c) == input(1 - r, c)\n";

} // namespace

TEST(Meaning, chunksOfWholeBlocksDoNotMatter) {
  EXPECT_NE(meaning(1, swapOne), 0u);
  EXPECT_EQ(meaning(1, swapOne), meaning(2, swapTwo));
  EXPECT_EQ(meaning(4, "ensures for r in 0..2, c in 0..4: output(r, c) == input(1 - r, c)\n"), meaning(2, swapTwo));
  EXPECT_EQ(meaning(1, ""), meaning(4, ""));
}

TEST(Meaning, chunksMatterIfTheyMoveInsideBlocks) {
  const char *const turn = "ensures for r in 0..2, c in 0..2: output(r, c) == input(r, 1 - c)\n";
  const char *const turnHalves = "ensures for r in 0..2, c in 0..2: output(r, c) == input(r, c + 2)\n"
                                 "ensures for r in 0..2, c in 0..2: output(r, c + 2) == input(r, c)\n";
  EXPECT_NE(meaning(2, turn), meaning(4, turnHalves)) << "uneven counts cut the blocks at other elements";
  EXPECT_NE(meaning(2, swapTwo), meaning(2, "ensures for r in 0..2: output(r, 0) == input(1 - r, 0)\n"));
  EXPECT_NE(meaning(2, "ensures output(0, 0) == input(1, 0)\n"), meaning(2, "ensures output(0, 1) == input(1, 1)\n"));
}

TEST(Meaning, thePromiseMatters) {
  const std::string stay = "ensures for r in 0..2: output(r, 0) == input(r, 0)\n";
  EXPECT_NE(meaning(1, swapOne), meaning(1, stay));
  EXPECT_NE(meaning(1, swapOne), meaning(1, ""));
  EXPECT_NE(meaning(1, swapOne), meaning(1, "ensures output(0, 0) == input(1, 0)\n"));
  const std::string sum = "ensures output(0, 0) == reduce(input(q, 0) for q in 0..2)\n";
  EXPECT_NE(meaning(1, sum), meaning(1, "ensures output(0, 0) == input(1, 0)\n"));
  EXPECT_NE(meaning(1, sum), meaning(1, "ensures output(0, 0) == reduce(input(1, 0) for q in 0..2)\n"));
  EXPECT_EQ(meaning(1, sum), meaning(1, "ensures output(0, 0) == reduce(input(1 - q, 0) for q in 0..2)\n"))
      << "the order does not matter";
}

TEST(Meaning, buffersMatterButNotTheirOverlap) {
  const std::string none, whole = "input 1 output 1";
  const uint64_t apart = meaning("input[1] output[1]", none, whole, whole);
  EXPECT_EQ(apart,
            meaning("input[1] output[1]", none, "output 1 (input is output[0..])", "output 1 (input is output[0..])"));
  EXPECT_NE(apart, meaning("input[1] output[1]", none, "input 1", whole));
  EXPECT_NE(apart, meaning("input[1] output[1]", none, "output 1", whole));
  EXPECT_NE(apart, meaning("input[1] output[2][1]", none, "input 1 output 2", "input 1 output 2"));
}

TEST(Meaning, standardCollectivesHaveTheirNames) {
  const std::string whole = "input 1 output 1";
  EXPECT_EQ(meaning("input[1] output[1]", swapOne, whole, whole, "allreduce"), 0u);
}
