// SPDX-License-Identifier: Apache-2.0
// Compares named topologies with known machines, reads printed JSON back, and tests every error of JSON.
#include "gc3/Topology/Families.h"
#include "gc3/Topology/Json.h"
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

TEST(Json, FilesAreTheNamedTopologies) {
  for (const char *name : {"dgx1", "amd-z52", "dgx2", "dgx-a100", "dgx-h100"}) {
    auto file = llvm::MemoryBuffer::getFile(std::string(GC3_TOPOLOGIES "/") + name + ".json");
    ASSERT_TRUE(file) << name;
    std::string error;
    std::optional<Topology> topology = parseJson((*file)->getBuffer().str(), error);
    ASSERT_TRUE(topology) << error;
    Topology expected = make(name);
    auto order = [](const Link &a, const Link &b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); };
    for (Topology *each : {&*topology, &expected})
      std::sort(each->links.begin(), each->links.end(), order);
    ASSERT_EQ(topology->linkCount(), expected.linkCount()) << name;
    for (uint32_t i = 0; i < expected.linkCount(); ++i) {
      const Link &a = topology->links[i], &b = expected.links[i];
      EXPECT_TRUE(a.from == b.from && a.to == b.to && a.bandwidth == b.bandwidth && a.kind == b.kind) << name;
      EXPECT_DOUBLE_EQ(a.alpha, b.alpha);
      EXPECT_DOUBLE_EQ(a.beta, b.beta);
    }
    EXPECT_EQ(topology->boundBandwidth, expected.boundBandwidth) << name;
    EXPECT_EQ(topology->boundBegin, expected.boundBegin) << name;
    EXPECT_EQ(topology->lattice, expected.lattice) << name;
  }
}

TEST(Json, ErrorsHaveThePathOfWhatIsWrong) {
  EXPECT_EQ(jsonError("{").substr(0, 14), "invalid JSON: ");
  EXPECT_EQ(jsonError("[]"), "must be an object");
  EXPECT_EQ(jsonError(changed("\"name\": \"t\", ", "")), "'name' is missing");
  EXPECT_EQ(jsonError(changed("\"t\"", "1")), "name: must be a string of one line");
  EXPECT_EQ(jsonError(changed("\"t\"", "\"a\\nb\"")), "name: must be a string of one line");
  EXPECT_EQ(jsonError(changed("\"ranks\"", "\"nodes\"")),
            "unknown member 'nodes'; the members are name, ranks, lattice, links, bounds");
  EXPECT_EQ(jsonError(changed("3,", "-3,")),
            "ranks: the number of ranks must be a whole number from 2 to 65536, not -3");
  EXPECT_EQ(jsonError(changed("3,", "1.5,")), "ranks: the number of ranks must be a whole number from 2 to 65536");
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
