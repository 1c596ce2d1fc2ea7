// SPDX-License-Identifier: Apache-2.0
// Simulates programs on small topologies: shared ports, slots, the network, events and the critical path.
// bench/closed_forms.py compares whole algorithms with closed forms.
#include "Compiled.h"
#include "gc3/Simulate/CriticalPath.h"
#include <map>

using namespace gc3;
using namespace gc3::simulate;

namespace {

/// Rank 0 sends its buffer to rank 1.
constexpr char oneMessage[] = "program p implements broadcast(ranks = 2, root = 0, chunks = 1, inplace = true) {\n"
                              "  chunk(0, input, 0).copy(0, output, 0).copy(1, output, 0);\n}\n";

} // namespace

TEST(Engine, AddsTheCostsOfAMessage) {
  const Compiled program(oneMessage);
  const auto with = [](const std::string &costs) {
    return parse(R"("ranks": 2, "links": [{"from": 0, "to": 1, "alpha": 2, "beta": 10, "both": true}], "costs": {)" +
                 costs + "}");
  };
  EXPECT_DOUBLE_EQ(program.time(with(""), 1000), 2.01);
  EXPECT_DOUBLE_EQ(program.time(with(R"("launch": 3, "step": 0.5)"), 1000), 3 + 0.5 + 2.01 + 0.5);
  EXPECT_DOUBLE_EQ(program.time(with(R"("simple": {"hop": {"other": 1, "pcie": 9}})"), 1000), 3.01);
  // The sender is limited by its thread block, and the receiver copies at the same rate.
  EXPECT_DOUBLE_EQ(program.time(with(R"("simple": {"copy": 10})"), 1000), 2 + 2 * 0.1);
  // The sender reads 1 byte of its memory and writes 1 byte of the receiver's; the receiver then reads and writes.
  EXPECT_DOUBLE_EQ(program.time(with(R"("memory": 50)"), 1000), 2 + 0.02 + 0.04);
}

TEST(Engine, WaitsForSlots) {
  const Compiled program(oneMessage);
  const topology::Topology topology =
      parse(R"("ranks": 2, "links": [{"from": 0, "to": 1, "alpha": 2, "beta": 10, "both": true}])");
  // 16 tiles of 128 bytes: with enough slots they follow each other; with one slot, each waits for the one before it.
  EXPECT_DOUBLE_EQ(program.time(topology, 2048, 128, 16), 2 + 16 * 128e-5);
  EXPECT_DOUBLE_EQ(program.time(topology, 2048, 128, 1), 16 * (128e-5 + 2) + 15 * 2);
}

/// A thread block that runs ahead of those that wait for it does not delay them.
TEST(Engine, NoticesTheAwaitedTile) {
  const Compiled program("program p implements broadcast(ranks = 3, root = 0, chunks = 1) {\n"
                         "  let here = chunk(0, input, 0).copy(0, output, 0);\n"
                         "  here.copy(1, output, 0); here.copy(2, output, 0);\n}\n");
  const topology::Topology topology =
      parse(R"("ranks": 3, "links": [{"from": 0, "to": 1, "alpha": 2, "beta": 100, "both": true},
               {"from": 0, "to": 2, "alpha": 2, "beta": 150, "both": true}], "costs": {"wait": 0.2})");
  // The thread block that sends to rank 1 also copies. The one that sends to rank 2 waits for the copy, and is slower.
  EXPECT_DOUBLE_EQ(program.time(topology, 8 << 10, 1 << 10, 16), 0.2 + 8 * 1024 * 150e-6 + 2);
}

TEST(Engine, MovesNothingInEmptyCalls) {
  const Compiled program(oneMessage);
  EXPECT_DOUBLE_EQ(program.time(parse(R"("ranks": 2, "switches": [{}], "costs": {"launch": 3})"), 0), 3);
}

