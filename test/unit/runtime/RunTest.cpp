// SPDX-License-Identifier: Apache-2.0
// gc3-run's library end to end: all programs, types, operations, odd counts, placements, slots, tiles and orders are
// run and checked.
#include "Programs.h"

#include "Inputs.h"
#include "Runner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
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

void takeAllTypesAndOps(Options &options) {
  options.types.clear();
  options.ops.clear();
  for (int t = 0; t < gc3NumTypes; ++t)
    options.types.push_back(static_cast<gc3DataType_t>(t));
  for (int o = 0; o < gc3NumOps; ++o)
    options.ops.push_back(static_cast<gc3RedOp_t>(o));
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
  takeAllTypesAndOps(options);
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

/// plainRingAllReduce, but rank 1 lacks or doubles the contribution of the rank `distance` before it.
static ProgramSpec mutant(uint32_t ranks, uint32_t distance, bool twice) {
  ProgramSpec spec = plainRingAllReduce(ranks);
  spec.name = (twice ? "twice" : "lost") + std::to_string(ranks) + "_" + std::to_string(distance);
  std::vector<Step> &steps = spec.ranks[1].blocks[1].steps;
  if (twice)
    steps.push_back({Opcode::Reduce, scratch(distance), out(0), 1, {}});
  else
    steps[2 * distance - 1] = {Opcode::Copy, in(0), scratch(0), 1, {}};
  return spec;
}

TEST(Run, FindsEachContributionForEveryTypeAndOperation) {
  std::vector<ProgramSpec> specs;
  for (uint32_t ranks : {2u, 3u, 16u})
    for (uint32_t distance : {1u, ranks / 2, ranks - 1})
      for (bool twice : {false, true})
        specs.push_back(mutant(ranks, distance, twice));
  // One bundle holds one program of a name.
  std::sort(specs.begin(), specs.end(), [](const auto &a, const auto &b) { return a.name < b.name; });
  specs.erase(std::unique(specs.begin(), specs.end(), [](const auto &a, const auto &b) { return a.name == b.name; }),
              specs.end());
  BundlePath bundle(specs);
  Options options = checkOnly(bundle.path);
  options.counts = {1, 7, 1000};
  takeAllTypesAndOps(options);
  ::testing::internal::CaptureStderr();
  Result result = runOptions(options);
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.summary.rows.size(), specs.size() * 3 * 12 * 5);
  for (const Row &row : result.summary.rows) {
    std::string op = row.op;
    bool idempotent = row.program.starts_with("twice") && (op == "min" || op == "max");
    for (const Measurement &measurement : row.placement)
      EXPECT_EQ(measurement.wrong == 0, idempotent) << row.program << " " << row.type << " " << op << " " << row.count;
  }
}

TEST(Run, BusyRanksTakeTurns) {
  using namespace gc3::host;
  for (uint32_t ranks : {2u, 3u, 16u, 100u, 512u, 1024u})
    for (ElementType type :
         {ElementType::Half, ElementType::Bfloat16, ElementType::Float8E4M3, ElementType::Float8E5M2})
      for (Purpose purpose : {Purpose::Sum, Purpose::Avg}) {
        uint32_t busy = busyRanks(type, purpose, ranks), elements = (ranks + busy - 1) / busy;
        size_t size = elementSize(type);
        std::vector<uint32_t> perElement(elements);
        for (uint32_t rank = 0; rank < ranks; ++rank) {
          std::vector<std::byte> data(elements * size);
          makeInput({type, purpose, ranks, ranks, 1, 5}, data.data(), 3, elements, rank);
          uint32_t mine = 0;
          for (uint32_t i = 0; i < elements; ++i)
            if (std::any_of(&data[i * size], &data[i * size] + size, [](std::byte b) { return b != std::byte{0}; }))
              ++mine, ++perElement[i];
          EXPECT_GE(mine, 1u) << ranks << " " << elementTypeName(type);
        }
        EXPECT_EQ(std::count(perElement.begin(), perElement.end(), busy), elements);
      }
}

