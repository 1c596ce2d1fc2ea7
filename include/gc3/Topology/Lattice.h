// SPDX-License-Identifier: Apache-2.0
// Topologies that look alike from all ranks: ranks are the points of a grid whose every dimension is closed, and moving
// all of them by one vector moves links onto links of the same kind. Rings, tori, hypercubes and switches are such.
#pragma once

#include "gc3/Topology/Topology.h"

#include <optional>

namespace gc3::topology {

/// Ranks as points, the last dimension running fastest; a vector between points is named by the point where it leads
/// from rank 0.
class Lattice {
public:
  /// The product of the sizes is the number of ranks.
  explicit Lattice(std::vector<uint32_t> sizes) : sizes(std::move(sizes)) {}
  /// That of a topology; where it has none, the ranks in a ring.
  explicit Lattice(const Topology &topology)
      : sizes(topology.lattice.empty() ? std::vector<uint32_t>{topology.ranks} : topology.lattice) {}

  uint32_t add(uint32_t point, uint32_t vector) const;
  /// The vector from `origin` to `point`.
  uint32_t difference(uint32_t point, uint32_t origin) const;
  /// By point, all at once.
  std::vector<uint32_t> differences(uint32_t origin) const;

  /// Of its dimensions.
  const std::vector<uint32_t> &size() const { return sizes; }

private:
  std::vector<uint32_t> sizes;
};

/// The links of each rank, in an order that is the same for all: links[r * classes + k] goes from rank r, by the same
/// vector and with the same bandwidth and cost for all r. Links of the same k are a class.
struct LinkClasses {
  uint32_t classes = 0;
  std::vector<uint32_t> links;

  uint32_t link(uint32_t rank, uint32_t linkClass) const { return links[rank * classes + linkClass]; }
};

/// Nothing if `topology` does not look alike from all points of its lattice, or has none. Bounds are not looked at: for
/// what is sent alike from all ranks it does not matter whether they are alike.
std::optional<LinkClasses> linkClasses(const Topology &topology);

} // namespace gc3::topology
