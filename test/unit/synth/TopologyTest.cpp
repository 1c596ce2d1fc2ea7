// SPDX-License-Identifier: Apache-2.0
// Compares named topologies with known machines, reads printed JSON back, and tests every error of JSON.
#include "CheckTopology.h"
#include "gc3/Topology/Families.h"
#include "gc3/Topology/Json.h"
#include "gc3/Topology/Nodes.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace gc3::topology;

namespace {

Topology make(const std::string &name) {
  std::string error;
  std::optional<Topology> topology = named(name, error);
  EXPECT_TRUE(topology) << error;
  return topology.value_or(Topology());
}

std::string errorOf(const std::string &name) {
  std::string error;
  EXPECT_FALSE(named(name, error)) << name;
  return error;
}

uint32_t bandwidth(const Topology &topology, uint32_t from, uint32_t to) {
  uint32_t sum = 0;
  for (const Link &link : topology.links)
    sum += link.from == from && link.to == to ? link.bandwidth : 0;
  return sum;
}

std::string text(const Topology &topology) {
  std::string json;
  llvm::raw_string_ostream out(json);
  printJson(out, topology);
  return out.str();
}

std::string jsonError(const std::string &json) {
  std::string error;
  EXPECT_FALSE(parseJson(json, error)) << json;
  return error;
}

/// Returns a valid topology as JSON in which `from` is replaced by `to`.
std::string changed(const std::string &from, const std::string &to) {
  std::string json = R"({"name": "t", "ranks": 3, "links": [{"from": 0, "to": 1, "both": true},)"
                     R"( {"from": 1, "to": 2, "bandwidth": 2, "kind": "pcie", "alpha": 1.5, "beta": 3, "both": true}],)"
                     R"( "bounds": [{"from": 1, "bandwidth": 2}]})";
  const size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return json.replace(at, from.size(), to);
}

} // namespace

/// Nodes are what links and switches join, except networks.
TEST(Topologies, Nodes) {
  using Nodes = std::vector<uint64_t>;
  EXPECT_EQ(nodesOf(make("ring:4")), (Nodes{0, 0, 0, 0})) << "without a direct link between all ranks";
  EXPECT_EQ(nodesOf(make("2*full:3")), (Nodes{0, 0, 0, 3, 3, 3}));
  EXPECT_EQ(nodesOf(make("dgx-a100")), Nodes(8, 0));
  Nodes machines(16, 0);
  std::fill(machines.begin() + 8, machines.end(), 8);
  EXPECT_EQ(nodesOf(make("2*dgx-a100")), machines);
  Topology backwards;
  backwards.ranks = 4;
  backwards.links = {{.from = 3, .to = 2}, {.from = 2, .to = 1}, {.from = 0, .to = 1, .kind = LinkKind::Network}};
  EXPECT_EQ(nodesOf(backwards), (Nodes{0, 1, 1, 1}));
}

