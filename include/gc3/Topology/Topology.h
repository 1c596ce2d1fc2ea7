// SPDX-License-Identifier: Apache-2.0
// The hardware for which an algorithm is made (SCCL section 3.1). A link states which rank can send to which rank, how
// many chunks in a round, and at what cost. The ranks are the nodes of the graph. A switch is not a node: for a search
// it consists of the links through it, with bounds on the data that each port sends and receives over them together.
#pragma once

#include "gc3/Topology/Costs.h"
#include "gc3/Topology/LinkKind.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::topology {

/// One direction of a connection. Several links can lead from one rank to another.
struct Link {
  uint32_t from, to;
  uint32_t bandwidth = 1; ///< chunks per round, at least 1
  LinkKind kind = LinkKind::Other;
  double alpha = 1;             ///< latency of a message of any size, in microseconds
  double beta = 40;             ///< microseconds per million bytes, at the full bandwidth of the link
  uint32_t ofSwitch = NoSwitch; ///< number of the switch that the link is a part of

  static constexpr uint32_t NoSwitch = UINT32_MAX;
};

/// A switch with equal ports. Each port serves one rank, or several ranks that share it.
struct Switch {
  LinkKind kind = LinkKind::NvSwitch;
  uint32_t bandwidth = 1;                ///< chunks per round of a port, in each direction
  double alpha = 1;                      ///< latency of a message from port to port, in microseconds
  double beta = 40;                      ///< microseconds per million bytes, at the full bandwidth of a port
  std::vector<uint32_t> portBegin = {0}; ///< port p serves portRanks[portBegin[p] .. portBegin[p + 1])
  std::vector<uint32_t> portRanks;
  /// If not 0, a search may use only the links between equal places of two machines of `rails` consecutive ranks, as
  /// networks of rails have them. All ranks can reach each other nevertheless.
  uint32_t rails = 0;
  /// If not 0, each `trunkPorts` consecutive ports share a trunk, such as a PCIe switch. It carries at most
  /// `trunkBandwidth` chunks per round in each direction.
  uint32_t trunkPorts = 0, trunkBandwidth = 0;

  uint32_t ports() const { return static_cast<uint32_t>(portBegin.size()) - 1; }
  uint32_t trunks() const { return trunkPorts ? (ports() + trunkPorts - 1) / trunkPorts : 0; }
};

/// The network cards of a machine, over which its ranks reach other machines of the same kind.
struct NetworkCards {
  uint32_t cards = 1;     ///< number of cards; each serves the same number of ranks
  uint32_t bandwidth = 1; ///< chunks per round of one card
  uint32_t scale = 1;     ///< factor for the bandwidths of links inside the machine, so that a card's bandwidth is a
                          ///< whole number
  double alpha = 5;
  double beta = 40;
};

/// The origin of a figure of the topology.
struct Source {
  std::string figure, origin;
};

struct Topology {
  static constexpr uint32_t MaxRanks = 131072;
  static constexpr uint32_t MaxLinks = 1u << 26;

  std::string name;
  std::string description;
  std::string warning; ///< what the file that was read may lack; for the user, so printJson() leaves it out
  uint32_t ranks = 0;
  uint32_t host = 0;            ///< ranks of a host, if links other than a network join several hosts; 0: they do not
  std::vector<Link> links;      ///< including those of expanded switches
  std::vector<Switch> switches; ///< the first expandedSwitches of them with their links and bounds
  uint32_t expandedSwitches = 0;
  std::optional<NetworkCards> network;
  Costs costs;
  std::vector<Source> sources;
  std::vector<uint32_t> lattice; ///< sizes of the grid whose points may all look the same (Lattice.h); empty: no grid
  // Bound b: the links boundLinks[boundBegin[b] ..] together carry at most boundBandwidth[b] chunks per round. The
  // limit of a single link is not a bound here, but Link::bandwidth.
  std::vector<uint32_t> boundBegin = {0};
  std::vector<uint32_t> boundLinks;
  std::vector<uint32_t> boundBandwidth;
  std::vector<uint32_t> boundSwitch; ///< number of the switch that the bound is a part of, or Link::NoSwitch

  bool haveOneHost(uint32_t a, uint32_t b) const { return host == 0 || a / host == b / host; }
  uint32_t linkCount() const { return static_cast<uint32_t>(links.size()); }
  uint32_t boundCount() const { return static_cast<uint32_t>(boundBandwidth.size()); }
  void addBound(const std::vector<uint32_t> &ofLinks, uint32_t bandwidth, uint32_t ofSwitch = Link::NoSwitch);
  void clearBounds();
  /// Adds a link for each pair of ranks that have different ports of a switch and no link yet, and two bounds for each
  /// port and trunk that has several links. Does so for each switch that is not expanded yet, those of networks last.
  /// Only searches need these links. Linear in the links and in the pairs.
  void expandSwitches();

  /// An algorithm of S steps with R rounds in total takes S·alpha + R·(bytes of a chunk)·beta. alpha is in
  /// microseconds, beta in microseconds per million bytes. If links differ, the slowest one determines both: all links
  /// move in the same steps and rounds.
  double alpha() const; ///< largest alpha of all links
  double beta() const;  ///< largest beta * bandwidth of all links, because a round moves `bandwidth` chunks over a link
};

/// Returns a warning if links have different products of beta and bandwidth. Then the slowest link makes the rounds of
/// all links longer. Returns an empty string if the products differ by at most a fifth.
std::string findInconsistentBeta(const Topology &topology);

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
