// SPDX-License-Identifier: Apache-2.0
// Symmetric topologies look the same from all ranks, or from all machines. Their ranks or machines are the points of a
// grid that is closed in every dimension. A translation of all points by one vector maps links to links of the same
// kind. Examples are rings, tori, hypercubes, switches, and machines of one kind on a network.
#pragma once

#include "gc3/Topology/Topology.h"

#include <optional>

namespace gc3::topology {

/// A grid of points. Each point is a cell of consecutive ranks. All cells have the same number of ranks, which is
/// mostly 1. The last dimension varies fastest. A vector between points is represented by any rank of the cell that it
/// reaches from the first cell.
class Lattice {
public:
  /// The number of ranks is the product of the sizes and `cell`.
  explicit Lattice(std::vector<uint32_t> sizes, uint32_t cell = 1) : sizes(std::move(sizes)), ranksOfCell(cell) {}
  /// Uses the lattice of `topology`. If the topology has no lattice, uses a ring of all its ranks.
  explicit Lattice(const Topology &topology);

  /// Returns the rank translated by the vector: the rank at the same place in another cell.
  uint32_t add(uint32_t rank, uint32_t vector) const;
  /// Returns `rank` translated by the vector that moves the cell of `origin` to the first cell.
  uint32_t difference(uint32_t rank, uint32_t origin) const;
  /// Returns difference(rank, origin) for each rank.
  std::vector<uint32_t> differences(uint32_t origin) const;

  /// Returns the sizes of the dimensions.
  const std::vector<uint32_t> &size() const { return sizes; }
  /// Returns the number of ranks in a cell.
  uint32_t cell() const { return ranksOfCell; }

private:
  std::vector<uint32_t> sizes;
  uint32_t ranksOfCell;
};

/// The links of each point, in the same order for all points. For all p, links[p * classes + k] starts at the same
/// place in its cell, follows the same vector, and has the same bandwidth and cost. Links with the same k form a class.
struct LinkClasses {
  uint32_t classes = 0;
  std::vector<uint32_t> links;

  uint32_t points() const { return static_cast<uint32_t>(links.size() / classes); }
  uint32_t link(uint32_t point, uint32_t linkClass) const { return links[point * classes + linkClass]; }
};

/// Returns nothing if `topology` does not look the same from all points of its lattice, or if its lattice has fewer
/// than two points. Ignores bounds, because all ranks can send in the same way even if the bounds are not symmetric.
std::optional<LinkClasses> linkClasses(const Topology &topology);

} // namespace gc3::topology