TEST(Families, Dgx1IsTheHybridCubeMesh) {
  const Topology dgx1 = make("dgx1");
  EXPECT_EQ(dgx1.ranks, 8u);
  EXPECT_EQ(dgx1.linkCount(), 32u);
  for (uint32_t rank = 0; rank < 8; ++rank) {
    uint32_t out = 0, in = 0;
    for (uint32_t other = 0; other < 8; ++other)
      out += bandwidth(dgx1, rank, other), in += bandwidth(dgx1, other, rank);
    EXPECT_EQ(out, 6u);
    EXPECT_EQ(in, 6u);
  }
  // The numbers of NVLinks between GPUs, as nvidia-smi topo -m prints them. GPUs have the numbers of the machine.
  constexpr uint32_t known[8][8] = {{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0},
                                    {2, 1, 2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
                                    {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
  std::vector<uint32_t> order = {0, 1, 2, 3, 4, 5, 6, 7};
  auto same = [&] {
    for (uint32_t a = 0; a < 8; ++a)
      for (uint32_t b = 0; b < 8; ++b)
        if (bandwidth(dgx1, order[a], order[b]) != known[a][b])
          return false;
    return true;
  };
  bool isomorphic = same();
  while (!isomorphic && std::next_permutation(order.begin(), order.end()))
    isomorphic = same();
  EXPECT_TRUE(isomorphic);
  EXPECT_EQ(diameter(dgx1), 2u);
}

TEST(Families, HaveTheirSizes) {
  struct Known {
    const char *name;
    uint32_t ranks, links, diameter, bounds;
  };
  for (const Known &known : {Known{"amd-z52", 8, 16, 4, 0},
                             {"dgx2", 16, 240, 1, 32},
                             {"dgx-a100", 8, 56, 1, 16},
                             {"dgx-h100", 8, 56, 1, 16},
                             {"ring:5", 5, 10, 2, 0},
                             {"line:5", 5, 8, 4, 0},
                             {"mesh:3x4", 12, 34, 5, 0},
                             {"torus:3x4", 12, 48, 3, 0},
                             {"torus:4x4x4", 64, 384, 6, 0},
                             {"torus:2x3", 6, 18, 2, 0},
                             {"hypercube:4", 16, 64, 4, 0},
                             {"star:6", 6, 10, 2, 0},
                             {"full:5", 5, 20, 1, 0},
                             {"2*dgx1", 16, 80, 3, 16},
                             {"3*ring:4", 12, 48, 3, 6}}) {
    const Topology topology = make(known.name);
    EXPECT_EQ(topology.name, known.name);
    EXPECT_EQ(topology.ranks, known.ranks) << known.name;
    EXPECT_EQ(topology.linkCount(), known.links) << known.name;
    EXPECT_EQ(topology.boundCount(), known.bounds) << known.name;
    EXPECT_EQ(diameter(topology), known.diameter) << known.name;
    EXPECT_EQ(findDisconnection(topology), "") << known.name;
  }
}

TEST(Families, SayWhatIsWrong) {
  EXPECT_EQ(errorOf("dgx3"), "unknown topology 'dgx3'");
  EXPECT_EQ(errorOf("dgx1:8"), "'dgx1:8' is not of the form 'dgx1'");
  EXPECT_EQ(errorOf("ring"), "'ring' is not of the form 'ring:N'");
  EXPECT_EQ(errorOf("ring:4x4"), "'ring:4x4' is not of the form 'ring:N'");
  EXPECT_EQ(errorOf("ring:x"), "'ring:x' is not of the form 'ring:N'");
  EXPECT_EQ(errorOf("mesh:4x"), "'mesh:4x' is not of the form 'mesh:AxB...'");
  EXPECT_EQ(errorOf("ring:2"), "'ring:2' is too small: the numbers of 'ring:N' must be at least 3");
  EXPECT_EQ(errorOf("mesh:1x1"), "'mesh:1x1' is too small: a topology must have at least 2 ranks");
  EXPECT_EQ(errorOf("hypercube:40").substr(0, 28), "'hypercube:40' is too large:");
  EXPECT_EQ(errorOf("full:60000").substr(0, 26), "'full:60000' is too large:");
  EXPECT_EQ(errorOf("torus:4000000000x4000000000").substr(0, 43), "'torus:4000000000x4000000000' is too large:");
  EXPECT_EQ(errorOf("1*dgx1"), "'1*dgx1' must begin with a number of machines of at least 2: '2*dgx1'");
  EXPECT_EQ(errorOf("60000*dgx1").substr(0, 26), "'60000*dgx1' is too large:");
}

TEST(Topology, CostsWhatItsSlowestLinkCosts) {
  EXPECT_DOUBLE_EQ(make("dgx1").beta(), 40); // a link of two NVLinks moves two chunks in a round, in the same time
  EXPECT_DOUBLE_EQ(make("2*dgx1").alpha(), 5);
  EXPECT_DOUBLE_EQ(make("2*dgx1").beta(), 80); // a network card moves one chunk in a round
}

TEST(Json, IsReadAsPrinted) {
  for (const char *name : {"dgx1", "amd-z52", "dgx2", "2*dgx-a100", "mesh:2x3"}) {
    const std::string json = text(make(name));
    std::string error;
    std::optional<Topology> again = parseJson(json, error);
    ASSERT_TRUE(again) << error;
    EXPECT_EQ(text(*again), json);
  }
}

/// The text must keep a bound over the slower of two parallel links.
TEST(Json, KeepsBoundsOverParallelLinks) {
  const std::string json = R"({"name": "par", "ranks": 2, "links": [
    {"from": 0, "to": 1, "kind": "pcie", "both": true}, {"from": 0, "to": 1, "bandwidth": 3, "kind": "nvlink", "both": true}],
    "bounds": [{"kind": "pcie", "bandwidth": 1}]})";
  std::string error;
  const std::optional<Topology> topology = parseJson(json, error), again = parseJson(text(topology.value()), error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(topology->boundLinks, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(again->boundLinks, topology->boundLinks);
}

TEST(Json, DeepNestingIsAnError) {
  EXPECT_EQ(jsonError(std::string(8'000'000, '[')), "invalid topology: nested too deeply");
  EXPECT_EQ(jsonError(R"({"name": "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"[["})"),
            "'ranks' is missing");
}

/// Returns the links and bounds as text, without saying which come from switches.
std::string graphOf(const Topology &topology) {
  std::string result;
  for (const Link &link : topology.links)
    result += std::to_string(link.from) + ">" + std::to_string(link.to) + " " + std::string(name(link.kind)) + " " +
              std::to_string(link.bandwidth) + " " + std::to_string(link.alpha) + " " + std::to_string(link.beta) +
              "\n";
  for (uint32_t bound = 0; bound < topology.boundCount(); ++bound) {
    result += std::to_string(topology.boundBandwidth[bound]) + ":";
    for (uint32_t i = topology.boundBegin[bound]; i < topology.boundBegin[bound + 1]; ++i)
      result += " " + std::to_string(topology.boundLinks[i]);
    result += "\n";
  }
  return result;
}

Topology parse(const std::string &json) {
  std::string error;
  std::optional<Topology> topology = parseJson(json, error);
  EXPECT_TRUE(topology) << error;
  return topology.value_or(Topology());
}

TEST(Switches, AreTheirPairsForASearch) {
  const Topology asSwitch = parse(R"({"name": "s", "ranks": 3, "switches": [
    {"kind": "nvswitch", "bandwidth": 2, "alpha": 1.5, "beta": 20}]})");
  const Topology asPairs = parse(R"({"name": "s", "ranks": 3, "links": [
    {"from": 0, "to": 1, "bandwidth": 2, "kind": "nvswitch", "alpha": 1.5, "beta": 20, "both": true},
    {"from": 0, "to": 2, "bandwidth": 2, "kind": "nvswitch", "alpha": 1.5, "beta": 20, "both": true},
    {"from": 1, "to": 2, "bandwidth": 2, "kind": "nvswitch", "alpha": 1.5, "beta": 20, "both": true}],
    "bounds": [{"from": 0, "bandwidth": 2}, {"from": 1, "bandwidth": 2}, {"from": 2, "bandwidth": 2},
               {"to": 0, "bandwidth": 2}, {"to": 1, "bandwidth": 2}, {"to": 2, "bandwidth": 2}]})");
  EXPECT_EQ(graphOf(asSwitch), graphOf(asPairs));
  EXPECT_EQ(asSwitch.switches.size(), 1u);
  EXPECT_EQ(asPairs.switches.size(), 0u);
}

