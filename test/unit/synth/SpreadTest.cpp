// SPDX-License-Identifier: Apache-2.0
// Tests the routes that use links and bounds evenly. Each topology has one best distribution, which follows by hand.
#include "Spread.h"
#include <gtest/gtest.h>
#include <map>

using namespace gc3;
using topology::Topology;

namespace {

/// Chunks that go from one rank to another.
struct Traffic {
  uint32_t from, to, chunks;
};

struct Result {
  std::map<std::string, uint32_t> routes; ///< number of chunks by the ranks on their way
  std::vector<uint32_t> urgency;          ///< by link
  uint64_t leastRounds = 0;

  bool operator==(const Result &) const = default;
};

void PrintTo(const Result &result, std::ostream *out) {
  for (const auto &[ranks, chunks] : result.routes)
    *out << chunks << " x " << ranks << ", ";
  *out << "urgency " << testing::PrintToString(result.urgency) << ", at least " << result.leastRounds << " rounds";
}

algorithm::Demand demandOf(uint32_t ranks, const std::vector<Traffic> &all) {
  algorithm::Demand demand;
  demand.ranks = ranks;
  for (const Traffic &traffic : all)
    for (uint32_t chunk = 0; chunk < traffic.chunks; ++chunk) {
      demand.sources.push_back({traffic.from, chunk});
      demand.targets.push_back({traffic.to, chunk});
      demand.sourceBegin.push_back(static_cast<uint32_t>(demand.sources.size()));
      demand.targetBegin.push_back(static_cast<uint32_t>(demand.targets.size()));
    }
  return demand;
}

/// Returns the ranks on the way, such as "0 2 1".
std::string ranksOf(const Topology &topology, const std::vector<uint32_t> &route, uint32_t from) {
  std::string ranks = std::to_string(from);
  for (uint32_t link : route) {
    EXPECT_EQ(topology.links[link].from, from) << "the route has a gap";
    from = topology.links[link].to;
    ranks += " " + std::to_string(from);
  }
  return ranks;
}

Result resultOf(const Topology &topology, const std::vector<Traffic> &all) {
  const algorithm::Demand demand = demandOf(topology.ranks, all);
  greedy::Spread spread(topology, demand);
  spread.run({});
  Result result;
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    ++result.routes[ranksOf(topology, spread.route(chunk), demand.sourcesOf(chunk)[0].rank)];
  for (uint32_t link = 0; link < topology.linkCount(); ++link)
    result.urgency.push_back(spread.urgency(link));
  result.leastRounds = spread.leastRounds();
  return result;
}

/// A thin link leads from rank 0 to rank 1. A way over rank 2 is four times as wide.
Topology detour() {
  Topology topology;
  topology.ranks = 3;
  topology.links = {{.from = 0, .to = 1},
                    {.from = 0, .to = 2, .bandwidth = 4},
                    {.from = 2, .to = 1, .bandwidth = 4},
                    {.from = 1, .to = 0}};
  return topology;
}

TEST(Spread, UsesLinksInProportionToTheirBandwidth) {
  EXPECT_EQ(resultOf(detour(), {{0, 1, 15}}), (Result{{{"0 1", 3}, {"0 2 1", 12}}, {16, 16, 16, 1}, 3}));
}

/// A chunk uses the bound twice on the way over rank 2. So this way carries one chunk in a round.
TEST(Spread, CountsBoundsForEachLink) {
  Topology topology = detour();
  topology.addBound({1, 2}, 2);
  EXPECT_EQ(resultOf(topology, {{0, 1, 10}}), (Result{{{"0 1", 5}, {"0 2 1", 5}}, {16, 16, 16, 1}, 5}));
}

/// The links that leave ranks 0 and 1 for ranks 2 and 3 carry two chunks in a round, and six chunks need them. The
/// chunks from rank 1 have no other way than the link from rank 1 to rank 2. So only one chunk of rank 0 can use it.
TEST(Spread, IrregularTopology) {
  Topology topology;
  topology.ranks = 5;
  topology.links = {{.from = 0, .to = 1, .bandwidth = 2},
                    {.from = 1, .to = 2},
                    {.from = 0, .to = 3},
                    {.from = 3, .to = 2, .bandwidth = 3},
                    {.from = 2, .to = 4, .bandwidth = 2},
                    {.from = 3, .to = 4},
                    {.from = 4, .to = 0}};
  topology.addBound({3, 5}, 2);
  const Result expected = {{{"0 1 2", 1}, {"0 3 2", 3}, {"1 2 4", 2}, {"4 0 1", 1}},
                           {6, 16, 16, 8, 6, 8, 6}, // the links that leave rank 3 share half of their bound
                           3};
  EXPECT_EQ(resultOf(topology, {{0, 2, 4}, {1, 4, 2}, {4, 1, 1}}), expected);
}

/// Each chunk of a ring of five ranks has one shortest way, and these ways use all links evenly.
TEST(Spread, AllToAllOnARing) {
  Topology topology;
  topology.ranks = 5;
  std::vector<Traffic> all;
  Result expected;
  for (uint32_t rank = 0; rank < 5; ++rank) {
    const uint32_t next = (rank + 1) % 5, second = (rank + 2) % 5;
    topology.links.push_back({.from = rank, .to = next});
    topology.links.push_back({.from = next, .to = rank});
    for (uint32_t hop = 1; hop < 5; ++hop)
      all.push_back({rank, (rank + hop) % 5, 1});
    const std::string middle = " " + std::to_string(next) + " ";
    for (const auto &[from, to] : {std::pair(rank, second), std::pair(second, rank)})
      expected.routes[std::to_string(from) + middle + std::to_string(to)] = 1;
    expected.routes[std::to_string(rank) + " " + std::to_string(next)] = 1;
    expected.routes[std::to_string(next) + " " + std::to_string(rank)] = 1;
  }
  expected.urgency.assign(10, 16);
  expected.leastRounds = 3;
  EXPECT_EQ(resultOf(topology, all), expected);
}

} // namespace
