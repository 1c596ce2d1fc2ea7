// SPDX-License-Identifier: Apache-2.0
// What all ranks of a lattice do alike, worked out for the chunks of one rank: a problem as large as its share.
#pragma once

#include "gc3/Algorithm/Algorithm.h"
#include "gc3/Topology/Lattice.h"

#include <functional>

namespace gc3::greedy {

class Symmetric {
public:
  /// Nothing if ranks do not look alike to each other, or do not want the same of each other,
  /// or if it was stopped.
  static std::optional<Symmetric> find(const topology::Topology &topology, const algorithm::Demand &demand,
                                       const std::function<bool()> &stops);

  /// The chunks that begin on rank 0.
  const algorithm::Demand &share() const { return ownDemand; }
  /// The same links; over all links of a class together go as many chunks as over one, since other ranks' chunks take
  /// the others.
  const topology::Topology &topology() const { return ownTopology; }

  /// From what is done with the share, what all ranks do.
  algorithm::Algorithm expand(const algorithm::Algorithm &ofShare) const;

private:
  Symmetric(const topology::Topology &whole, topology::LinkClasses classes)
      : lattice(whole.lattice), classes(std::move(classes)), ownTopology(whole) {}
  bool alignChunks(const algorithm::Demand &demand, const std::function<bool()> &stops);
  void takeShare(const algorithm::Demand &demand);
  void limitLinks(const topology::Topology &whole);

  topology::Lattice lattice;
  topology::LinkClasses classes;
  std::vector<uint32_t> classOf; ///< by link
  uint32_t perRank = 0;          ///< chunks
  std::vector<uint32_t> chunks;  ///< of rank r, from r * perRank on: what corresponds to the chunks of rank 0
  topology::Topology ownTopology;
  algorithm::Demand ownDemand;
};

} // namespace gc3::greedy