/// A switch adds no link between two ranks that have one, or that share a port.
TEST(Switches, AddOnlyMissingLinks) {
  const Topology topology = parse(R"({"name": "s", "ranks": 4, "links": [{"from": 0, "to": 2, "kind": "nvlink"}],
    "switches": [{"kind": "network", "bandwidth": 3, "beta": 10, "ports": [[0, 1], 2, 3],
                  "trunk": {"ports": 2, "bandwidth": 1}}]})");
  EXPECT_EQ(graphOf(topology), "0>2 nvlink 1 1.000000 40.000000\n"
                               "2>0 network 3 1.000000 10.000000\n"
                               "0>3 network 3 1.000000 10.000000\n"
                               "3>0 network 3 1.000000 10.000000\n"
                               "1>2 network 3 1.000000 10.000000\n"
                               "2>1 network 3 1.000000 10.000000\n"
                               "1>3 network 3 1.000000 10.000000\n"
                               "3>1 network 3 1.000000 10.000000\n"
                               "2>3 network 3 1.000000 10.000000\n"
                               "3>2 network 3 1.000000 10.000000\n"
                               "3: 2 4 6\n3: 1 5 8\n3: 3 7 9\n" // out of each port
                               "3: 1 3 5 7\n3: 4 9\n3: 2 6 8\n" // into each port
                               "1: 2 6 8\n1: 3 7 9\n"           // out of and into each trunk
                               "1: 3 7 9\n1: 2 6 8\n");
}

