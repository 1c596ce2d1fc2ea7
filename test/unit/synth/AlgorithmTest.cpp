// SPDX-License-Identifier: Apache-2.0
// Tests findError() on correct and wrong handwritten algorithms, and whether the programs of the correct ones keep the
// promise of their collective.
#include "Problem.h"

using namespace gc3;
using namespace gc3::algorithm;

namespace {

/// Returns an AllGather on a ring in ranks / 2 steps. In both directions, each rank forwards the chunk that it received
/// last.
Algorithm ringAllgather(const Problem &problem) {
  const uint32_t ranks = problem.topology.ranks;
  Algorithm algorithm;
  for (uint32_t step = 0; 2 * step < ranks - 1; ++step) {
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      algorithm.sends.push_back({(rank + ranks - step) % ranks, problem.link(rank, (rank + 1) % ranks)});
      if (2 * step + 2 < ranks)
        algorithm.sends.push_back({(rank + step) % ranks, problem.link(rank, (rank + ranks - 1) % ranks)});
    }
    algorithm.endStep(1);
  }
  return algorithm;
}

} // namespace

TEST(Check, AcceptsTheRing) {
  const Problem problem("ring:6", "allgather(ranks = 6, inplace = inplace)");
  const Algorithm ring = ringAllgather(problem);
  EXPECT_EQ(ring.steps(), 3u);
  EXPECT_EQ(problem.findError(ring), "");
  EXPECT_EQ(complaints(problem.program(ring)), "");
}

TEST(Check, InvertedItReduces) {
  const Problem gather("ring:6", "allgather(ranks = 6, inplace = inplace)");
  const Problem scatter("ring:6", "reduce_scatter(ranks = 6, inplace = inplace)");
  const Problem all("ring:6", "allreduce(ranks = 6, chunks = 6, inplace = inplace)");
  // inverted() reverses the direction of all links, so it needs an algorithm for the reversed ring. The links of both
  // rings have the same numbers.
  Problem backwards = gather;
  backwards.topology = topology::reversed(gather.topology);
  const Algorithm reduceScatter = inverted(ringAllgather(backwards));
  EXPECT_EQ(scatter.findError(reduceScatter), "");
  EXPECT_EQ(complaints(scatter.program(reduceScatter)), "");
  const Algorithm allreduce = sequence(reduceScatter, ringAllgather(gather));
  EXPECT_EQ(all.findError(allreduce), "");
  EXPECT_EQ(allreduce.totalRounds(), 6u);
  EXPECT_EQ(complaints(all.program(allreduce)), "");
}

TEST(Check, SaysWhatIsWrong) {
  const Problem problem("ring:4", "broadcast(ranks = 4, chunks = 2, inplace = inplace)");
  const uint32_t there = problem.link(0, 1), on = problem.link(1, 2), other = problem.link(0, 3);
  auto wrong = [&](const std::vector<std::vector<Send>> &steps) {
    Algorithm algorithm;
    for (const std::vector<Send> &step : steps) {
      algorithm.sends.insert(algorithm.sends.end(), step.begin(), step.end());
      algorithm.endStep(1);
    }
    return problem.findError(algorithm);
  };
  EXPECT_EQ(wrong({{{0, there}, {1, there}}}),
            "in step 1 2 chunks go over the link from 0 to 1, but the limit in 1 round is 1");
  EXPECT_EQ(wrong({{{0, on}}}), "in step 1 rank 1 sends chunk 0, which it does not have");
  EXPECT_EQ(wrong({{{0, there}, {0, on}}}), "in step 1 rank 1 both receives and sends chunk 0");
  EXPECT_EQ(wrong({{{0, there}}, {{0, on}, {1, there}}}), "rank 3 ends with 0 of 1 contribution to chunk 0");
  EXPECT_EQ(wrong({{{5, there}}}), "a send names a chunk or a link that does not exist");
  EXPECT_EQ(wrong({{{0, there}, {0, other}}, {{0, on}, {0, problem.link(3, 2)}}}),
            "in step 2 rank 2 receives chunk 0 twice");
  EXPECT_EQ(wrong({{{0, there}, {1, other}}, {{1, there}, {0, other}, {0, on}, {1, problem.link(3, 2)}}}), "");
}

TEST(Check, CountsContributionsOnce) {
  const Problem problem("ring:3", "reduce(ranks = 3, chunks = 1, inplace = inplace)");
  Algorithm twice;
  twice.sends = {{0, problem.link(1, 0), SendKind::Reduce}};
  twice.endStep(1);
  EXPECT_EQ(problem.findError(twice), "rank 0 ends with 2 of 3 contributions to chunk 0");
  twice.sends.push_back({0, problem.link(1, 0), SendKind::Reduce});
  twice.endStep(1);
  EXPECT_EQ(problem.findError(twice), "in step 2 rank 0 adds contributions to chunk 0 that it already has");
  twice.sends[1].link = problem.link(2, 0);
  EXPECT_EQ(problem.findError(twice), "");
  EXPECT_EQ(complaints(problem.program(twice)), "");
}