TEST(Engine, SendsOverTheNetworkAfterTheStep) {
  const Compiled program(oneMessage);
  const topology::Topology topology = parse(R"("ranks": 2, "switches": [{"kind": "network", "alpha": 2, "beta": 10}],
    "costs": {"simple": {"copy": 10}})");
  // A copy to the sender's slot, the put, the notice, and at the receiver another copy. The call ends when the sender
  // notices that the slot is free again.
  EXPECT_DOUBLE_EQ(program.time(topology, 1024), 0.1024 + 0.01024 + 2 + 0.1024 + 2);
  Prediction prediction;
  ASSERT_EQ(program.simulate(topology, 1024, prediction), "");
  const CriticalPath path = criticalPath(prediction);
  ASSERT_EQ(path.steps.size(), 2u);
  EXPECT_EQ(path.steps[1].cause, Cause::Message);
  std::map<PartKind, double> parts;
  for (const PathPart &part : path.parts)
    parts[part.kind] += part.time;
  EXPECT_EQ(parts.size(), 4u);
  EXPECT_DOUBLE_EQ(parts[PartKind::End], 2);
  EXPECT_DOUBLE_EQ(parts[PartKind::Latency], 2);
  EXPECT_NEAR(parts[PartKind::Block], 2 * 0.1024, 1e-12);
  EXPECT_NEAR(parts[PartKind::Resource], 0.01024, 1e-12);
}

/// Under LL, a step can end long after its own transfer, with its message. It has begun before, and other steps may
/// follow from its begin.
TEST(Engine, EndsWithTheMessage) {
  const Compiled program("program p implements broadcast(ranks = 3, root = 0, chunks = 1, inplace = true) {\n"
                         "  protocol LL;\n  chunk(0, input, 0).copy(0, output, 0).copy(1, output, 0)"
                         ".copy(2, output, 0);\n}\n");
  const topology::Topology topology =
      parse(R"("ranks": 3, "links": [{"from": 0, "to": 1, "alpha": 2, "beta": 20, "both": true},
    {"from": 1, "to": 2, "alpha": 1, "beta": 10, "both": true}], "costs": {"step": 0.5})");
  Prediction prediction;
  ASSERT_EQ(program.simulate(topology, 100000, prediction), "");
  EXPECT_DOUBLE_EQ(prediction.time, 0.5 + 4 + 2 + 1);
  ASSERT_EQ(prediction.events.all.size(), 3u);
  const Event &relay = prediction.events.all[1];
  EXPECT_DOUBLE_EQ(relay.ready, 2.5);
  EXPECT_DOUBLE_EQ(relay.begin, 3);
  EXPECT_DOUBLE_EQ(relay.end, 6.5);
  EXPECT_TRUE(relay.awaitsEnd);
  const CriticalPath path = criticalPath(prediction);
  ASSERT_EQ(path.steps.size(), 3u);
  EXPECT_EQ(path.steps[2].cause, Cause::Message);
  ASSERT_EQ(path.parts.size(), 3u);
  EXPECT_DOUBLE_EQ(path.parts[0].time, 4); // the first link
  EXPECT_DOUBLE_EQ(path.parts[1].time, 3);
  EXPECT_EQ(path.parts[1].kind, PartKind::Latency);
  EXPECT_DOUBLE_EQ(path.parts[2].time, 0.5);
}

TEST(Engine, SharesAPort) {
  const Compiled program("program p implements gather(ranks = 3, root = 2, chunks = 1, inplace = true) {\n"
                         "  for r in 0..2 { chunk(r, input, 0).copy(2, output, r); }\n"
                         "  chunk(2, input, 0).copy(2, output, 2);\n}\n");
  // Both messages enter the same port of rank 2.
  EXPECT_DOUBLE_EQ(program.time(parse(R"("ranks": 3, "switches": [{"alpha": 1, "beta": 10}])"), 1000), 1 + 0.02);
}