TEST(Switches, OfRailsJoinEqualPlaces) {
  const Topology topology = parse(R"({"name": "s", "ranks": 4, "switches": [
    {"kind": "nvlink", "ports": [0, 1]}, {"kind": "nvlink", "ports": [2, 3]}, {"kind": "network", "rails": 2}]})");
  EXPECT_EQ(graphOf(topology), "0>1 nvlink 1 1.000000 40.000000\n1>0 nvlink 1 1.000000 40.000000\n"
                               "2>3 nvlink 1 1.000000 40.000000\n3>2 nvlink 1 1.000000 40.000000\n"
                               "0>2 network 1 1.000000 40.000000\n2>0 network 1 1.000000 40.000000\n"
                               "1>3 network 1 1.000000 40.000000\n3>1 network 1 1.000000 40.000000\n");
}

/// Only a search needs the links of a network between machines.
TEST(Switches, OfNetworksGetLinksLater) {
  for (const std::string name : {"2*dgx1", "3*dgx-a100", "4*ndv2"}) {
    std::string error;
    Topology topology = named(name, error, SwitchLinks::NoNetwork).value();
    EXPECT_EQ(topology.expandedSwitches + 1, topology.switches.size());
    EXPECT_EQ(text(topology), text(make(name)));
    EXPECT_LT(topology.links.size(), make(name).links.size());
    topology.switches.back().beta *= 3;
    const std::string warning = findInconsistentBeta(topology);
    EXPECT_NE(warning, "");
    topology.expandSwitches();
    EXPECT_EQ(findInconsistentBeta(topology), warning);
    topology = named(name, error, SwitchLinks::NoNetwork).value();
    topology.expandSwitches();
    EXPECT_EQ(graphOf(topology), graphOf(make(name)));
    topology.expandSwitches(); // nothing is left to expand
    EXPECT_EQ(graphOf(topology), graphOf(make(name)));
  }
  EXPECT_EQ(errorOf("12500*dgx-a100"),
            "'12500*dgx-a100' is too large: a topology has at most 131072 ranks and 67108864 links");
  std::string error;
  EXPECT_EQ(named("12500*dgx-a100", error, SwitchLinks::NoNetwork)->ranks, 100000u);
  EXPECT_FALSE(named("16385*dgx-a100", error, SwitchLinks::NoNetwork));
  EXPECT_EQ(error, "'16385*dgx-a100' is too large: a topology has at most 131072 ranks and 67108864 links");
}

TEST(Switches, ANetworkJoinsOnlyRanksThatNothingElseJoins) {
  const Topology topology = parse(R"({"name": "t", "ranks": 3, "switches": [
      {"kind": "network", "beta": 10}, {"kind": "pcie", "beta": 40, "ports": [0, 1]}]})");
  ASSERT_EQ(topology.linkCount(), 6u);
  for (const Link &link : topology.links)
    EXPECT_EQ(link.kind, link.from + link.to == 1 ? LinkKind::Pcie : LinkKind::Network);
}

