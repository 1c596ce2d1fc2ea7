// SPDX-License-Identifier: Apache-2.0
// Compares NCCL's model with times computed by hand from its constants, and with channels that NCCL logs on machines.
#include "gc3/Simulate/NcclModel.h"
#include "gc3/Topology/Families.h"
#include "gc3/Topology/Json.h"
#include <gtest/gtest.h>

using namespace gc3;
using namespace gc3::simulate;

namespace {

NcclSystem system(const std::string &name) {
  std::string error;
  const auto topology = topology::named(name, error);
  EXPECT_TRUE(topology) << error;
  return findNcclSystem(topology.value_or(topology::Topology()));
}

NcclSystem parsed(const std::string &members) {
  std::string error;
  const auto topology = topology::parseJson(R"({"name": "t", )" + members + "}", error);
  EXPECT_TRUE(topology) << error;
  return findNcclSystem(topology.value_or(topology::Topology()));
}

void expectGraph(const NcclGraph &graph, uint32_t channels, double inside, double between) {
  EXPECT_EQ(graph.channels, channels);
  EXPECT_DOUBLE_EQ(graph.inside, inside);
  EXPECT_DOUBLE_EQ(graph.between, between);
}

void expectChoice(const NcclSystem &on, std::string_view collective, uint64_t bytes, NcclAlgorithm algorithm,
                  std::string_view protocol, double time) {
  const auto choice = chooseNccl(on, collective, bytes);
  ASSERT_TRUE(choice);
  EXPECT_EQ(name(choice->algorithm), name(algorithm)) << collective << bytes;
  EXPECT_EQ(topology::ProtocolNames[choice->protocol], protocol) << collective << bytes;
  EXPECT_NEAR(choice->time, time, 1e-9 * time) << collective << bytes;
}

TEST(NcclSystem, ChannelsOfOneMachine) {
  const NcclSystem dgx2 = system("dgx2"), a100 = system("dgx-a100"), h100 = system("dgx-h100");
  expectGraph(dgx2.rings, 6, 20, 20);
  expectGraph(a100.rings, 12, 20, 20);
  expectGraph(h100.rings, 12, 30, 30);
  expectGraph(h100.trees, 12, 30, 30);
  expectGraph(a100.nvls, 0, 0, 0);
  expectGraph(h100.nvls, 8, 40, 60);
  expectGraph(system("gb200-nvl72").nvls, 32, 20, 40);
  EXPECT_EQ(dgx2.generation, GpuGeneration::Volta);
  EXPECT_EQ(a100.generation, GpuGeneration::Ampere);
  EXPECT_EQ(system("ndmv4").generation, GpuGeneration::Ampere);
  EXPECT_EQ(system("ndmv5").generation, GpuGeneration::Hopper);
  EXPECT_EQ(h100.generation, GpuGeneration::Hopper);
  EXPECT_EQ(system("gb200-nvl72").generation, GpuGeneration::Blackwell);
  EXPECT_EQ(system("dgx1").port, 120); // six NVLinks in pairs and alone
}

TEST(NcclSystem, ChannelsOverCards) {
  const NcclSystem a100 = system("2*dgx-a100"), h100 = system("4*dgx-h100");
  EXPECT_EQ(a100.machines, 2u);
  EXPECT_EQ(a100.perMachine, 8u);
  EXPECT_EQ(a100.cards, 8u);
  EXPECT_EQ(a100.card, 25);
  expectGraph(a100.rings, 8, 24, 24);
  expectGraph(a100.trees, 8, 30, 24);
  expectGraph(h100.rings, 8, 45, 45);
  expectGraph(h100.nvls, 8, 45, 48);
  expectGraph(system("2*ndv2").rings, 1, 9, 9); // one card of 9.5 GB/s
}

TEST(NcclSystem, LinksOfAFile) {
  // Two machines of two GPUs. PCIe joins the GPUs, and links of a network join the machines.
  const NcclSystem plain = parsed(R"("ranks": 4, "links": [
    {"from": 0, "to": 1, "kind": "pcie", "beta": 50, "both": true},
    {"from": 2, "to": 3, "kind": "pcie", "beta": 50, "both": true},
    {"from": 0, "to": 2, "kind": "network", "beta": 80, "both": true}])");
  EXPECT_EQ(plain.machines, 2u);
  EXPECT_FALSE(plain.hasNvLink);
  EXPECT_EQ(plain.port, 20);
  EXPECT_EQ(plain.cards, 1u);
  expectGraph(plain.rings, 1, 12, 12);
  // Two ranks share a port, so a ring has half of it.
  const NcclSystem shared =
      parsed(R"("ranks": 4, "switches": [{"kind": "pcie", "beta": 50, "ports": [[0, 1], [2, 3]]}])");
  EXPECT_EQ(shared.port, 10);
}

