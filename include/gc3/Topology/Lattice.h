// SPDX-License-Identifier: Apache-2.0
// Topologies that look alike from all ranks, or from all of their machines: these are the points of a grid whose every
// dimension is closed, and moving all of them by one vector moves links onto links of the same kind. Rings, tori,
// hypercubes and switches are such, and machines of one kind on a network.
#pragma once

#include "gc3/Topology/Topology.h"

#include <optional>

namespace gc3::topology {

/// Cells of equally many ranks in a row as points, the last dimension running fastest; mostly of a single rank. A
/// vector between points is named by the ranks of the cell to which it leads from the first one.
class Lattice {
public:
  /// The product of the sizes and a cell is the number of ranks.
  explicit Lattice(std::vector<uint32_t> sizes, uint32_t cell = 1) : sizes(std::move(sizes)), ranksOfCell(cell) {}
  /// That of a topology; where it has none, the ranks in a ring.
  explicit Lattice(const Topology &topology);

  /// The rank moved by the vector: to another cell, and there to its place in it.
  uint32_t add(uint32_t rank, uint32_t vector) const;
  /// The rank as the cell of `origin` sees it: moved with that cell to the first one.
  uint32_t difference(uint32_t rank, uint32_t origin) const;
  /// By rank, all at once.
  std::vector<uint32_t> differences(uint32_t origin) const;

  /// Of its dimensions.
  const std::vector<uint32_t> &size() const { return sizes; }
  /// Ranks in one.
  uint32_t cell() const { return ranksOfCell; }

private:
  std::vector<uint32_t> sizes;
  uint32_t ranksOfCell;
};

/// The links of each point, in an order that is the same for all: links[p * classes + k] goes from the same rank of its
/// cell, by the same vector, with the same bandwidth and cost for all p. Links of the same k are a class.
struct LinkClasses {
  uint32_t classes = 0;
  std::vector<uint32_t> links;

  uint32_t points() const { return static_cast<uint32_t>(links.size() / classes); }
  uint32_t link(uint32_t point, uint32_t linkClass) const { return links[point * classes + linkClass]; }
};

/// Nothing if `topology` does not look alike from all points of its lattice, or has none of several points. Bounds are
/// not looked at: for what is sent alike from all ranks it does not matter whether they are alike.
std::optional<LinkClasses> linkClasses(const Topology &topology);

} // namespace gc3::topology
