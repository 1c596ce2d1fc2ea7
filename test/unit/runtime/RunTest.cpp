// SPDX-License-Identifier: Apache-2.0
// Tests the library of gc3-run end to end: runs programs and checks their results, for all types, operations, odd
// counts, placements, slots, tiles and orders.
#include "RunSupport.h"

using namespace gc3::run;
using namespace gc3::test;

namespace {

std::vector<ProgramSpec> allPrograms(uint32_t n) {
  std::vector<ProgramSpec> programs = {ringAllReduce(n, true),
                                       ringAllReduce(n, false),
                                       ringAllReduce(n, true, 3),
                                       writesInput(n),
                                       allToAll(n, 1),
                                       allToAll(n, 3),
                                       allGather(n, true),
                                       allGather(n, false),
                                       reduceScatter(n, true),
                                       reduceScatter(n, false),
                                       broadcast(n, n / 2),
                                       reduceTo(n, n - 1),
                                       gather(n, n / 2),
                                       scatter(n, 0),
                                       shiftReversed(n, 3),
                                       allGather(n, false, true),
                                       reduceScatter(n, false, true)};
  if (n > 1)
    programs.push_back(plainRingAllReduce(n));
  return programs;
}

void expectAllRight(const Options &options, size_t atLeastRows) {
  Result result = runOptions(options);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.summary.wrong, 0u) << result.table;
  EXPECT_GE(result.summary.rows.size(), atLeastRows);
}

class Ranks : public ::testing::TestWithParam<uint32_t> {};

} // namespace

TEST_P(Ranks, EveryTypeAndOperation) {
  BundlePath bundle(allPrograms(GetParam()));
  Options options = checkOnly(bundle.path);
  useAllTypesAndOps(options);
  expectAllRight(options, 17 * 5 * 12);
}

TEST_P(Ranks, TilesAndSlots) {
  BundlePath bundle(allPrograms(GetParam()));
  for (uint64_t tile : {1, 2, 7, 1000})
    for (uint32_t slots : {2, 3}) {
      Options options = checkOnly(bundle.path);
      options.host.tileElements = tile;
      options.host.slots = slots;
      expectAllRight(options, 17 * 5);
    }
}

TEST_P(Ranks, AdversarialOrders) {
  BundlePath bundle(allPrograms(GetParam()));
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Options options = checkOnly(bundle.path);
    options.host.order = gc3OrderAdversarial;
    options.host.seed = seed;
    options.rounds = 2;
    expectAllRight(options, 17 * 5);
  }
}

TEST_P(Ranks, PaddedCalls) {
  std::vector<ProgramSpec> programs = allPrograms(GetParam());
  for (ProgramSpec &program : programs)
    program.wholeSlots = true;
  BundlePath bundle(programs);
  Options options = checkOnly(bundle.path);
  options.types = {gc3Int8, gc3Float64};
  options.ops = {Reduction::Sum, Reduction::Avg};
  expectAllRight(options, 17 * 5 * 2);
}

TEST_P(Ranks, SeveralWorkers) {
  BundlePath bundle(allPrograms(GetParam()));
  Options options = checkOnly(bundle.path);
  options.counts = {300001};
  options.host.workers = 4;
  options.iterations = 2;
  expectAllRight(options, 17);
}

INSTANTIATE_TEST_SUITE_P(Run, Ranks, ::testing::Values(1, 2, 3, 4, 5));