TEST(NcclSystem, ARingUsesATrunkOnce) {
  const std::string eight = R"("ranks": 8, "switches": [{"kind": "pcie", "bandwidth": 2, "beta": 50, "trunk": )";
  const NcclSystem fast = parsed(eight + R"({"ports": 2, "bandwidth": 2}}])");
  EXPECT_EQ(fast.port, 20);
  EXPECT_DOUBLE_EQ(fast.share, 20 * 7 / 12.0); // of 2 * 7 messages of two GPUs, 2 * 6 leave the trunk
  const NcclSystem slow = parsed(eight + R"({"ports": 2, "bandwidth": 1}}])");
  EXPECT_EQ(slow.port, 10);
  EXPECT_DOUBLE_EQ(slow.share, 10 * 7 / 12.0);
  const NcclSystem one = parsed(eight + R"({"ports": 8, "bandwidth": 1}}])"); // nothing leaves the only trunk
  EXPECT_EQ(one.port, 20);
  EXPECT_EQ(one.share, 20);
}

/// NVLinks between pairs of GPUs are no ring of all of them. The slowest hop limits a ring.
TEST(NcclSystem, PairsOfNvLinksUsePcie) {
  const std::string links = R"("links": [
    {"from": 0, "to": 1, "kind": "nvlink", "beta": 3.3, "both": true},
    {"from": 2, "to": 3, "kind": "nvlink", "beta": 3.3, "both": true}], )";
  const NcclSystem one = parsed(R"("ranks": 4, )" + links + R"("switches": [{"kind": "pcie", "beta": 50}])");
  EXPECT_EQ(one.machines, 1u);
  EXPECT_FALSE(one.hasNvLink);
  EXPECT_EQ(one.generation, GpuGeneration::Ampere);
  EXPECT_EQ(one.port, 20);
  // As machines of their own, the pairs have NVLinks only.
  const NcclSystem two = parsed(R"("ranks": 4, )" + links + R"("switches": [{"kind": "network", "beta": 50}])");
  EXPECT_EQ(two.machines, 2u);
  EXPECT_TRUE(two.hasNvLink);
  EXPECT_EQ(two.port, 240);
}

TEST(NcclModel, RingsOfOneMachine) {
  const NcclSystem a100 = system("dgx-a100");
  expectChoice(a100, "allreduce", 100000, NcclAlgorithm::Ring, "ll", 6.6 + 14 * 0.6 + 100 / (87.7 * 8 / 14));
  expectChoice(a100, "allgather", 100000, NcclAlgorithm::Ring, "ll", 6.6 + 7 * 0.6 + 100 / (87.7 * 8 / 7));
  expectChoice(a100, "allreduce", 4000000, NcclAlgorithm::Ring, "ll128", 14 + 14 * 1.9 + 4000 / (220.8 * 8 / 14));
  expectChoice(a100, "reduce_scatter", 1 << 30, NcclAlgorithm::Ring, "simple",
               8.4 + 7 * 3.4 + (1 << 30) / 1000.0 / (240.0 * 8 / 7));
  expectChoice(a100, "broadcast", 1 << 30, NcclAlgorithm::Ring, "simple", 8.4 + 3.4 + (1 << 30) / 1000.0 / 240);
  expectChoice(a100, "reduce", 1000, NcclAlgorithm::Ring, "ll", 6.6 + 0.6 + 1 / 87.7);
}

TEST(NcclModel, TreesOverMachines) {
  const NcclSystem two = system("2*dgx-a100");
  // 1024 bytes: 16 lines of 64 bytes, a factor of 0.9 under LL. The CPUs are AMD's.
  expectChoice(two, "allreduce", 1024, NcclAlgorithm::Tree, "ll", 6.8 + 2 * (7 * 0.6 + 5) + 1.024 / (22.5 / 2 * 0.9));
  // 3 machines: the bandwidth between them counts, and a tree has one level.
  const NcclSystem three = system("3*dgx-a100");
  expectChoice(three, "allreduce", 1 << 20, NcclAlgorithm::Tree, "ll128",
               14 + 2 * (7 * 1.25 + 8.5) + (1 << 20) / 1000.0 / (8 * 17.8 * 120 / 128 / 2 * 0.6));
  const double ring = 8.4 + 28 * 6 + 2 * 14; // the CPU needs 3 * 2 us for a step of Simple
  expectChoice(two, "allreduce", 1 << 30, NcclAlgorithm::Ring, "simple",
               1.4 * ring + (1 << 30) / 1000.0 / (192.0 * 16 / 30));
}

