// SPDX-License-Identifier: Apache-2.0
// What all points of a lattice do alike, worked out for the chunks of one: a problem as large as its share. A point is
// a rank, or a machine.
#pragma once

#include "gc3/Algorithm/Algorithm.h"
#include "gc3/Topology/Lattice.h"

#include <functional>

namespace gc3::greedy {

class Symmetric {
public:
  /// Nothing if points do not look alike to each other, or do not want the same of each other, or if it was stopped.
  static std::optional<Symmetric> find(const topology::Topology &topology, const algorithm::Demand &demand,
                                       const std::function<bool()> &stops);

  /// The chunks that begin on the first point.
  const algorithm::Demand &share() const { return ownDemand; }
  /// The same links; over all links of a class together go as many chunks as over one, since other points' chunks
  /// take the others.
  const topology::Topology &topology() const { return ownTopology; }

  /// How many times as much as the share the whole is.
  uint32_t points() const { return classes.points(); }
  /// By rank, the one of the first point that it does like.
  std::vector<uint32_t> orbits() const;

  /// From what is done with the share, what all do.
  algorithm::Algorithm expand(const algorithm::Algorithm &ofShare) const;

private:
  Symmetric(const topology::Topology &whole, topology::LinkClasses classes)
      : lattice(whole), classes(std::move(classes)), ownTopology(whole) {}
  bool alignChunks(const algorithm::Demand &demand, const std::function<bool()> &stops);
  void takeShare(const algorithm::Demand &demand);
  void limitLinks(const topology::Topology &whole);

  topology::Lattice lattice;
  topology::LinkClasses classes;
  std::vector<uint32_t> classOf; ///< by link
  uint32_t perPoint = 0;         ///< chunks
  std::vector<uint32_t> chunks;  ///< of point p, from p * perPoint on: what corresponds to the chunks of the first
  topology::Topology ownTopology;
  algorithm::Demand ownDemand;
};

} // namespace gc3::greedy
