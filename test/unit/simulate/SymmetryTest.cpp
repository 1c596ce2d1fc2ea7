// SPDX-License-Identifier: Apache-2.0
// Programs simulated with merged thread blocks, and whole: both give the same times and the same bytes of each
// resource.
#include "Symmetry.h"
#include "Compiled.h"
#include "RandomCalls.h"

using namespace gc3;
using namespace gc3::simulate;

namespace {

void expectEqual(const Prediction &merged, const Prediction &whole) {
  EXPECT_NEAR(merged.time, whole.time, 1e-9 * whole.time);
  ASSERT_EQ(merged.bytesMoved.size(), whole.bytesMoved.size());
  for (size_t i = 0; i < whole.bytesMoved.size(); ++i)
    EXPECT_NEAR(merged.bytesMoved[i], whole.bytesMoved[i], 1e-9 * whole.bytesMoved[i]);
  EXPECT_EQ(merged.instructions, whole.instructions);
  EXPECT_EQ(merged.threadBlocks, whole.threadBlocks);
  EXPECT_EQ(whole.simulatedBlocks, whole.threadBlocks);
}

/// Returns the part of the thread blocks that was simulated.
double compare(const Compiled &program, const topology::Topology &topology, uint64_t bytes) {
  Prediction merged, whole;
  const Call call = program.call(bytes, 4096);
  const Fabric fabric(topology);
  EXPECT_EQ(simulate::simulate(call, fabric, {.isExact = true}, merged), "");
  EXPECT_EQ(simulate::simulate(call, fabric, {.useSymmetry = false, .isExact = true}, whole), "");
  expectEqual(merged, whole);
  return static_cast<double>(merged.simulatedBlocks) / merged.threadBlocks;
}

} // namespace

TEST(Symmetry, ChangesNoTimes) {
  int merged = 0, different = 0;
  for (uint32_t seed = 0; seed < 60 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Compiled program(random.coin() ? randomAllReduce(random) : randomAllToAll(random, random.number(1, 4)));
    const topology::Topology topology = parse(randomTopology(random));
    const double part = compare(program, topology, random.number(1, 10) * 768);
    merged += part <= 0.5 ? 1 : 0, different += part == 1 ? 1 : 0;
  }
  EXPECT_GE(merged, 20);
  EXPECT_GE(different, 20);
}

TEST(Symmetry, EndsWithOneDifference) {
  const Compiled ring(
      "import \"std/ring.gc3\";\nprogram p implements allreduce(ranks = 6, chunks = 6, inplace = true) {\n"
      "  ring_allreduce(0..6, input);\n}\n");
  const auto simulated = [&](const std::string &members, uint64_t bytes) {
    Prediction prediction;
    const topology::Topology topology = parse(members);
    EXPECT_EQ(simulate::simulate(ring.call(bytes), Fabric(topology), {}, prediction), "");
    EXPECT_EQ(prediction.threadBlocks, 6u);
    return prediction.simulatedBlocks;
  };
  EXPECT_EQ(simulated(R"("ranks": 6, "switches": [{}])", 600), 1u);
  EXPECT_EQ(simulated(R"("ranks": 6, "switches": [{"beta": 9, "ports": [0, 1]}, {"beta": 9, "ports": [2, 3]},
    {"beta": 9, "ports": [4, 5]}, {"kind": "network"}])",
                      600),
            2u);
  // The slow link from rank 5 to rank 0 differs, and so the distance from it of each rank.
  EXPECT_EQ(simulated(R"("ranks": 6, "switches": [{}], "links": [{"from": 5, "to": 0, "beta": 30}])", 600), 6u);
  // The last chunk is shorter, so each rank sends it in another step.
  EXPECT_EQ(simulated(R"("ranks": 6, "switches": [{}])", 599), 6u);
}

TEST(Symmetry, IsChecked) {
  const Compiled ring(
      "import \"std/ring.gc3\";\nprogram p implements allreduce(ranks = 4, chunks = 4, inplace = true) {\n"
      "  ring_allreduce(0..4, input);\n}\n");
  const topology::Topology topology = parse(R"("ranks": 4, "switches": [{}])");
  const Fabric fabric(topology);
  const Call call = ring.call(400);
  kernel::KernelArgs arguments{};
  ASSERT_EQ(setGeometry(call.program, call.count, call.elementBytes, call.slots, arguments), "");
  Whole whole;
  ASSERT_EQ(readWhole(call, fabric, arguments, Workload(), whole), "");
  EXPECT_EQ(whole.table.lists.size(), 1u);
  const Partition one = findSymmetry(whole);
  EXPECT_EQ(one.blocks.of, (std::vector<uint32_t>{0, 0, 0, 0}));
  EXPECT_EQ(one.blocks.sizes, (std::vector<uint32_t>{4}));
  EXPECT_EQ(one.connections.count(), 1u);
  EXPECT_EQ(one.resources.count(), 1u); // ports in both directions: their users are equal, too
  EXPECT_TRUE(isEquitable(whole, one));
  EXPECT_TRUE(isEquitable(whole, withoutSymmetry(whole)));
  // A receiver of one class has senders of two classes.
  Partition wrong = withoutSymmetry(whole);
  wrong.blocks.of[1] = 0;
  EXPECT_FALSE(isEquitable(whole, wrong));
  wrong = withoutSymmetry(whole);
  wrong.resources.of[1] = 0;
  EXPECT_FALSE(isEquitable(whole, wrong));
  wrong = withoutSymmetry(whole);
  wrong.connections.of[1] = 0;
  EXPECT_FALSE(isEquitable(whole, wrong));
}

/// Blocks 0 and 1 copy one slot, 2 and 3 copy two. Each of the others waits for one of them.
TEST(Symmetry, FollowsWaits) {
  const kernel::OpcodeFlags copies(common::Opcode::Copy);
  Whole whole;
  const auto add = [&](uint32_t count, uint32_t awaited) {
    const bool waits = awaited != Whole::None;
    whole.table.begin();
    whole.table.steps.push_back({copies, !waits, count, 0, waits ? 1u : 0u, 0, Whole::None, 0});
    if (waits)
      whole.table.waits.push_back({0, 0}), whole.awaited.push_back(awaited);
    const auto firstAwaited = static_cast<uint32_t>(whole.awaited.size()) - (waits ? 1 : 0);
    whole.blocks.push_back({0, whole.table.end(), Whole::None, Whole::None, 0, firstAwaited, waits ? 1u : 0u,
                            static_cast<uint32_t>(whole.usesBegin.size()) - 1});
    for (uint32_t list = 0; list < whole.listsOf(whole.blocks.back()); ++list)
      whole.usesBegin.push_back(0); // the step uses no resource
  };
  for (const uint32_t count : {1, 1, 2, 2})
    add(count, Whole::None);
  for (const uint32_t awaited : {0, 1, 2, 3})
    add(1, awaited);
  EXPECT_EQ(whole.table.lists.size(), 3u);
  Partition partition = findSymmetry(whole);
  EXPECT_EQ(partition.blocks.of, (std::vector<uint32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
  partition.blocks.of = {0, 0, 1, 1, 2, 2, 2, 2}; // their steps are equal, but not what they wait for
  EXPECT_FALSE(isEquitable(whole, partition));
}
