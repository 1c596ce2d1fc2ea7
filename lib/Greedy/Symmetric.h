// SPDX-License-Identifier: Apache-2.0
// Finds algorithms in which all points of a lattice act identically. A point is a rank, or a machine. The search
// handles only the share of one point: the chunks that start there.
#pragma once

#include "gc3/Algorithm/Algorithm.h"
#include "gc3/Topology/Lattice.h"

#include <functional>

namespace gc3::greedy {

class Symmetric {
public:
  /// Returns nothing if points differ in their links, or in the chunks that start on them. Also returns nothing if
  /// `stops` returns true.
  static std::optional<Symmetric> find(const topology::Topology &topology, const algorithm::Demand &demand,
                                       const std::function<bool()> &stops);

  /// Returns the demand for the chunks that start on the first point.
  const algorithm::Demand &share() const { return ownDemand; }
  /// Returns the topology with bounds for the share. All links of a class together carry only as many chunks as one of
  /// them, because chunks of other points use the remaining capacity.
  const topology::Topology &topology() const { return ownTopology; }

  /// Returns the number of points. The whole problem is this many times as large as the share.
  uint32_t points() const { return classes.points(); }
  /// Returns, by rank, the corresponding rank of the first point, which acts identically.
  std::vector<uint32_t> orbits() const;

  /// Turns an algorithm for the share into one for the whole problem.
  algorithm::Algorithm expand(const algorithm::Algorithm &ofShare) const;

private:
  Symmetric(const topology::Topology &whole, topology::LinkClasses classes)
      : lattice(whole), classes(std::move(classes)), ownTopology(whole) {}
  bool alignChunks(const algorithm::Demand &demand, const std::function<bool()> &stops);
  void extractShare(const algorithm::Demand &demand);
  void limitLinks(const topology::Topology &whole);

  topology::Lattice lattice;
  topology::LinkClasses classes;
  std::vector<uint32_t> classOf; ///< class of the link, by link
  uint32_t perPoint = 0;         ///< chunks per point
  std::vector<uint32_t> chunks;  ///< chunks of point p: from p * perPoint on, in the order of the corresponding chunks
                                 ///< of the first point
  topology::Topology ownTopology;
  algorithm::Demand ownDemand;
};

} // namespace gc3::greedy
