// SPDX-License-Identifier: Apache-2.0
// The network of one step. It has two nodes for each rank: the rank before the step and the rank after it. An arc for
// each link leads from one to the other. A bound over links that leave one rank, or that enter one rank, is an arc
// that these links share. Nested bounds form a tree.
#pragma once

#include "gc3/Topology/Topology.h"
#include <optional>

namespace gc3::flow {

inline constexpr uint32_t None = UINT32_MAX;

struct StepArc {
  uint32_t from, to;
  uint32_t bandwidth;    ///< chunks per round
  uint32_t hops;         ///< the smallest number of hops to the root of a chunk that uses the arc, this hop included
  uint32_t link = None;  ///< the link that the arc stands for
  uint32_t share = None; ///< the share of a divided bound that limits the arc
  bool leavesHub = false;
};

/// A link that is not an arc, because it leads through a hub.
struct HubLink {
  uint32_t arc;  ///< the arc that leaves the hub
  uint32_t from; ///< the rank before the step
  uint32_t link;
};

/// Nodes below `ranks` are ranks before the step. Nodes from `ranks` to 2 * ranks - 1 are ranks after the step.
///
/// A bound over links of several ranks, or one that overlaps another bound, is no arc. Such a bound is divided: each of
/// its shares is a set of its links, and has an arc. A step divides the bound's bandwidth among the shares.
///
/// A switch has links between all its ranks, which bounds of the ranks limit more than the links do. A hub, one node,
/// stands for all these links.
struct StepGraph {
  uint32_t ranks = 0, nodes = 0, root = 0;
  std::vector<uint32_t> hops;             ///< by rank: the distance to the root
  std::vector<StepArc> arcs;              ///< each arc comes before the arcs that leave its end
  std::vector<HubLink> hubLinks;          ///< sorted by arc, then by rank
  std::vector<uint32_t> boundOfShare;     ///< by share: its divided bound
  std::vector<uint32_t> dividedBandwidth; ///< by divided bound: chunks per round
};

/// Returns the graph for chunks that go to `root`. Omits links that leave the root. Returns nothing if a bound lists a
/// link twice.
std::optional<StepGraph> makeStepGraph(const topology::Topology &topology, uint32_t root);

} // namespace gc3::flow