TEST(Engine, ReportsErrors) {
  const Compiled program(oneMessage);
  Prediction prediction;
  EXPECT_EQ(program.simulate(parse(R"("ranks": 3, "switches": [{}])"), 1000, prediction),
            "program 'p' is for 2 ranks, but topology 't' has 3");
  EXPECT_EQ(program.simulate(parse(R"("ranks": 2, "switches": [{}])"), UINT64_MAX, prediction),
            "a buffer of program 'p' exceeds the address space");
  EXPECT_EQ(program.simulate(parse(R"("ranks": 2, "switches": [{}])"), 1000, prediction, 1 << 20, 0),
            "program 'p' needs at least 1 FIFO slots per connection, 0 are configured");
  EXPECT_EQ(program.simulate(parse(R"("ranks": 2, "switches": [{}], "costs": {"launch": 1e308, "step": 1e308})"), 1000,
                             prediction),
            "the costs of topology 't' are too large: the time is not a finite number");
  EXPECT_EQ(program.simulate(parse(R"("ranks": 2, "switches": [{}])"), 1 << 20, prediction, 1024),
            "the call has 2048 steps in all tiles, but at most 100 can be recorded; choose a smaller size");
}

/// The bytes that use the memory of each rank, for one byte of the message. The sender reads its input. A message is
/// written to a slot and read from it, with the bytes of its protocol.
TEST(Engine, CountsTheUseOfMemory) {
  const std::string begin =
      "program p implements reduce(ranks = 2, root = 1, chunks = 1, inplace = true) {\n  protocol ";
  const std::string direct = ";\n  chunk(1, input, 0).reduce(chunk(0, input, 0)).copy(1, output, 0);\n}\n";
  const std::string local = "collective sum() {\n  ranks 2;\n  input[2];\n  output[1];\n"
                            "  ensures for r in 0..2: output(r, 0) == reduce(input(r, c) for c in 0..2);\n}\n"
                            "program p implements sum() {\n  for r in 0..2 { chunk(r, input, 0).reduce(chunk(r, input, "
                            "1)).copy(r, output, 0); "
                            "}\n}\n";
  const auto uses = [&](const std::string &source, const std::string &kind) {
    Prediction prediction;
    const topology::Topology topology =
        parse(R"("ranks": 2, "switches": [{"kind": ")" + kind + R"("}], "costs": {"memory": 100})");
    EXPECT_EQ(Compiled(source).simulate(topology, 1920, prediction), "");
    std::vector<double> memories(prediction.bytesMoved.end() - 2, prediction.bytesMoved.end());
    return std::pair(memories[0] / 1920, memories[1] / 1920);
  };
  using Pair = std::pair<double, double>;
  // At the receiver: write and read the slot, read the own value, write the sum.
  EXPECT_EQ(uses(begin + "Simple" + direct, "nvswitch"), Pair(1, 1 + 1 + 1 + 1));
  EXPECT_EQ(uses(begin + "LL" + direct, "nvswitch"), Pair(1, 2 + 2 + 1 + 1));
  // The sender also writes its own slot, from which the card reads.
  EXPECT_EQ(uses(begin + "Simple" + direct, "network"), Pair(1 + 1 + 1, 1 + 1 + 1 + 1));
  EXPECT_EQ(uses(begin + "LL" + direct, "network"), Pair(1 + 2 + 2, 2 + 2 + 1 + 1));
  // A local reduction reads two chunks, each half as long as the call's block, and writes one. A copy follows.
  EXPECT_EQ(uses(local, "nvswitch"), Pair((3 + 2) / 2.0, (3 + 2) / 2.0));
}

/// If the chunks do not divide the size, the last one is shorter.
TEST(Engine, MovesNoMoreThanTheSize) {
  const Compiled program("program p implements broadcast(ranks = 2, root = 0, chunks = 3, inplace = true) {\n"
                         "  chunk(0, input, 0, 3).copy(0, output, 0).copy(1, output, 0);\n}\n");
  Prediction prediction;
  ASSERT_EQ(program.simulate(parse(R"("ranks": 2, "links": [{"from": 0, "to": 1, "both": true}])"), 1000, prediction),
            "");
  EXPECT_EQ(prediction.bytesMoved, (std::vector<double>{1000, 0}));
}

