// SPDX-License-Identifier: Apache-2.0
// gc3-run's library end to end: all programs, types, operations, odd counts, placements, slots, tiles and orders are
// run and checked.
#include "Programs.h"

#include "Runner.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace gc3::run;
using namespace gc3::test;

namespace {

/// A bundle in a file that goes away again.
class BundlePath {
public:
  explicit BundlePath(const std::vector<ProgramSpec> &programs) : path(freshPath()) {
    std::ofstream(path, std::ios::binary) << buildBundle(programs);
  }
  ~BundlePath() { std::remove(path.c_str()); }
  const std::string path;

private:
  static std::string freshPath() {
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '-'); // parametrised tests have one
    return ::testing::TempDir() + "gc3-run-test-" + name + "-" + std::to_string(getpid()) + ".gc3b";
  }
};

struct Result {
  std::string problem, table;
  Summary summary;
};

Result runOptions(const Options &options) {
  Result result;
  ::testing::internal::CaptureStdout();
  result.problem = Runner(options).run(result.summary);
  result.table = ::testing::internal::GetCapturedStdout();
  return result;
}

std::vector<ProgramSpec> allPrograms(uint32_t n) {
  std::vector<ProgramSpec> programs = {ringAllReduce(n, true),  ringAllReduce(n, false), ringAllReduce(n, true, 3),
                                       writesInput(n),          allToAll(n, 1),          allToAll(n, 3),
                                       allGather(n, true),      allGather(n, false),     reduceScatter(n, true),
                                       reduceScatter(n, false), broadcast(n, n / 2),     reduceTo(n, n - 1),
                                       gather(n, n / 2),        scatter(n, 0),           shiftReversed(n, 3)};
  for (bool aliased : {false, true}) {
    programs.push_back(allGather(n, aliased, true));
    programs.push_back(reduceScatter(n, aliased, true));
  }
  if (n > 1)
    programs.push_back(plainRingAllReduce(n));
  return programs;
}

Options checkOnly(const std::string &path) {
  Options options;
  options.bundle = path;
  options.program = "all";
  options.iterations = 0;
  options.counts = {0, 1, 3, 17, 1000};
  return options;
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
  options.types.clear();
  options.ops.clear();
  for (int t = 0; t < gc3NumTypes; ++t)
    options.types.push_back(static_cast<gc3DataType_t>(t));
  for (int o = 0; o < gc3NumOps; ++o)
    options.ops.push_back(static_cast<gc3RedOp_t>(o));
  expectAllRight(options, 19 * 5 * 12);
}

TEST_P(Ranks, TilesAndSlots) {
  BundlePath bundle(allPrograms(GetParam()));
  for (uint64_t tile : {1, 2, 7, 1000})
    for (uint32_t slots : {2, 3}) {
      Options options = checkOnly(bundle.path);
      options.host.tileElements = tile;
      options.host.slots = slots;
      expectAllRight(options, 19 * 5);
    }
}

TEST_P(Ranks, AdversarialOrders) {
  BundlePath bundle(allPrograms(GetParam()));
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Options options = checkOnly(bundle.path);
    options.host.order = gc3OrderAdversarial;
    options.host.seed = seed;
    options.rounds = 2;
    expectAllRight(options, 19 * 5);
  }
}

TEST_P(Ranks, PaddedCalls) {
  std::vector<ProgramSpec> programs = allPrograms(GetParam());
  for (ProgramSpec &program : programs)
    program.wholeSlots = true;
  BundlePath bundle(programs);
  Options options = checkOnly(bundle.path);
  options.types = {gc3Int8, gc3Float64};
  options.ops = {gc3Sum, gc3Avg};
  expectAllRight(options, 19 * 5 * 2);
}

TEST_P(Ranks, SeveralWorkers) {
  BundlePath bundle(allPrograms(GetParam()));
  Options options = checkOnly(bundle.path);
  options.counts = {300001};
  options.host.workers = 4;
  options.iterations = 2;
  expectAllRight(options, 19);
}

INSTANTIATE_TEST_SUITE_P(Run, Ranks, ::testing::Values(1, 2, 3, 4, 5));

TEST(Run, FindsAMissingContribution) {
  for (bool twice : {false, true}) {
    ProgramSpec spec = plainRingAllReduce(3);
    Step &lost = spec.ranks[1].blocks[1].steps[1];
    if (twice)
      spec.ranks[1].blocks[1].steps[3].src = lost.src;
    else
      lost = {Opcode::Copy, in(0), scratch(0), 1, {}};
    BundlePath bundle({spec});
    Options options = checkOnly(bundle.path);
    options.counts = {200};
    options.types.clear();
    for (int t = 0; t < gc3NumTypes; ++t)
      options.types.push_back(static_cast<gc3DataType_t>(t));
    ::testing::internal::CaptureStderr();
    Result result = runOptions(options);
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("rank 1 chunk 0 element"), std::string::npos);
    EXPECT_EQ(result.problem, "");
    for (const Row &row : result.summary.rows) {
      EXPECT_GT(row.placement[0].wrong, 50u) << row.type;
      EXPECT_GT(row.placement[1].wrong, 50u) << row.type;
      EXPECT_LE(row.placement[0].wrong, 200u) << row.type; // the other ranks are right
    }
    EXPECT_NE(result.table.find("FAILED"), std::string::npos);
  }
}

