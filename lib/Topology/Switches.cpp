// SPDX-License-Identifier: Apache-2.0
// Expands switches to the links and bounds that a search needs.
#include "gc3/Topology/Topology.h"
#include <algorithm>

namespace gc3::topology {

namespace {

/// The links of one switch while it is expanded.
class Expansion {
public:
  Expansion(Topology &topology, const Switch &from, uint32_t number)
      : topology(topology), from(from), number(number), out(from.ports()), in(from.ports()) {
    for (uint32_t port = 0; port < from.ports(); ++port)
      portOf.resize(from.portBegin[port + 1], port);
    for (const Link &link : topology.links)
      joined.push_back(pair(link.from, link.to));
    std::sort(joined.begin(), joined.end());
  }

  void addLinks() {
    const auto members = static_cast<uint32_t>(from.portRanks.size());
    if (from.rails == 0) {
      for (uint32_t a = 0; a < members; ++a)
        for (uint32_t b = a + 1; b < members; ++b)
          join(a, b);
      return;
    }
    for (uint32_t a = 0; a < members; a += from.rails)
      for (uint32_t b = a + from.rails; b < members; b += from.rails)
        for (uint32_t i = 0; i < from.rails && b + i < members; ++i)
          join(a + i, b + i);
  }

  void addBounds() {
    for (const auto &side : {out, in})
      for (const std::vector<uint32_t> &links : side)
        bound(links, from.bandwidth);
    for (const bool isOut : {true, false})
      for (uint32_t trunk = 0; trunk < from.trunks(); ++trunk)
        bound(crossing(trunk, isOut), from.trunkBandwidth);
  }

private:
  static uint64_t pair(uint32_t a, uint32_t b) { return static_cast<uint64_t>(a) << 32 | b; }

  /// Joins two members of the switch, by their positions in `portRanks`.
  void join(uint32_t a, uint32_t b) {
    if (portOf[a] != portOf[b]) {
      add(a, b);
      add(b, a);
    }
  }

  void add(uint32_t a, uint32_t b) {
    const uint32_t sender = from.portRanks[a], receiver = from.portRanks[b];
    if (std::binary_search(joined.begin(), joined.end(), pair(sender, receiver)))
      return;
    out[portOf[a]].push_back(topology.linkCount());
    in[portOf[b]].push_back(topology.linkCount());
    topology.links.push_back({sender, receiver, from.bandwidth, from.kind, from.alpha, from.beta, number});
  }

  /// Returns the links from the ports of a trunk to other trunks, or the links to its ports.
  std::vector<uint32_t> crossing(uint32_t trunk, bool isOut) const {
    std::vector<bool> isInside(topology.ranks);
    std::vector<uint32_t> result;
    const uint32_t first = trunk * from.trunkPorts, end = std::min(first + from.trunkPorts, from.ports());
    for (uint32_t i = from.portBegin[first]; i < from.portBegin[end]; ++i)
      isInside[from.portRanks[i]] = true;
    for (uint32_t port = first; port < end; ++port)
      for (uint32_t link : isOut ? out[port] : in[port])
        if (!isInside[isOut ? topology.links[link].to : topology.links[link].from])
          result.push_back(link);
    return result;
  }

  void bound(const std::vector<uint32_t> &links, uint32_t bandwidth) {
    if (links.size() > 1)
      topology.addBound(links, bandwidth, number);
  }

  Topology &topology;
  const Switch &from;
  const uint32_t number;
  std::vector<uint32_t> portOf;               ///< by position in portRanks
  std::vector<std::vector<uint32_t>> out, in; ///< by port: the links that leave and enter it
  std::vector<uint64_t> joined;               ///< pairs of ranks with an earlier link, sorted
};

} // namespace

void Topology::expandSwitches() {
  for (const bool isNetwork : {false, true}) // as for messages, a network serves only ranks that nothing else joins
    for (uint32_t number = expandedSwitches; number < switches.size(); ++number) {
      if ((switches[number].kind == LinkKind::Network) != isNetwork)
        continue;
      Expansion expansion(*this, switches[number], number);
      expansion.addLinks();
      expansion.addBounds();
    }
  expandedSwitches = static_cast<uint32_t>(switches.size());
}

} // namespace gc3::topology
