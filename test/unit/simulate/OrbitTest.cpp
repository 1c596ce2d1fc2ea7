// SPDX-License-Identifier: Apache-2.0
// The prototype in bench/orbits: a program that is written for one rank takes the time of the compiled program.
#include "Orbit.h"
#include "Compiled.h"

using namespace gc3;
using namespace gc3::simulate;

namespace {

constexpr char hierarchical[] = "grid 4 3\nchunks 12\nmessage 4\n"
                                "tb 0 1\n  send 4\n  rrs 4\n  rrc 4\n"
                                "tb 0 1\n  send 4 after 3 3\n  rcs 4 x 1\n  recv 4 # the last one\n"
                                "tb 1 0\n  send 1 after 0 2\n  rrs 1 x 2\n  rrc 1\n"
                                "tb 1 0\n  send 1 after 2 3\n  rcs 1 x 2\n  recv 1\n";

std::string errorOf(const std::string &text) {
  std::string error;
  EXPECT_FALSE(parseOrbit(text, error));
  return error;
}

} // namespace

TEST(Orbit, TakesTheTimeOfTheCompiledProgram) {
  const Compiled compiled("import \"std/hierarchical.gc3\";\nprogram p implements allreduce(ranks = 12, chunks = 12, "
                          "inplace = true) {\n  hierarchical_allreduce(0..12, [3, 4, 1], input);\n}\n");
  std::string error;
  const std::optional<Orbit> orbit = parseOrbit(hierarchical, error);
  ASSERT_TRUE(orbit) << error;
  const topology::Topology topology = parse(R"("ranks": 12, "switches": [{"beta": 3, "ports": [0, 1, 2]},
    {"beta": 3, "ports": [3, 4, 5]}, {"beta": 3, "ports": [6, 7, 8]}, {"beta": 3, "ports": [9, 10, 11]},
    {"kind": "network", "beta": 20}], "costs": {"step": 0.5, "memory": 100, "simple": {"copy": 30}})");
  const Fabric fabric(topology);
  for (const uint64_t elements : {12, 1200, 120000}) {
    const plan::SlotSizes slots{kernel::Protocol::Simple, 8, 4096};
    Prediction fromOrbit, whole;
    EXPECT_EQ(simulateOrbit(*orbit, fabric, slots, 4 * elements, fromOrbit), "");
    Call call = compiled.call(elements);
    call.slots = slots, call.elementBytes = 4;
    EXPECT_EQ(simulate::simulate(call, fabric, {.useSymmetry = false, .isExact = true}, whole), "");
    EXPECT_NEAR(fromOrbit.time, whole.time, 1e-9 * whole.time);
    EXPECT_EQ(fromOrbit.instructions, whole.instructions);
    EXPECT_EQ(fromOrbit.threadBlocks, whole.threadBlocks);
    EXPECT_EQ(fromOrbit.simulatedBlocks, 4u);
  }
}

TEST(Orbit, ReportsErrors) {
  EXPECT_EQ(errorOf("grid 4 3\nchunks 0\n"), "2: wrong line 'chunks 0'");
  EXPECT_EQ(errorOf("grid 4 3\n  send 1\n"), "2: wrong line '  send 1'");
  EXPECT_EQ(errorOf("tb 0 1\n  push 1\n"), "2: wrong line '  push 1'");
  EXPECT_EQ(errorOf("tb 0 1\n  send 1 before 2 3\n"), "2: wrong line '  send 1 before 2 3'");
  EXPECT_EQ(errorOf("grid 4 3\n"), "2: 'grid', 'chunks', 'message' or 'tb' is missing");
  EXPECT_EQ(errorOf("grid 4 3\nchunks 1\nmessage 1\ntb 0 1\n  send 1 after 0 1\n"),
            "6: a step waits for one that does not exist");
  std::string error;
  const std::optional<Orbit> orbit = parseOrbit(hierarchical, error);
  const plan::SlotSizes slots{kernel::Protocol::Simple, 8, 1024};
  Prediction prediction;
  const topology::Topology small = parse(R"("ranks": 3, "switches": [{}])"),
                           large = parse(R"("ranks": 12, "switches": [{}])");
  EXPECT_EQ(simulateOrbit(*orbit, Fabric(small), slots, 48, prediction),
            "the topology has 3 ranks, but the grid has 12");
  EXPECT_EQ(simulateOrbit(*orbit, Fabric(large), slots, 52, prediction), "12 chunks don't divide 13 elements");
  EXPECT_EQ(simulateOrbit(*orbit, Fabric(large), {kernel::Protocol::Simple, 8, 32}, 48, prediction),
            "a FIFO slot can't hold the largest message");
}
