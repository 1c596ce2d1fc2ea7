// SPDX-License-Identifier: Apache-2.0
// Builds the trees of bounds from the largest set of links to the smallest. A set fits into a tree if the sets before
// it do not separate its links. A set that does not fit is divided into single links.
#include "StepGraph.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace gc3::flow {

using topology::Link;
using topology::Topology;

namespace {

/// Links that leave one rank (isAtTail), or that enter one rank, and together carry at most `bandwidth` chunks.
struct LinkSet {
  std::vector<uint32_t> links;
  uint32_t bandwidth;
  bool isAtTail;
  uint32_t divided = None; ///< the divided bound of which this is a share
};

class Builder {
public:
  Builder(const Topology &topology, uint32_t root) : topology(topology) {
    const Topology backwards = reversed(topology);
    graph.ranks = topology.ranks, graph.root = root;
    graph.hops = distancesFrom(backwards, linksFrom(backwards), root);
    for (const Link &link : topology.links)
      bandwidth.push_back(link.bandwidth);
  }

  std::optional<StepGraph> build() {
    for (uint32_t bound = 0; bound < topology.boundCount(); ++bound)
      if (!addBound(bound))
        return {};
    addSets();
    addLinks();
    graph.arcs.insert(graph.arcs.end(), headArcs.rbegin(), headArcs.rend());
    addHubLinks();
    return std::move(graph);
  }

private:
  uint32_t endOf(uint32_t link, bool atTail) const {
    return atTail ? topology.links[link].from : topology.links[link].to;
  }
  bool shareAnEnd(const std::vector<uint32_t> &links, bool atTail) const {
    return std::all_of(links.begin(), links.end(),
                       [&](uint32_t link) { return endOf(link, atTail) == endOf(links[0], atTail); });
  }
  uint64_t bandwidthOf(const std::vector<uint32_t> &links) const {
    uint64_t sum = 0;
    for (uint32_t link : links)
      sum += bandwidth[link];
    return sum;
  }
  bool addBound(uint32_t bound);
  void divideByRank(const std::vector<uint32_t> &links, uint32_t limit);
  void divide(const LinkSet &set, std::vector<LinkSet> &singles);
  bool addSet(const LinkSet &set);
  void addSets();
  void addLinks();
  bool isHub(const std::vector<uint32_t> &links) const;
  void addHub(const std::vector<uint32_t> &links);
  void addHubLinks();