/// The figures of a file survive printing.
TEST(Json, KeepsCostsAndSources) {
  const std::string json = text(parse(R"({"name": "c", "description": "a test", "ranks": 2, "switches": [{}],
    "network": {"cards": 2, "bandwidth": 3, "scale": 4, "alpha": 2.5, "beta": 7},
    "costs": {"launch": 3, "step": 0.5, "prepare": 0.75, "wait": 0.25, "memory": 2000,
              "simple": {"copy": 20, "reduce": 15, "hop": {"nvswitch": 1, "network": 3}}, "ll128": {"copy": 10, "grain": 960}},
    "sources": [{"figure": "launch", "source": "a \"guess\""}]})"));
  EXPECT_EQ(text(parse(json)), json);
  const Topology topology = parse(json);
  EXPECT_EQ(topology.description, "a test");
  EXPECT_EQ(topology.network->scale, 4u);
  EXPECT_EQ(topology.costs.memory, 2000);
  EXPECT_EQ(topology.costs.protocols[0].hop[static_cast<size_t>(LinkKind::Network)], 3);
  EXPECT_EQ(topology.costs.protocols[0].reduce, 15);
  EXPECT_EQ(topology.costs.protocols[1].copy, Unlimited);
  EXPECT_EQ(topology.costs.prepare, 0.75);
  EXPECT_EQ(topology.costs.protocols[2].copy, 10);
  EXPECT_EQ(topology.costs.protocols[2].grain, 960);
  EXPECT_EQ(topology.sources.at(0).origin, "a \"guess\"");
}

TEST(Topology, WarnsIfProductsDiffer) {
  EXPECT_EQ(findInconsistentBeta(make("2*dgx1")), "");
  EXPECT_EQ(findInconsistentBeta(parse(changed("\"beta\": 3", "\"beta\": 20"))), "");
  EXPECT_EQ(findInconsistentBeta(parse(changed("\"beta\": 3", "\"beta\": 30"))),
            "the link from 1 to 2 moves a chunk in 60 us/MB, but the link from 0 to 1 moves a chunk in 40 us/MB; "
            "searches use the slower figure for all links; make bandwidth * beta equal");
}

/// Each file is a named topology, which has a description and the sources of its figures.
TEST(Json, FilesAreTheNamedTopologies) {
  for (const char *name :
       {"amd-z52", "dgx-a100", "dgx-h100", "dgx1", "dgx2", "gb200-nvl72", "ndmv4", "ndmv5", "ndv2"}) {
    auto file = llvm::MemoryBuffer::getFile(std::string(GC3_TOPOLOGIES "/") + name + ".json");
    ASSERT_TRUE(file) << name;
    const Topology topology = parse((*file)->getBuffer().str());
    EXPECT_EQ(text(topology), text(make(name)));
    EXPECT_EQ(topology.name, name);
    EXPECT_NE(topology.description, "") << name;
    EXPECT_FALSE(topology.sources.empty()) << name;
    EXPECT_EQ(findInconsistentBeta(topology), "") << name;
    EXPECT_EQ(findInconsistentBeta(make("2*" + std::string(name))), "") << name;
  }
}

