// SPDX-License-Identifier: Apache-2.0
// Who can send to whom, how much in a round, and what it costs: the machine that an algorithm is made for (SCCL section
// 3.1). The ranks are the nodes of the graph. A switch is no node: it is all the links through it, with bounds on what
// each rank sends and receives over them together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::topology {

/// What a hop goes over; nothing but a label here.
enum class LinkKind : uint8_t { Other, NvLink, NvSwitch, Xgmi, Pcie, Network };
inline constexpr unsigned LinkKinds = 6;

/// As JSON spells it: "other", "nvlink", "nvswitch", "xgmi", "pcie", "network".
std::string_view name(LinkKind kind);

/// One direction. There may be several from one rank to another.
struct Link {
  uint32_t from, to;
  uint32_t bandwidth = 1; ///< chunks per round, at least 1
  LinkKind kind = LinkKind::Other;
  double alpha = 1; ///< microseconds that a message takes however short it is
  double beta = 40; ///< microseconds that a million bytes take over the whole link
};

struct Topology {
  static constexpr uint32_t MaxRanks = 65536;
  static constexpr uint32_t MaxLinks = 1u << 26;

  std::string name;
  uint32_t ranks = 0;
  std::vector<Link> links;
  std::vector<uint32_t> lattice; ///< sizes of the grid as which it may look alike from all sides (Lattice.h), or empty
  // Bound b: over the links boundLinks[boundBegin[b] ..] together go no more than boundBandwidth[b] chunks per round.
  // What a single link takes is no bound here but a member of Link.
  std::vector<uint32_t> boundBegin = {0};
  std::vector<uint32_t> boundLinks;
  std::vector<uint32_t> boundBandwidth;

  uint32_t linkCount() const { return static_cast<uint32_t>(links.size()); }
  uint32_t boundCount() const { return static_cast<uint32_t>(boundBandwidth.size()); }
  void addBound(const std::vector<uint32_t> &ofLinks, uint32_t bandwidth);

  /// Seconds are S·alpha + R·(chunk's bytes)·beta for S steps of R rounds in all, in microseconds and millions of
  /// bytes.
  double alpha() const; ///< the largest of a link
  double beta() const;  ///< the most that a link takes for one of the chunks of a round
};

/// Each link the other way around, under its number: what runs on it backwards in time runs on `topology`.
Topology reversed(const Topology &topology);

/// Links by the rank that they leave or enter: those of rank r are links[begin[r] .. begin[r + 1]), ascending.
struct LinksOfRanks {
  std::vector<uint32_t> begin, links;
};
LinksOfRanks linksFrom(const Topology &topology);
LinksOfRanks linksTo(const Topology &topology);

/// The bounds that each link is under: those of link l are bounds[begin[l] .. begin[l + 1]), ascending, one as often as
/// it names the link.
struct BoundsOfLinks {
  std::vector<uint32_t> begin, bounds;
};
BoundsOfLinks boundsOfLinks(const Topology &topology);

/// The fewest hops from `source` to each rank; Unreachable where there is no way. Linear in the links,
/// at most: it ends when all ranks are reached.
inline constexpr uint32_t Unreachable = UINT32_MAX;
std::vector<uint32_t> distancesFrom(const Topology &topology, const LinksOfRanks &outgoing, uint32_t source);
/// The largest of them, from any rank to any other.
uint32_t diameter(const Topology &topology);

/// Why no algorithm for all ranks runs on `topology`: some rank can't reach another. Empty if each reaches all.
std::string whyDisconnected(const Topology &topology);

} // namespace gc3::topology