  const Topology &topology;
  StepGraph graph;
  std::vector<uint32_t> bandwidth; ///< by link
  std::vector<LinkSet> sets;
  std::vector<uint32_t> tail, head;                       ///< by link: the nodes between which the link's arc lies
  std::vector<uint64_t> limits;                           ///< by node: chunks per round through the node's set of links
  std::vector<StepArc> headArcs;                          ///< arcs after those of links, in reverse order
  std::vector<std::pair<uint32_t, uint32_t>> throughHubs; ///< links, and the nodes before which they leave a hub
};

/// Returns false if the bound lists a link twice.
bool Builder::addBound(uint32_t bound) {
  std::vector<uint32_t> links(topology.boundLinks.begin() + topology.boundBegin[bound],
                              topology.boundLinks.begin() + topology.boundBegin[bound + 1]);
  std::sort(links.begin(), links.end());
  if (std::adjacent_find(links.begin(), links.end()) != links.end())
    return false;
  links.erase(std::remove_if(links.begin(), links.end(),
                             [&](uint32_t link) { return topology.links[link].from == graph.root; }),
              links.end());
  const uint32_t most = topology.boundBandwidth[bound];
  if (links.size() == 1)
    bandwidth[links[0]] = std::min(bandwidth[links[0]], most);
  else if (bandwidthOf(links) <= most)
    return true;
  else if (const bool atTail = shareAnEnd(links, true); atTail || shareAnEnd(links, false))
    sets.push_back({std::move(links), most, atTail});
  else
    divideByRank(links, most);
  return true;
}

/// Divides a bound. Makes a share for each rank that the links leave, or for each rank that they enter, whichever is
/// fewer.
void Builder::divideByRank(const std::vector<uint32_t> &links, uint32_t limit) {
  const auto divided = static_cast<uint32_t>(graph.dividedBandwidth.size());
  graph.dividedBandwidth.push_back(limit);
  std::map<uint32_t, std::vector<uint32_t>> byTail, byHead;
  for (uint32_t link : links) {
    byTail[endOf(link, true)].push_back(link);
    byHead[endOf(link, false)].push_back(link);
  }
  const bool atTail = byTail.size() <= byHead.size();
  for (auto &[rank, ofRank] : atTail ? byTail : byHead) {
    const auto most = std::min<uint64_t>(bandwidthOf(ofRank), limit);
    sets.push_back({std::move(ofRank), static_cast<uint32_t>(most), atTail, divided});
  }
}

/// Adds a share for each link of a set to `singles`.
void Builder::divide(const LinkSet &set, std::vector<LinkSet> &singles) {
  uint32_t divided = set.divided;
  if (divided == None) {
    divided = static_cast<uint32_t>(graph.dividedBandwidth.size());
    graph.dividedBandwidth.push_back(set.bandwidth);
  }
  for (uint32_t link : set.links)
    singles.push_back({{link}, bandwidth[link], true, divided});
}

/// Makes the arc of a set. Returns false, and changes nothing, if the set does not fit.
bool Builder::addSet(const LinkSet &set) {
  std::vector<uint32_t> &ends = set.isAtTail ? tail : head;
  const uint32_t outer = ends[set.links[0]];
  uint32_t hops = UINT32_MAX;
  for (uint32_t link : set.links) {
    if (ends[link] != outer)
      return false;
    hops = std::min(hops, 1 + graph.hops[topology.links[link].to]);
  }
  const uint32_t inner = graph.nodes++;
  for (uint32_t link : set.links)
    ends[link] = inner;
  limits.push_back(set.bandwidth);
  StepArc arc = {set.isAtTail ? outer : inner, set.isAtTail ? inner : outer, set.bandwidth, hops};
  if (set.divided != None) {
    arc.share = static_cast<uint32_t>(graph.boundOfShare.size());
    graph.boundOfShare.push_back(set.divided);
  }
  (set.isAtTail ? graph.arcs : headArcs).push_back(arc);
  return true;
}

/// Makes the arcs of all sets. Linear, except for the sort.
void Builder::addSets() {
  graph.nodes = 2 * graph.ranks;
  limits.assign(graph.nodes, UINT64_MAX);
  for (const Link &link : topology.links)
    tail.push_back(link.from), head.push_back(graph.ranks + link.to);
  std::stable_sort(sets.begin(), sets.end(),
                   [](const LinkSet &a, const LinkSet &b) { return a.links.size() > b.links.size(); });
  std::vector<LinkSet> singles;
  for (const LinkSet &set : sets)
    if (!addSet(set))
      divide(set, singles);
  for (const LinkSet &single : singles)
    addSet(single); // always fits
}

/// Makes an arc for each link, or a hub for all links between some nodes.
void Builder::addLinks() {
  llvm::EquivalenceClasses<uint32_t> joined; // nodes that links connect
  for (uint32_t link = 0; link < topology.linkCount(); ++link)
    if (topology.links[link].from != graph.root)
      joined.unionSets(tail[link], head[link]);
  std::map<uint32_t, std::vector<uint32_t>> groups; // links by one of the nodes that they connect
  for (uint32_t link = 0; link < topology.linkCount(); ++link)
    if (topology.links[link].from != graph.root)
      groups[joined.getLeaderValue(tail[link])].push_back(link);
  for (const auto &[node, links] : groups)
    if (isHub(links))
      addHub(links);
    else
      for (uint32_t link : links)
        graph.arcs.push_back({tail[link], head[link], bandwidth[link], 1 + graph.hops[topology.links[link].to], link});
}

/// Returns true if no two nodes belong to one rank.
static bool areDistinct(const std::map<uint32_t, uint32_t> &rankOfNode) {
  std::set<uint32_t> ranks;
  return std::all_of(rankOfNode.begin(), rankOfNode.end(),
                     [&](const auto &each) { return ranks.insert(each.second).second; });
}

/// Returns true if there is one link from each tail to each head, except within a rank, and if the limit of its tail or
/// of its head is no more than its bandwidth. A rank can have one tail and one head: then the rank that a chunk comes
/// from and the node that it goes to determine its link.
bool Builder::isHub(const std::vector<uint32_t> &links) const {
  std::map<uint32_t, uint32_t> tails, heads; // ranks by node
  for (uint32_t link : links) {
    tails[tail[link]] = topology.links[link].from, heads[head[link]] = topology.links[link].to;
    if (bandwidth[link] < std::min(limits[tail[link]], limits[head[link]]))
      return false;
  }
  if (!areDistinct(tails) || !areDistinct(heads))
    return false;
  uint64_t pairs = 0;
  for (const auto &[from, fromRank] : tails)
    for (const auto &[to, toRank] : heads)
      pairs += fromRank != toRank;
  std::vector<std::pair<uint32_t, uint32_t>> ends;
  for (uint32_t link : links)
    ends.emplace_back(tail[link], head[link]);
  std::sort(ends.begin(), ends.end());
  const bool isSimple = std::adjacent_find(ends.begin(), ends.end()) == ends.end();
  return isSimple && pairs == links.size() && links.size() > tails.size() + heads.size();
}

void Builder::addHub(const std::vector<uint32_t> &links) {
  const uint32_t hub = graph.nodes++;
  std::map<uint32_t, uint32_t> hopsIn, hopsOut; // by node
  for (uint32_t link : links) {
    const uint32_t hops = 1 + graph.hops[topology.links[link].to];
    hopsOut[head[link]] = hops;
    const auto [known, isNew] = hopsIn.try_emplace(tail[link], hops);
    known->second = std::min(known->second, hops);
    throughHubs.emplace_back(link, head[link]);
  }
  const auto most = [&](uint32_t node) { return static_cast<uint32_t>(std::min<uint64_t>(limits[node], INT32_MAX)); };
  for (const auto &[node, hops] : hopsIn)
    graph.arcs.push_back({node, hub, most(node), hops});
  for (const auto &[node, hops] : hopsOut) {
    graph.arcs.push_back({hub, node, most(node), hops});
    graph.arcs.back().leavesHub = true;
  }
}

/// Makes the table of links through hubs, once the numbers of arcs are final.
void Builder::addHubLinks() {
  std::map<uint32_t, uint32_t> exits; // arcs that leave a hub, by the node that they enter
  for (uint32_t arc = 0; arc < graph.arcs.size(); ++arc)
    if (graph.arcs[arc].leavesHub)
      exits[graph.arcs[arc].to] = arc;
  for (const auto &[link, node] : throughHubs)
    graph.hubLinks.push_back({exits[node], topology.links[link].from, link});
  std::sort(graph.hubLinks.begin(), graph.hubLinks.end(),
            [](const HubLink &a, const HubLink &b) { return std::pair(a.arc, a.from) < std::pair(b.arc, b.from); });
}

} // namespace

std::optional<StepGraph> makeStepGraph(const Topology &topology, uint32_t root) {
  return Builder(topology, root).build();
}

} // namespace gc3::flow