TEST(Json, ErrorsOfSwitchesAndFigures) {
  const auto with = [](const std::string &members) {
    return jsonError(R"({"name": "e", "ranks": 2, )" + members + "}");
  };
  EXPECT_EQ(with("\"lattice\": [2]"), "'links' is missing");
  EXPECT_EQ(with("\"switches\": 1"), "switches: must be an array");
  EXPECT_EQ(with("\"switches\": [{\"port\": 1}]"),
            "switches[0]: unknown member 'port'; the members are kind, bandwidth, alpha, beta, ports, rails, trunk");
  EXPECT_EQ(with("\"switches\": [{\"ports\": [0]}]"), "switches[0]: a switch must have at least 2 ports");
  EXPECT_EQ(with("\"switches\": [{\"ports\": [0, [1, 0]]}]"),
            "switches[0].ports[1][1]: rank 0 has another port of this switch");
  EXPECT_EQ(with("\"switches\": [{\"ports\": [0, []]}]"), "switches[0].ports[1]: a port must serve a rank");
  EXPECT_EQ(with("\"switches\": [{\"ports\": [0, 2]}]"), "switches[0].ports[1]: there is no rank 2; there are 2");
  EXPECT_EQ(with("\"switches\": [{\"rails\": 3}]"),
            "switches[0].rails: the number of ranks of a machine must be a whole number from 1 to 2, not 3");
  EXPECT_EQ(with("\"switches\": [{\"rails\": 2}]"), "switches: no path leads from rank 0 to rank 1");
  EXPECT_EQ(with("\"switches\": [{\"trunk\": {\"ports\": 2}}]"), "switches[0].trunk: 'bandwidth' is missing");
  EXPECT_EQ(with("\"switches\": [{\"trunk\": {\"ports\": 1}}]"),
            "switches[0].trunk.ports: the number of ports of a trunk must be a whole number from 2 to 131072, not 1");
  EXPECT_EQ(with("\"costs\": {\"launch\": -1}"), "costs.launch: a time in microseconds must be a number of at least 0");
  EXPECT_EQ(with("\"costs\": {\"memory\": 0}"), "costs.memory: a bandwidth in GB/s must be a number above 0");
  EXPECT_EQ(with("\"costs\": {\"ll\": {\"copy\": \"a\"}}"), "costs.ll.copy: a rate in GB/s must be a number above 0");
  EXPECT_EQ(with("\"costs\": {\"ll\": {\"hop\": {\"wire\": 1}}}"),
            "costs.ll.hop: unknown member 'wire'; the members are other, nvlink, nvswitch, xgmi, pcie, network");
  EXPECT_EQ(with("\"network\": {\"cards\": 0}"),
            "network.cards: the number of network cards must be a whole number from 1 to 131072, not 0");
  EXPECT_EQ(with("\"sources\": [{\"figure\": \"a\"}]"), "sources[0]: 'source' is missing");
  EXPECT_EQ(with("\"host\": 3"), "host: the number of ranks of a host must be a whole number from 1 to 2, not 3");
  EXPECT_EQ(jsonError(R"({"name": "e", "ranks": 3, "host": 2, "switches": [{}]})"),
            "host: hosts of this size can't divide 3 ranks evenly");
  EXPECT_EQ(with("\"description\": 3"), "description: must be a string of one line");
}

/// Texts that differ from valid topologies in a few bytes are read, or give an error; what is read is printed and read
/// back. The fuzzer checks the same property.
TEST(Json, ChangedTextsAreReadOrRefused) {
  const std::string seeds[] = {
      text(make("2*dgx2")), text(make("mesh:2x2")), text(make("dgx-a100")),
      changed("\"bounds\"", "\"switches\": [{\"trunk\": {\"ports\": 2, \"bandwidth\": 1}}], \"bounds\"")};
  uint32_t state = 1, accepted = 0;
  const auto below = [&](size_t limit) { return (state = state * 1664525 + 1013904223) / 65536 % limit; };
  for (int round = 0; round < 4000; ++round) {
    std::string json = seeds[below(std::size(seeds))];
    for (size_t change = 0; change <= below(3); ++change)
      json[below(json.size())] = "0123456789\"[]{},: -.e"[below(21)];
    EXPECT_EQ(gc3::test::checkTopology(json, accepted), "") << json;
  }
  EXPECT_GT(accepted, 150u);
}