TEST(NcclModel, Nvls) {
  const NcclSystem one = system("dgx-h100"), two = system("2*dgx-h100");
  const double channel = 40 * 0.85 * 7 / 8 * 2;
  expectChoice(one, "allreduce", 1 << 30, NcclAlgorithm::Nvls, "simple",
               25 + (1 << 30) / 1000.0 / (8 * channel * 8 / 14));
  expectChoice(two, "allreduce", 1 << 30, NcclAlgorithm::NvlsTree, "simple",
               25 + 2 * 20.9 + (1 << 30) / 1000.0 / (8 * 57.7 * 16 / 30));
  const double half = 20 * 0.74 * 31 / 32 * 71 / 72;
  expectChoice(system("gb200-nvl72"), "allgather", 1 << 20, NcclAlgorithm::Nvls, "simple",
               25 + (1 << 20) / 1000.0 / (32 * half));
}

TEST(NcclModel, SendsAndReceives) {
  expectChoice(system("dgx-a100"), "alltoall", 1 << 30, NcclAlgorithm::SendRecv, "simple",
               8.4 + 3.4 + 7 * (1 << 27) / 240e3);
  expectChoice(system("2*dgx-a100"), "alltoall", 1 << 30, NcclAlgorithm::SendRecv, "simple",
               8.4 + 14 + 64.0 * (1 << 26) / 200e3);
}

/// Returns the bus bandwidth of 16 GiB in GB/s.
double busBandwidth(const NcclSystem &on, std::string_view collective, double factor) {
  constexpr uint64_t bytes = uint64_t(16) << 30;
  const auto choice = chooseNccl(on, collective, bytes);
  return choice ? factor * static_cast<double>(bytes) / choice->time / 1000 : 0;
}

/// The table of docs/baselines.md: measured bandwidths, and those that NCCL's developers state.
TEST(NcclModel, PublicFigures) {
  EXPECT_NEAR(busBandwidth(system("dgx-h100"), "allreduce", 14.0 / 8), 476, 1);
  EXPECT_NEAR(busBandwidth(system("dgx-h100"), "allgather", 7.0 / 8), 370, 11);
  std::string switches;
  for (const char *ranks : {"0, 1, 2, 3, 4, 5, 6, 7", "8, 9, 10, 11, 12, 13, 14, 15", "16, 17, 18, 19, 20, 21, 22, 23"})
    switches += R"({"kind": "nvswitch", "bandwidth": 12, "beta": 3.3333, "ports": [)" + std::string(ranks) + "]}, ";
  switches += R"({"kind": "network", "beta": 40, "ports": [)";
  for (int rank = 0; rank < 24; rank += 2)
    switches += (rank ? ", [" : "[") + std::to_string(rank) + ", " + std::to_string(rank + 1) + "]";
  const NcclSystem three = parsed(R"("ranks": 24, "switches": [)" + switches + "]}]");
  EXPECT_EQ(three.cards, 4u);
  EXPECT_NEAR(busBandwidth(three, "allreduce", 46.0 / 24), 96, 1);
}

TEST(NcclModel, TimesGrowWithTheSize) {
  for (const char *name : {"dgx1", "dgx2", "dgx-a100", "dgx-h100", "gb200-nvl72", "2*ndv2", "4*dgx-h100", "ring:8"}) {
    const NcclSystem on = system(name);
    for (const char *collective : {"allgather", "reduce_scatter", "broadcast", "reduce", "alltoall"}) {
      double last = 0;
      for (uint64_t bytes = 0; bytes <= uint64_t(1) << 40; bytes = 2 * bytes + 1) {
        const auto choice = chooseNccl(on, collective, bytes);
        ASSERT_TRUE(choice) << name << collective;
        EXPECT_GE(choice->time, last) << name << collective << bytes;
        last = choice->time;
      }
    }
  }
}

TEST(NcclModel, NoTime) {
  const NcclSystem a100 = system("dgx-a100");
  for (const char *collective : {"gather", "scatter", "alltonext", ""})
    EXPECT_FALSE(chooseNccl(a100, collective, 1024)) << collective;
  for (const uint32_t ranks : {0, 1, 2}) { // without links
    topology::Topology topology;
    topology.ranks = ranks;
    EXPECT_FALSE(chooseNccl(findNcclSystem(topology), "allreduce", 1024)) << ranks;
  }
}

} // namespace
