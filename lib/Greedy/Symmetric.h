// SPDX-License-Identifier: Apache-2.0
// Finds algorithms in which all points of a lattice act identically. Only the chunks of one point are routed, so the
// problem is as small as its share. A point is a rank, or a machine.
#pragma once

#include "gc3/Algorithm/Algorithm.h"
#include "gc3/Topology/Lattice.h"

#include <functional>

namespace gc3::greedy {

class Symmetric {
public:
  /// Returns nothing if points differ in their links or in their demands on other points, or if stopped.
  static std::optional<Symmetric> find(const topology::Topology &topology, const algorithm::Demand &demand,
                                       const std::function<bool()> &stops);

  /// Returns the demand of the chunks that begin on the first point.
  const algorithm::Demand &share() const { return ownDemand; }
  /// Returns the topology with bounds for the share: all links of a class together carry as many chunks as one of them
  /// can, because the chunks of other points use the others.
  const topology::Topology &topology() const { return ownTopology; }

  /// Returns the size of the whole problem divided by that of the share.
  uint32_t points() const { return classes.points(); }
  /// Returns, by rank, the rank of the first point that acts identically.
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
  std::vector<uint32_t> classOf; ///< by link
  uint32_t perPoint = 0;         ///< chunks per point
  std::vector<uint32_t> chunks;  ///< those of point p from p * perPoint on, in the order of the first point's
  topology::Topology ownTopology;
  algorithm::Demand ownDemand;
};

} // namespace gc3::greedy
