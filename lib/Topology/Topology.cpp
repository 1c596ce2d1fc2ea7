// SPDX-License-Identifier: Apache-2.0
// Functions on the graph of a topology: its reverse, its distances, whether it is connected.
#include "gc3/Topology/Topology.h"
#include <algorithm>
#include <cstdio>

namespace gc3::topology {

std::string_view name(LinkKind kind) {
  switch (kind) {
  case LinkKind::Other: return "other";
  case LinkKind::NvLink: return "nvlink";
  case LinkKind::NvSwitch: return "nvswitch";
  case LinkKind::Xgmi: return "xgmi";
  case LinkKind::Pcie: return "pcie";
  case LinkKind::Network: return "network";
  }
  return "";
}

void Topology::addBound(const std::vector<uint32_t> &ofLinks, uint32_t bandwidth, uint32_t ofSwitch) {
  boundLinks.insert(boundLinks.end(), ofLinks.begin(), ofLinks.end());
  boundBegin.push_back(static_cast<uint32_t>(boundLinks.size()));
  boundBandwidth.push_back(bandwidth);
  boundSwitch.push_back(ofSwitch);
}

void Topology::clearBounds() {
  boundBegin = {0};
  boundLinks.clear(), boundBandwidth.clear(), boundSwitch.clear();
}

double Topology::alpha() const {
  double most = 0;
  for (const Link &link : links)
    most = std::max(most, link.alpha);
  return most;
}

double Topology::beta() const {
  double most = 0;
  for (const Link &link : links)
    most = std::max(most, link.beta * link.bandwidth);
  return most;
}

/// Returns the first link that expandSwitches() makes for a switch, if no other switch has made it.
static Link firstLink(const Switch &from) {
  const uint32_t second = from.rails ? from.rails : from.portBegin[1];
  return {from.portRanks[0], from.portRanks[second], from.bandwidth, from.kind, from.alpha, from.beta};
}

std::string findInconsistentBeta(const Topology &topology) {
  constexpr double tolerance = 1.2;
  const Link *slowest = nullptr, *fastest = nullptr;
  const auto product = [](const Link &link) { return link.beta * link.bandwidth; };
  const auto consider = [&](const Link &link) {
    slowest = !slowest || product(link) > product(*slowest) ? &link : slowest;
    fastest = !fastest || product(link) < product(*fastest) ? &link : fastest;
  };
  for (const Link &link : topology.links)
    consider(link);
  std::vector<Link> firstLinks; // of switches that are not expanded
  for (uint32_t number = topology.expandedSwitches; number < topology.switches.size(); ++number)
    firstLinks.push_back(firstLink(topology.switches[number]));
  for (const Link &link : firstLinks)
    consider(link);
  if (!slowest || product(*slowest) <= tolerance * product(*fastest))
    return {};
  const auto describe = [&](const Link &link) {
    char text[120];
    std::snprintf(text, sizeof text, "the link from %u to %u moves a chunk in %g us/MB", link.from, link.to,
                  product(link));
    return std::string(text);
  };
  return describe(*slowest) + ", but " + describe(*fastest) +
         "; searches use the slower figure for all links; make bandwidth * beta equal";
}

Topology reversed(const Topology &topology) {
  Topology result = topology;
  for (Link &link : result.links)
    std::swap(link.from, link.to);
  return result;
}

/// Sorts the links by one of their ends, in linear time.
static LinksOfRanks linksBy(const Topology &topology, uint32_t Link::*end) {
  LinksOfRanks result;
  result.begin.assign(topology.ranks + 1, 0);
  for (const Link &link : topology.links)
    ++result.begin[link.*end + 1];
  for (uint32_t rank = 0; rank < topology.ranks; ++rank)
    result.begin[rank + 1] += result.begin[rank];
  std::vector<uint32_t> next(result.begin.begin(), result.begin.end() - 1);
  result.links.resize(topology.links.size());
  for (uint32_t link = 0; link < topology.linkCount(); ++link)
    result.links[next[topology.links[link].*end]++] = link;
  return result;
}

BoundsOfLinks boundsOfLinks(const Topology &topology) {
  BoundsOfLinks result;
  result.begin.assign(topology.links.size() + 1, 0);
  for (uint32_t link : topology.boundLinks)
    ++result.begin[link + 1];
  for (size_t link = 0; link < topology.links.size(); ++link)
    result.begin[link + 1] += result.begin[link];
  std::vector<uint32_t> next(result.begin.begin(), result.begin.end() - 1);
  result.bounds.resize(topology.boundLinks.size());
  for (uint32_t bound = 0; bound < topology.boundCount(); ++bound)
    for (uint32_t i = topology.boundBegin[bound]; i < topology.boundBegin[bound + 1]; ++i)
      result.bounds[next[topology.boundLinks[i]]++] = bound;
  return result;
}

LinksOfRanks linksFrom(const Topology &topology) {
  return linksBy(topology, &Link::from);
}

LinksOfRanks linksTo(const Topology &topology) {
  return linksBy(topology, &Link::to);
}

std::vector<uint32_t> distancesFrom(const Topology &topology, const LinksOfRanks &outgoing, uint32_t source) {
  std::vector<uint32_t> distance(topology.ranks, Unreachable);
  std::vector<uint32_t> queue = {source};
  distance[source] = 0;
  for (size_t next = 0; next < queue.size() && queue.size() < topology.ranks; ++next) {
    const uint32_t rank = queue[next];
    for (uint32_t i = outgoing.begin[rank]; i < outgoing.begin[rank + 1]; ++i) {
      const uint32_t to = topology.links[outgoing.links[i]].to;
      if (distance[to] != Unreachable)
        continue;
      distance[to] = distance[rank] + 1;
      queue.push_back(to);
    }
  }
  return distance;
}

uint32_t diameter(const Topology &topology) {
  const LinksOfRanks outgoing = linksFrom(topology);
  uint32_t most = 0;
  for (uint32_t rank = 0; rank < topology.ranks; ++rank) {
    const std::vector<uint32_t> distance = distancesFrom(topology, outgoing, rank);
    most = std::max(most, *std::max_element(distance.begin(), distance.end()));
  }
  return most;
}

std::string findDisconnection(const Topology &topology) {
  // If every rank is reachable from rank 0 and reaches rank 0, every rank reaches every other.
  for (bool backwards : {false, true}) {
    const Topology &graph = backwards ? reversed(topology) : topology;
    const std::vector<uint32_t> distance = distancesFrom(graph, linksFrom(graph), 0);
    auto unreached = std::find(distance.begin(), distance.end(), Unreachable);
    if (unreached == distance.end())
      continue;
    const std::string rank = std::to_string(unreached - distance.begin());
    return backwards ? "no path leads from rank " + rank + " to rank 0" : "no path leads from rank 0 to rank " + rank;
  }
  return {};
}

} // namespace gc3::topology