TEST(Json, ErrorsHaveThePathOfWhatIsWrong) {
  EXPECT_EQ(jsonError("{").substr(0, 14), "invalid JSON: ");
  EXPECT_EQ(jsonError("[]"), "must be an object");
  EXPECT_EQ(jsonError(changed("\"name\": \"t\", ", "")), "'name' is missing");
  EXPECT_EQ(jsonError(changed("\"t\"", "1")), "name: must be a string of one line");
  EXPECT_EQ(jsonError(changed("\"t\"", "\"a\\nb\"")), "name: must be a string of one line");
  EXPECT_EQ(jsonError(changed("\"ranks\"", "\"nodes\"")),
            "unknown member 'nodes'; the members are name, description, ranks, host, lattice, links, switches, bounds, "
            "network, costs, sources");
  EXPECT_EQ(jsonError(changed("3,", "-3,")),
            "ranks: the number of ranks must be a whole number from 2 to 131072, not -3");
  EXPECT_EQ(jsonError(changed("3,", "1.5,")), "ranks: the number of ranks must be a whole number from 2 to 131072");
  EXPECT_EQ(jsonError(changed("\"from\": 0, ", "")), "links[0]: 'from' is missing");
  EXPECT_EQ(jsonError(changed("\"to\": 2", "\"to\": 7")), "links[1].to: there is no rank 7; there are 3");
  EXPECT_EQ(jsonError(changed("\"to\": 2", "\"to\": -1")), "links[1].to: there is no rank -1; there are 3");
  EXPECT_EQ(jsonError(changed("\"to\": 2", "\"to\": \"a\"")), "links[1].to: must be the number of a rank");
  EXPECT_EQ(jsonError(changed("\"to\": 2", "\"to\": 1")), "links[1].to: a link must lead to another rank");
  EXPECT_EQ(jsonError(changed("\"bandwidth\": 2, \"kind\"", "\"bandwidth\": 0, \"kind\"")),
            "links[1].bandwidth: a bandwidth must be a whole number from 1 to 1048576, not 0");
  EXPECT_EQ(jsonError(changed("\"pcie\"", "\"wire\"")),
            "links[1].kind: must be one of other, nvlink, nvswitch, xgmi, pcie, network");
  EXPECT_EQ(jsonError(changed("1.5", "-1.5")),
            "links[1].alpha: a latency in microseconds must be a number of at least 0");
  const auto lattice = [](const char *sizes) {
    return jsonError(changed("3,", "3, \"lattice\": " + std::string(sizes) + ","));
  };
  EXPECT_EQ(lattice("[2]"), "lattice: a grid of these sizes can't divide 3 ranks evenly");
  EXPECT_EQ(lattice("[1, 1]"), "lattice: a grid must have at least 2 points");
  EXPECT_EQ(lattice("[3]"), "lattice: the links of some rank are not those of the first one, translated on this grid");
  EXPECT_EQ(lattice("[4]"), "lattice[0]: the size of a dimension must be a whole number from 1 to 3, not 4");
  EXPECT_EQ(jsonError(changed("\"both\": true}]", "\"both\": 1}]")), "links[1].both: must be true or false");
  EXPECT_EQ(jsonError(changed("\"both\": true}]", "\"both\": true}, 5]")), "links[2]: must be an object");
  EXPECT_EQ(jsonError(changed("\"both\": true}]", "\"both\": true}, {\"from\": 1, \"to\": 0}]")),
            "links[2]: there is another link of kind 'other' from 1 to 0; give one link more bandwidth");
  EXPECT_EQ(jsonError(changed("\"both\": true}]", "\"both\": false}]")), "links: no path leads from rank 2 to rank 0");
  EXPECT_EQ(jsonError(changed("[{\"from\": 1,", "[{\"from\": 3,")), "bounds[0].from: there is no rank 3; there are 3");
  EXPECT_EQ(jsonError(changed("[{\"from\": 1,", "[{\"from\": [1, 4],")),
            "bounds[0].from[1]: there is no rank 4; there are 3");
  EXPECT_EQ(jsonError(changed("[{\"from\": 1,", "[{\"kind\": \"xgmi\",")), "bounds[0]: this bound applies to no link");
  EXPECT_EQ(jsonError(changed("[{\"from\": 1,", "[{\"links\": [[0, 2]],")),
            "bounds[0].links[0]: no link leads from 0 to 2");
  EXPECT_EQ(jsonError(changed("[{\"from\": 1,", "[{\"links\": [[0]],")),
            "bounds[0].links[0]: must be two ranks, [from, to]");
  EXPECT_EQ(jsonError(changed("\"bandwidth\": 2}]", "\"bandwidth\": 2}, {}]")), "bounds[1]: 'bandwidth' is missing");
}
