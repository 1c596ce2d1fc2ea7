// SPDX-License-Identifier: Apache-2.0
// Tests that the checks in the library of gc3-run find every error.
#include "RunSupport.h"

#include "Inputs.h"

#include <cmath>

using namespace gc3::run;
using namespace gc3::test;

TEST(Run, FindsAMissingContribution) {
  for (bool twice : {false, true}) {
    ProgramSpec spec = plainRingAllReduce(3);
    StepSpec &lost = spec.ranks[1].blocks[1].steps[1];
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

/// Returns plainRingAllReduce with an error in the sum of rank 1: the contribution of the rank `distance` before it is
/// missing or counted twice.
static ProgramSpec mutant(uint32_t ranks, uint32_t distance, bool twice) {
  ProgramSpec spec = plainRingAllReduce(ranks);
  spec.name = (twice ? "twice" : "lost") + std::to_string(ranks) + "_" + std::to_string(distance);
  std::vector<StepSpec> &steps = spec.ranks[1].blocks[1].steps;
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
  // A bundle can't hold two programs with the same name.
  std::sort(specs.begin(), specs.end(), [](const auto &a, const auto &b) { return a.name < b.name; });
  specs.erase(std::unique(specs.begin(), specs.end(), [](const auto &a, const auto &b) { return a.name == b.name; }),
              specs.end());
  BundlePath bundle(specs);
  Options options = checkOnly(bundle.path);
  options.counts = {1, 7, 1000};
  useAllTypesAndOps(options);
  ::testing::internal::CaptureStderr();
  Result result = runOptions(options);
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.summary.rows.size(), specs.size() * 3 * 12 * reductionCount);
  for (const Row &row : result.summary.rows) {
    std::string op = row.op;
    bool idempotent = row.program.starts_with("twice") && (op == "min" || op == "max");
    for (const Measurement &measurement : row.placement)
      EXPECT_EQ(measurement.wrong == 0, idempotent) << row.program << " " << row.type << " " << op << " " << row.count;
  }
}

TEST(Run, BusyRanksTakeTurns) {
  using namespace gc3::core;
  for (uint32_t ranks : {2u, 3u, 16u, 100u, 512u, 1024u})
    for (ElementType type :
         {ElementType::Half, ElementType::Bfloat16, ElementType::Float8E4M3, ElementType::Float8E5M2})
      for (Purpose purpose : {Purpose::Sum, Purpose::Avg, Purpose::MulSum}) {
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

/// Tests only the checker, with sums and averages over up to 1024 ranks. One contribution is missing, counted once too
/// often, or not multiplied by the scalar of its rank. The process of the last rank finds the same as a process that
/// has all ranks.
TEST(Run, ManyRanksShowEachContribution) {
  using namespace gc3::core;
  for (uint32_t ranks : {2u, 3u, 7u, 16u, 100u, 512u, 1000u, 1024u})
    for (ElementType type :
         {ElementType::Half, ElementType::Bfloat16, ElementType::Float8E4M3, ElementType::Float8E5M2})
      for (Reduction op : {Reduction::Sum, Reduction::Avg, Reduction::MulSum}) {
        constexpr uint64_t n = 64;
        size_t size = elementSize(type);
        std::vector<uint32_t> valueBegin = {0, 1}, rowOfRank(ranks, 0), rowBegin = {0, 1}, rows = {1};
        std::vector<gc3::bundle::fbs::Run> runs = {{0, 0, 1, 0, ranks}};
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
          makeInput({type, purposeOf(op, true), ranks, ranks, 1, 0}, data[r].data(), 0, n, r);
          inputs.push_back(data[r].data());
          for (uint64_t i = 0; i < n; ++i)
            if (float x = at(data[r].data(), i); x != 0) {
              sum[i] += static_cast<float>(factorOf(op, r)) * x;
              if (lost[i] == 0 || std::abs(x) < std::abs(lost[i]))
                lost[i] = x; // the smallest contribution is the hardest to detect
            }
        }
        std::vector<std::byte> right(n * size), less(n * size), more(n * size);
        float divisor = op == Reduction::Avg ? static_cast<float>(ranks) : 1.0f;
        for (uint64_t i = 0; i < n; ++i) {
          put(right.data(), i, sum[i] / divisor);
          put(less.data(), i, (sum[i] - lost[i]) / divisor);
          put(more.data(), i, (sum[i] + lost[i]) / divisor);
        }
        for (RankRange own : {RankRange{0, ranks}, RankRange{ranks - 1, ranks}}) {
          Postcondition post;
          ASSERT_EQ(post.load({valueBegin, runs, rowOfRank, rowBegin, rows}, std::vector<uint64_t>(ranks, 1),
                              std::vector<uint64_t>(ranks, 1), own),
                    "");
          auto check = [&](const std::vector<std::byte> &output) {
            const std::vector<const std::byte *> in(inputs.begin() + own.first, inputs.end()),
                out(own.size(), output.data());
            const InputKind kind{type, purposeOf(op, true), ranks, ranks, 1, 0};
            Chunks chunks{1, n, n};
            return checkOutputs(
                       {&post, kind, op, static_cast<double>(wholeNumbers(type)), chunks, chunks, own, in, out})
                .wrong;
          };
          EXPECT_EQ(check(right), 0u) << ranks << " " << elementTypeName(type) << " " << nameOf(op);
          EXPECT_EQ(check(less), n * own.size()) << ranks << " " << elementTypeName(type) << " " << nameOf(op);
          EXPECT_EQ(check(more), n * own.size()) << ranks << " " << elementTypeName(type) << " " << nameOf(op);
        }
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

// A program that declares writes to its input gets a private copy of the input. This program writes its input without
// declaring it, and is rejected.
TEST(Run, RefusesUndeclaredWritesToTheInput) {
  ProgramSpec liar = writesInput(2);
  for (Rank &rank : liar.ranks)
    rank.writesInput = false;
  BundlePath bundle({liar});
  Options options = checkOnly(bundle.path);
  Result result = runOptions(options);
  EXPECT_NE(result.problem.find("writes the input of a rank that does not declare this"), std::string::npos)
      << result.problem;
}

TEST(Run, BoundsWhatAPostconditionExpandsTo) {
  std::vector<uint32_t> valueBegin = {0, 1}, rowOfRank = {0}, rowBegin = {0, 1}, rows = {1};
  std::vector<gc3::bundle::fbs::Run> once = {{0, 0, 0, 0, UINT32_MAX}};
  Postcondition repeated;
  EXPECT_EQ(repeated.load({valueBegin, once, rowOfRank, rowBegin, rows}, {1}, {1}, {0, 1}), "");
  ASSERT_EQ(repeated.inputs(0).size(), 1u) << "repeats take no memory";
  EXPECT_EQ(repeated.inputs(0)[0].times, UINT32_MAX);
  EXPECT_TRUE(repeated.reduces());
  std::vector<gc3::bundle::fbs::Run> many(2000, {0, 0, 0, 1, 1u << 16});
  valueBegin = {0, 2000};
  Postcondition post;
  EXPECT_EQ(post.load({valueBegin, many, rowOfRank, rowBegin, rows}, {1}, {1}, {0, 1}),
            "the postcondition names more than 67108864 input chunks; -c 0 runs the program without the check");
  Postcondition unchecked;
  unchecked.loadWithoutChunks({valueBegin, many, rowOfRank, rowBegin, rows});
  EXPECT_TRUE(unchecked.reduces());
}