TEST(Run, FindsAMisplacedChunkAndAModifiedInput) {
  ProgramSpec spec = allToAll(3, 1);
  std::swap(spec.ranks[0].blocks[1].steps[0].src, spec.ranks[0].blocks[2].steps[0].src);
  ProgramSpec liar = writesInput(2);
  for (Rank &rank : liar.ranks)
    rank.writesInput = false; // so that no private copy is made
  BundlePath bundle({spec, liar});
  Options options = checkOnly(bundle.path);
  options.counts = {5};
  options.inPlace = false;
  ::testing::internal::CaptureStderr();
  Result result = runOptions(options);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("an input was modified"), std::string::npos);
  ASSERT_EQ(result.summary.rows.size(), 2u);
  EXPECT_EQ(result.summary.rows[0].placement[0].wrong, 10u);
  EXPECT_GE(result.summary.rows[1].placement[0].wrong, 1u);
}

TEST(Run, SizesFollowTheDispatchTable) {
  ProgramSpec small = ringAllReduce(2, true), large = plainRingAllReduce(2);
  small.maxBytes = 4096;
  large.minBytes = 4096;
  BundlePath bundle({small, large});
  Options options;
  options.bundle = bundle.path;
  options.maxBytes = 8 << 10;
  options.iterations = 1;
  Result result = runOptions(options);
  ASSERT_EQ(result.summary.rows.size(), 4u) << result.problem;
  EXPECT_EQ(result.summary.rows[1].program, small.name);
  EXPECT_EQ(result.summary.rows[2].program, large.name);
  EXPECT_EQ(result.summary.rows[2].bytes, 4096u);
  EXPECT_NE(result.table.find("# Out of bounds values : 0 OK"), std::string::npos);
  options.maxBytes = 1 << 10;
  options.collective = "alltoall";
  EXPECT_NE(runOptions(options).problem.find("no such program"), std::string::npos);
}

TEST(Run, WritesJson) {
  BundlePath bundle({ringAllReduce(2, true)});
  Options options = checkOnly(bundle.path);
  Result result = runOptions(options);
  std::string path = bundle.path + ".json";
  ASSERT_EQ(writeJson(path, options, result.summary), "");
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_NE(text.find("\"program\": \"ring2_aliased_1\", \"ranks\": 2, \"bytes\": 4, \"count\": 1"), std::string::npos)
      << text;
  std::remove(path.c_str());
  EXPECT_NE(writeJson("/nonexistent/x.json", options, result.summary), "");
}

TEST(Run, BusBandwidthFactors) {
  EXPECT_EQ(busFactor("allreduce", 4), 1.5);
  EXPECT_EQ(busFactor("alltoall", 4), 0.75);
  EXPECT_EQ(busFactor("broadcast", 4), 1);
  EXPECT_EQ(busFactor("my_own", 4), 1);
}

TEST(Run, CommandLine) {
  auto parse = [](std::vector<std::string> words, Options &options) {
    words.insert(words.begin(), "gc3-run");
    std::vector<char *> argv;
    for (std::string &word : words)
      argv.push_back(word.data());
    ::testing::internal::CaptureStderr();
    Action action = parseOptions(static_cast<int>(argv.size()), argv.data(), options);
    return std::pair(action, ::testing::internal::GetCapturedStderr());
  };
  Options options;
  EXPECT_EQ(
      parse({"b", "-b", "2K", "-e", "3MB", "-d", "half,int8", "-o", "all", "--inplace=1", "--count", "0,7"}, options)
          .first,
      Action::Run);
  EXPECT_EQ(options.minBytes, 2048u);
  EXPECT_EQ(options.maxBytes, 3000000u);
  EXPECT_EQ(options.types, (std::vector<gc3DataType_t>{gc3Float16, gc3Int8}));
  EXPECT_EQ(options.ops.size(), 5u);
  EXPECT_FALSE(options.outOfPlace);
  EXPECT_EQ(options.counts, (std::vector<uint64_t>{0, 7}));
  for (const std::vector<std::string> &words : std::vector<std::vector<std::string>>{{},
                                                                                     {"b", "c"},
                                                                                     {"b", "-x"},
                                                                                     {"b", "-b"},
                                                                                     {"b", "-b", "1Q"},
                                                                                     {"b", "-b", "-1"},
                                                                                     {"b", "-f", "1"},
                                                                                     {"b", "-d", "quad"},
                                                                                     {"b", "-b", "2M", "-e", "1M"},
                                                                                     {"b", "--order", "odd"}}) {
    Options unused;
    EXPECT_EQ(parse(words, unused).first, Action::UsageError);
  }
  Options unused;
  EXPECT_NE(parse({"b", "--backend", "cuda"}, unused).second.find("backend 'cuda' is not built"), std::string::npos);
}
