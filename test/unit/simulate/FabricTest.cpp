// SPDX-License-Identifier: Apache-2.0
// Tests the way of a message and its resources. A network joins machines, and ranks that nothing else joins.
#include "gc3/Simulate/Fabric.h"
#include "Compiled.h"
#include "gc3/Topology/Families.h"
#include <gtest/gtest.h>

using namespace gc3;
using namespace gc3::simulate;
using topology::LinkKind;
using topology::Topology;

namespace {

constexpr const char *machines[] = {"amd-z52", "dgx1",  "dgx2",  "dgx-a100", "dgx-h100",
                                    "ndv2",    "ndmv4", "ndmv5", "full:4",   "ring:5"};

/// A machine whose GPUs have PCIe only, which is slower than its network cards.
constexpr const char *pcieMachine = R"("ranks": 4, "network": {"cards": 4, "beta": 40}, "switches": [
    {"kind": "pcie", "alpha": 1, "beta": 41.7, "trunk": {"ports": 2, "bandwidth": 1}}])";

Topology make(const std::string &name) {
  std::string error;
  const std::optional<Topology> topology = topology::named(name, error);
  EXPECT_TRUE(topology) << error;
  return topology.value_or(Topology());
}

Topology twice(const Topology &machine) {
  std::string error;
  const std::optional<Topology> topology = topology::repeated(machine, 2, error);
  EXPECT_TRUE(topology) << error;
  return topology.value_or(Topology());
}

/// Returns the kind of the way and the capacities on it, such as "pcie 25 25", or "none".
std::string way(const Fabric &fabric, uint32_t from, uint32_t to) {
  const std::optional<Route> route = fabric.route(from, to);
  if (!route)
    return "none";
  std::string text(name(route->kind));
  for (const uint32_t resource : route->resources)
    text += " " + std::to_string(fabric.resources()[resource].capacity);
  return text;
}

/// Expects that two machines are joined by a network, and that one of them has the same ways as alone.
void expectSameWays(const Topology &machine) {
  const Topology two = twice(machine);
  const Fabric alone(machine), both(two);
  for (uint32_t from = 0; from < machine.ranks; ++from)
    for (uint32_t to = 0; to < machine.ranks; ++to) {
      const std::string other = way(both, from, to + machine.ranks);
      EXPECT_EQ(other.substr(0, 7), "network") << machine.name << from << to << other;
      const std::string inside = way(alone, from, to);
      if (from != to && inside != "none") {
        EXPECT_EQ(way(both, machine.ranks + from, machine.ranks + to), inside) << machine.name << from << to;
      }
    }
}

} // namespace

TEST(Fabric, ChoosesTheFastestWay) {
  const Topology topology = parse(R"("ranks": 3, "links": [{"from": 0, "to": 1, "kind": "pcie", "beta": 50},
    {"from": 0, "to": 1, "kind": "nvlink", "beta": 20}], "switches": [{"kind": "network", "beta": 30}],
    "bounds": [{"from": 0, "to": 1, "bandwidth": 1}])");
  const Fabric fabric(topology);
  const Route direct = fabric.route(0, 1).value();
  EXPECT_EQ(direct.kind, LinkKind::NvLink);
  ASSERT_EQ(direct.resources.size(), 2u);
  EXPECT_EQ(fabric.nameOf(direct.resources[0]), "nvlink link from rank 0 to rank 1");
  EXPECT_EQ(fabric.nameOf(direct.resources[1]), "bound 0");
  EXPECT_DOUBLE_EQ(fabric.resources()[direct.resources[0]].capacity, 50000); // bytes per microsecond
  const Route back = fabric.route(1, 0).value();
  EXPECT_EQ(back.kind, LinkKind::Network);
  ASSERT_EQ(back.resources.size(), 2u);
  EXPECT_EQ(fabric.nameOf(back.resources[0]), "network port of rank 1, out");
  EXPECT_EQ(fabric.nameOf(back.resources[1]), "network port of rank 0, in");
}

TEST(Fabric, HasNoWayWithoutLinks) {
  const Topology topology =
      parse(R"("ranks": 3, "links": [{"from": 0, "to": 1, "both": true}, {"from": 1, "to": 2, "both": true}])");
  EXPECT_FALSE(Fabric(topology).route(0, 2));
}

TEST(Fabric, CrossesTrunks) {
  const Topology topology = parse(R"("ranks": 4, "switches": [{"beta": 10, "bandwidth": 2,
    "trunk": {"ports": 2, "bandwidth": 1}}])");
  const Fabric fabric(topology);
  EXPECT_EQ(fabric.route(0, 1)->resources.size(), 2u);
  const Route route = fabric.route(0, 3).value();
  ASSERT_EQ(route.resources.size(), 4u);
  EXPECT_EQ(fabric.nameOf(route.resources[2]), "nvswitch trunk 0, out");
  EXPECT_EQ(fabric.nameOf(route.resources[3]), "nvswitch trunk 1, in");
  EXPECT_DOUBLE_EQ(fabric.resources()[route.resources[2]].capacity, 50000); // half of a port
}

TEST(Fabric, AMachineHasTheSameWaysAsAlone) {
  for (const char *name : machines)
    expectSameWays(make(name));
  expectSameWays(parse(pcieMachine));
}

TEST(Fabric, ANetworkServesRanksThatNothingElseJoins) {
  const Topology one = make("dgx1"), two = twice(one);
  EXPECT_FALSE(Fabric(one).route(0, 4));
  EXPECT_EQ(Fabric(two).route(0, 4)->kind, LinkKind::Network);
}

TEST(Fabric, AFileMayListTheNetworkFirst) {
  const Topology topology = parse(R"("ranks": 3, "links": [
      {"from": 0, "to": 1, "kind": "network", "beta": 10}, {"from": 0, "to": 1, "kind": "nvlink", "beta": 20},
      {"from": 0, "to": 2, "kind": "network", "both": true}, {"from": 1, "to": 0, "kind": "network", "beta": 10}],
    "switches": [{"kind": "network", "beta": 5, "ports": [0, 1]}, {"kind": "pcie", "beta": 40, "ports": [0, 1]}])");
  const Fabric fabric(topology);
  EXPECT_EQ(fabric.route(0, 1)->kind, LinkKind::NvLink);
  EXPECT_EQ(fabric.route(1, 0)->kind, LinkKind::Pcie);
  EXPECT_EQ(fabric.route(0, 2)->kind, LinkKind::Network);
}
