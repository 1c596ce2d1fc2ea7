// SPDX-License-Identifier: Apache-2.0
// The hardware for which an algorithm is made (SCCL section 3.1). A link states which rank can send to which rank, how
// many chunks in a round, and at what cost. The ranks are the nodes of the graph. A switch is not a node: it consists
// of all links through it, with bounds on the data that each rank sends and receives over them together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::topology {

/// Hardware of a link.
enum class LinkKind : uint8_t { Other, NvLink, NvSwitch, Xgmi, Pcie, Network };
inline constexpr unsigned LinkKinds = 6;

/// Returns the spelling in JSON: "other", "nvlink", "nvswitch", "xgmi", "pcie" or "network".
std::string_view name(LinkKind kind);

/// One direction of a connection. Several links can lead from one rank to another.
struct Link {
  uint32_t from, to;
  uint32_t bandwidth = 1; ///< chunks per round, at least 1
  LinkKind kind = LinkKind::Other;
  double alpha = 1; ///< latency of a message of any size, in microseconds
  double beta = 40; ///< microseconds per million bytes, at the full bandwidth of the link
};

struct Topology {
  static constexpr uint32_t MaxRanks = 65536;
  static constexpr uint32_t MaxLinks = 1u << 26;

  std::string name;
  uint32_t ranks = 0;
  std::vector<Link> links;
  std::vector<uint32_t> lattice; ///< sizes of the grid whose points may all look the same (Lattice.h); empty: no grid
  // Bound b: the links boundLinks[boundBegin[b] ..] together carry at most boundBandwidth[b] chunks per round. The
  // limit of a single link is not a bound here, but Link::bandwidth.
  std::vector<uint32_t> boundBegin = {0};
  std::vector<uint32_t> boundLinks;
  std::vector<uint32_t> boundBandwidth;

  uint32_t linkCount() const { return static_cast<uint32_t>(links.size()); }
  uint32_t boundCount() const { return static_cast<uint32_t>(boundBandwidth.size()); }
  void addBound(const std::vector<uint32_t> &ofLinks, uint32_t bandwidth);

  /// An algorithm of S steps with R rounds in total takes S·alpha + R·(bytes of a chunk)·beta. alpha is in
  /// microseconds, beta in microseconds per million bytes.
  double alpha() const; ///< largest alpha of all links
  double beta() const;  ///< largest beta * bandwidth of all links, because a round moves `bandwidth` chunks over a link
};

/// Returns the topology with each link reversed, under the same number. An algorithm for the result, run backwards in
/// time, is an algorithm for `topology`.
Topology reversed(const Topology &topology);

/// Links by the rank that they leave or enter. Rank r has links[begin[r] .. begin[r + 1]), ascending.
struct LinksOfRanks {
  std::vector<uint32_t> begin, links;
};
LinksOfRanks linksFrom(const Topology &topology);
LinksOfRanks linksTo(const Topology &topology);

/// Bounds by link. The bounds of link l are bounds[begin[l] .. begin[l + 1]), in ascending order. If a bound lists a
/// link several times, the bound occurs the same number of times in this range.
struct BoundsOfLinks {
  std::vector<uint32_t> begin, bounds;
};
BoundsOfLinks boundsOfLinks(const Topology &topology);

/// Distance of a rank that no path reaches.
inline constexpr uint32_t Unreachable = UINT32_MAX;
/// Returns the smallest number of hops from `source` to each rank, or Unreachable. At most linear in the links, because
/// the search ends when all ranks are reached.
std::vector<uint32_t> distancesFrom(const Topology &topology, const LinksOfRanks &outgoing, uint32_t source);
/// Returns the largest distance from any rank to any other.
uint32_t diameter(const Topology &topology);

/// Returns the reason why no algorithm for all ranks runs on `topology`: a rank that cannot reach another one. Returns
/// an empty string if each rank reaches all others.
std::string findDisconnection(const Topology &topology);

} // namespace gc3::topology