/// Reductions can be slower than copies.
TEST(Engine, LimitsReductions) {
  const Compiled program("program p implements reduce(ranks = 2, root = 1, chunks = 1, inplace = true) {\n"
                         "  chunk(1, input, 0).reduce(chunk(0, input, 0)).copy(1, output, 0);\n}\n");
  EXPECT_DOUBLE_EQ(program.time(parse(R"("ranks": 2, "links": [{"from": 0, "to": 1, "alpha": 2, "beta": 10,
    "both": true}], "costs": {"simple": {"copy": 50, "reduce": 5}})"),
                                1000),
                   0.02 + 2 + 0.2);
}

/// The capacity of a trunk is above 0, even if it is too small for a floating-point number.
TEST(Engine, HasNoCapacityOfZero) {
  const Compiled program("program p implements broadcast(ranks = 3, root = 0, chunks = 1, inplace = true) {\n"
                         "  chunk(0, input, 0).copy(0, output, 0).copy(2, output, 0).copy(1, output, 0);\n}\n");
  Prediction prediction;
  const topology::Topology topology = parse(R"("ranks": 3, "switches": [{"beta": 1e308, "bandwidth": 1000000,
    "trunk": {"ports": 2, "bandwidth": 1}}])");
  EXPECT_EQ(program.simulate(topology, 1000, prediction),
            "the costs of topology 't' are too large: the time is not a finite number");
}

/// A link can be in any number of bounds.
TEST(Engine, ObeysManyBounds) {
  const Compiled program(oneMessage);
  std::string bounds;
  for (uint32_t bandwidth = 40; bandwidth > 10; --bandwidth)
    bounds += (bounds.empty() ? "" : ", ") + std::string("{\"bandwidth\": ") + std::to_string(bandwidth) + "}";
  const topology::Topology topology = parse(
      R"("ranks": 2, "links": [{"from": 0, "to": 1, "alpha": 2, "beta": 10, "bandwidth": 22, "both": true}], "bounds": [)" +
      bounds + "]");
  EXPECT_DOUBLE_EQ(program.time(topology, 1000), 2 + 0.02); // half of the link's bandwidth
}

TEST(Engine, SharesProcessors) {
  // Each rank sends a chunk to the other one. A send only hands over its data, and a receive copies it.
  const Compiled exchange("program p implements alltoall(ranks = 2, inplace = true) {\n"
                          "  let a = chunk(0, input, 1);\n  let b = chunk(1, input, 0);\n"
                          "  let c = a.copy(1, scratch, 0);\n  let d = b.copy(0, scratch, 0);\n"
                          "  c.copy(1, output, 0);\n  d.copy(0, output, 1);\n}\n");
  const auto with = [](const std::string &processors) {
    return parse(R"("ranks": 2, "switches": [{"alpha": 0, "beta": 0}],
      "costs": {"step": 1, "simple": {"copy": 0.001})" +
                 processors + "}");
  };
  const auto time = [&](const std::string &processors) { return exchange.time(with(processors), 100); };
  EXPECT_DOUBLE_EQ(time(R"(, "processors": {"count": 2})"), 203); // three steps, two of which copy
  EXPECT_DOUBLE_EQ(time(R"(, "processors": {"count": 4})"), 203);
  EXPECT_DOUBLE_EQ(time(R"(, "processors": {"count": 1})"), 2 * 203);
  // The ranks have 400 bytes: one doubling. A copy reads and writes, so each of its bytes takes 0.2 microseconds more.
  EXPECT_DOUBLE_EQ(time(R"(, "processors": {"count": 1, "cache": 200, "miss": 100000})"), 2 * 243);
}