TEST(Check, KnowsBoundsOverSeveralLinks) {
  const Problem problem("dgx-a100", "broadcast(ranks = 8, chunks = 13, inplace = inplace)");
  Algorithm algorithm;
  for (uint32_t chunk = 0; chunk < 13; ++chunk)
    algorithm.sends.push_back({chunk, problem.link(0, 1 + chunk % 7)});
  algorithm.endStep(1);
  EXPECT_EQ(problem.findError(algorithm),
            "in step 1 13 chunks go over the links of bound 0, but the limit in 1 round is 12");
}

TEST(Algorithm, LosesIdleCopies) {
  const Problem problem("ring:4", "scatter(ranks = 4, inplace = inplace)");
  auto link = [&](uint32_t from, uint32_t to) { return problem.link(from, to); };
  Algorithm algorithm;
  algorithm.sends = {{1, link(0, 1)}, {3, link(0, 3)}, {2, link(0, 1)}, {1, link(0, 3)}};
  algorithm.endStep(2);
  algorithm.sends.insert(algorithm.sends.end(), {{2, link(1, 2)}, {3, link(3, 2)}, {1, link(1, 0)}});
  algorithm.endStep(1);
  const Algorithm kept = withoutIdleCopies(problem.topology, problem.demand, algorithm);
  ASSERT_EQ(kept.sends.size(), 4u);
  EXPECT_EQ(kept.stepBegin, (std::vector<uint32_t>{0, 3, 4}));
  EXPECT_EQ(problem.findError(kept), "");
  EXPECT_EQ(complaints(problem.program(kept)), "");
}

TEST(Print, WritesLoopsWhereRanksDoAlike) {
  const Problem problem("ring:4", "allgather(ranks = 4, inplace = inplace)");
  EXPECT_EQ(problem.program(ringAllgather(problem)), R"(// A test.
param inplace: bool = true;

program p implements allgather(ranks = 4, inplace = inplace) {
    // Local copies of chunks that a rank has at the beginning.
    for r in 0..4 {
        chunk(r, input, 0).copy(r, output, r);
    }
    // Step 1 of 2: 1 round.
    {
        for r in 0..4 {
            chunk(r, output, r).copy((r + 1) % 4, output, r);
            chunk(r, output, r).copy((r + 3) % 4, output, r);
        }
    }
    // Step 2 of 2: 1 round.
    {
        for r in 0..4 {
            chunk(r, output, (r + 3) % 4).copy((r + 1) % 4, output, (r + 3) % 4);
        }
    }
}
)");
}

/// Each rank sends to the next rank, and then to the one after that. The second message can replace the input that the
/// first one sent.
TEST(Print, TakesThePlaceOfInputsThatAreSent) {
  Problem problem("full:3", "alltoall(ranks = 3, inplace = inplace)");
  Algorithm algorithm;
  for (uint32_t hop : {1, 2}) {
    for (uint32_t rank = 0; rank < 3; ++rank) // chunk number: destination * 3 + source
      algorithm.sends.push_back({(rank + hop) % 3 * 3 + rank, problem.link(rank, (rank + hop) % 3)});
    algorithm.endStep(1);
  }
  EXPECT_EQ(problem.findError(algorithm), "");
  const std::string text = problem.program(algorithm);
  EXPECT_EQ(complaints(text), "");
  EXPECT_EQ(text, R"(// A test.
param inplace: bool = true;

program p implements alltoall(ranks = 3, inplace = inplace) {
    // Local copies of chunks that a rank has at the beginning.
    for r in 0..3 {
        chunk(r, input, r).copy(r, output, r);
    }
    // Step 1 of 2: 1 round.
    {
        for r in 0..3 {
            chunk(r, input, (r + 1) % 3).copy((r + 1) % 3, scratch, 0);
        }
    }
    // Step 2 of 2: 1 round.
    {
        for r in 0..3 {
            chunk(r, input, (r + 2) % 3).copy((r + 2) % 3, output, r);
        }
    }
    // Local copies to the output.
    for r in 0..3 {
        chunk(r, scratch, 0).copy(r, output, (r + 2) % 3);
    }
}
)");
}

TEST(Print, StagesWhatWouldOverwriteInputs) {
  // In place, the block from rank q overwrites block q of rank r, which rank r must still send.
  const Problem problem("full:3", "alltoall(ranks = 3, inplace = inplace)");
  Algorithm algorithm;
  for (uint32_t chunk = 0; chunk < problem.demand.chunks(); ++chunk) {
    const uint32_t from = problem.demand.sourcesOf(chunk)[0].rank, to = problem.demand.targetsOf(chunk)[0].rank;
    if (from != to)
      algorithm.sends.push_back({chunk, problem.link(from, to)});
  }
  algorithm.endStep(1);
  EXPECT_EQ(problem.findError(algorithm), "");
  EXPECT_EQ(complaints(problem.program(algorithm)), "");
}