/// Sums and averages over up to 1024 ranks with one contribution lost or doubled, in the checker alone.
TEST(Run, ManyRanksShowEachContribution) {
  using namespace gc3::host;
  for (uint32_t ranks : {2u, 3u, 7u, 16u, 100u, 512u, 1000u, 1024u})
    for (ElementType type :
         {ElementType::Half, ElementType::Bfloat16, ElementType::Float8E4M3, ElementType::Float8E5M2})
      for (ReduceOp op : {ReduceOp::Sum, ReduceOp::Avg}) {
        constexpr uint64_t n = 64;
        size_t size = elementSize(type);
        std::vector<uint32_t> valueBegin = {0, 1}, rowOfRank(ranks, 0), rowBegin = {0, 1}, rows = {1};
        std::vector<gc3::bundle::fbs::Run> runs = {{0, 0, 1, 0, ranks}};
        Postcondition post;
        ASSERT_EQ(post.load({valueBegin, runs, rowOfRank, rowBegin, rows}, std::vector<uint64_t>(ranks, 1),
                            std::vector<uint64_t>(ranks, 1)),
                  "");
        std::vector<std::vector<std::byte>> data(ranks, std::vector<std::byte>(n * size));
        std::vector<const std::byte *> inputs;
        std::vector<float> sum(n), lost(n);
        auto at = [&](const std::byte *p, uint64_t i) {
          if (type == ElementType::Half)
            return toFloat(reinterpret_cast<const Half *>(p)[i]);
          if (type == ElementType::Bfloat16)
            return toFloat(reinterpret_cast<const Bfloat16 *>(p)[i]);
          return type == ElementType::Float8E4M3 ? toFloat(reinterpret_cast<const Float8E4M3 *>(p)[i])
                                                 : toFloat(reinterpret_cast<const Float8E5M2 *>(p)[i]);
        };
        auto put = [&](std::byte *p, uint64_t i, float x) {
          if (type == ElementType::Half)
            reinterpret_cast<Half *>(p)[i] = toHalf(x);
          else if (type == ElementType::Bfloat16)
            reinterpret_cast<Bfloat16 *>(p)[i] = toBfloat16(x);
          else if (type == ElementType::Float8E4M3)
            reinterpret_cast<Float8E4M3 *>(p)[i] = toFloat8E4M3(x);
          else
            reinterpret_cast<Float8E5M2 *>(p)[i] = toFloat8E5M2(x);
        };
        for (uint32_t r = 0; r < ranks; ++r) {
          makeInput({type, op == ReduceOp::Sum ? Purpose::Sum : Purpose::Avg, ranks, ranks, 1, 0}, data[r].data(), 0, n,
                    r);
          inputs.push_back(data[r].data());
          for (uint64_t i = 0; i < n; ++i)
            if (float x = at(data[r].data(), i); x != 0) {
              sum[i] += x;
              if (lost[i] == 0 || std::abs(x) < std::abs(lost[i]))
                lost[i] = x; // the smallest shows least
            }
        }
        std::vector<std::byte> right(n * size), less(n * size), more(n * size);
        float divisor = op == ReduceOp::Avg ? static_cast<float>(ranks) : 1.0f;
        for (uint64_t i = 0; i < n; ++i) {
          put(right.data(), i, sum[i] / divisor);
          put(less.data(), i, (sum[i] - lost[i]) / divisor);
          put(more.data(), i, (sum[i] + lost[i]) / divisor);
        }
        auto check = [&](const std::vector<std::byte> &output) {
          std::vector<const std::byte *> out(ranks, output.data());
          Chunks chunks{1, n, n};
          return checkOutputs(
                     {&post, type, op, ranks, static_cast<double>(wholeNumbers(type)), chunks, chunks, &inputs, &out})
              .wrong;
        };
        EXPECT_EQ(check(right), 0u) << ranks << " " << elementTypeName(type) << " " << reduceOpName(op);
        EXPECT_EQ(check(less), n * ranks) << ranks << " " << elementTypeName(type) << " " << reduceOpName(op);
        EXPECT_EQ(check(more), n * ranks) << ranks << " " << elementTypeName(type) << " " << reduceOpName(op);
      }
}

TEST(Run, FindsAMisplacedChunk) {
  ProgramSpec spec = allToAll(3, 1);
  std::swap(spec.ranks[0].blocks[1].steps[0].src, spec.ranks[0].blocks[2].steps[0].src);
  BundlePath bundle({spec});
  Options options = checkOnly(bundle.path);
  options.counts = {5};
  options.inPlace = false;
  Result result = runOptions(options);
  ASSERT_EQ(result.summary.rows.size(), 1u);
  EXPECT_EQ(result.summary.rows[0].placement[0].wrong, 10u);
}

// A program that writes its input says so, and gets a private copy; one that does not say so is refused.
TEST(Run, RefusesUndeclaredWritesToTheInput) {
  ProgramSpec liar = writesInput(2);
  for (Rank &rank : liar.ranks)
    rank.writesInput = false;
  BundlePath bundle({liar});
  Options options = checkOnly(bundle.path);
  Result result = runOptions(options);
  EXPECT_NE(result.problem.find("writes the input of a rank that does not say so"), std::string::npos)
      << result.problem;
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

TEST(Run, TellsSizesWithoutAProgramAndRefusesHugeCounts) {
  ProgramSpec small = ringAllReduce(2, true);
  small.maxBytes = 4096;
  BundlePath bundle({small});
  Options options;
  options.bundle = bundle.path;
  options.maxBytes = 16 << 10;
  options.iterations = 0;
  EXPECT_NE(runOptions(options).table.find(
                "# no program of the bundle is for sizes 4096 to 16384 bytes (allreduce on 2 ranks)\n"),
            std::string::npos);
  options.program = "all";
  for (uint64_t count : {uint64_t{1} << 60, uint64_t{1} << 61, uint64_t{1} << 62, UINT64_MAX}) {
    options.counts = {count};
    for (gc3DataType_t type : {gc3Float32, gc3Float64}) {
      options.types = {type};
      EXPECT_NE(runOptions(options).problem, "");
    }
  }
}

TEST(Run, BoundsWhatAPostconditionExpandsTo) {
  std::vector<uint32_t> valueBegin = {0, 1}, rowOfRank = {0}, rowBegin = {0, 1}, rows = {1};
  for (auto [length, message] : {std::pair{(1u << 16) + 1, "65537 times in one run"}, {1u << 16, ""}}) {
    std::vector<gc3::bundle::fbs::Run> runs = {{0, 0, 0, 0, length}};
    Postcondition post;
    std::string problem = post.load({valueBegin, runs, rowOfRank, rowBegin, rows}, {1}, {1});
    EXPECT_EQ(problem.empty(), !*message) << problem;
    EXPECT_NE(problem.find(message), std::string::npos) << problem;
  }
  std::vector<gc3::bundle::fbs::Run> many(2000, {0, 0, 0, 0, 1u << 16});
  valueBegin = {0, 2000};
  Postcondition post;
  EXPECT_NE(post.load({valueBegin, many, rowOfRank, rowBegin, rows}, {1}, {1}).find("more than 67108864 input"),
            std::string::npos);
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
  EXPECT_NE(checkJson("/nonexistent/x.json"), "");
  EXPECT_NE(checkJson(::testing::TempDir()), "");
  EXPECT_EQ(checkJson(path), "");
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::create_symlink(path, path + ".link");
  for (int i = 0; i < 2; ++i) { // the link's target is missing, then a file
    EXPECT_EQ(checkJson(path + ".link"), "");
    EXPECT_EQ(writeJson(path + ".link", options, result.summary), "");
    EXPECT_TRUE(std::filesystem::is_symlink(path + ".link"));
    EXPECT_TRUE(std::filesystem::is_regular_file(path));
  }
  std::remove((path + ".link").c_str());
  std::remove(path.c_str());
  EXPECT_EQ(writeJson("/dev/null", options, result.summary), "");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
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
  Options once;
  EXPECT_EQ(parse({"b", "-o", "sum,max,sum"}, once).first, Action::Run);
  EXPECT_EQ(once.ops, (std::vector<gc3RedOp_t>{gc3Sum, gc3Max}));
  EXPECT_EQ(options.minBytes, 2048u);
  EXPECT_EQ(options.maxBytes, 3000000u);
  EXPECT_EQ(options.types, (std::vector<gc3DataType_t>{gc3Float16, gc3Int8}));
  EXPECT_EQ(options.ops.size(), 5u);
  EXPECT_FALSE(options.outOfPlace);
  EXPECT_EQ(options.counts, (std::vector<uint64_t>{0, 7}));
  for (const std::vector<std::string> &words :
       std::vector<std::vector<std::string>>{{},
                                             {"b", "c"},
                                             {"b", "-x"},
                                             {"b", "-b"},
                                             {"b", "-b", "1Q"},
                                             {"b", "-b", "-1"},
                                             {"b", "-f", "1"},
                                             {"b", "-d", "quad"},
                                             {"b", "-b", "2M", "-e", "1M"},
                                             {"b", "--count", "99999999999999999999999"},
                                             {"b", "--seed", "99999999999999999999999"},
                                             {"b", "-b", "0x10"},
                                             {"b", "-e", "1T", "-i", "1"},
                                             {"b", "--order", "odd"}}) {
    Options unused;
    EXPECT_EQ(parse(words, unused).first, Action::UsageError);
  }
  Options unused;
  EXPECT_NE(parse({"b", "--backend", "cuda"}, unused).second.find("backend 'cuda' is not built"), std::string::npos);
}
