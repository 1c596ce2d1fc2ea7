// SPDX-License-Identifier: Apache-2.0
// Automorphisms of a topology and a demand, and the algorithms that they leave unchanged. A solver needs only a
// fraction of the variables to find such an algorithm, if one exists.
#pragma once

#include "gc3/Algorithm/Algorithm.h"
#include <map>
#include <vector>

namespace gc3::synth {

/// Renames ranks, links, bounds and chunks, so that topology and demand stay the same.
struct Automorphism {
  std::vector<uint32_t> ranks, links, bounds, chunks;
};

/// Returns generators of a group in which only the identity maps a rank to itself. A short search determines the group.
/// Each generator enlarges the group. Returns no generators if some ranks differ from all others in their links or
/// bounds (as a root does), or if there are more than 64 ranks.
std::vector<Automorphism> freeGroup(const topology::Topology &topology, const algorithm::Demand &demand);

/// Returns the ranks of a chunk's sources and then of its targets, mapped by `map` unless it is null. Chunks with equal
/// results are equivalent.
std::vector<uint32_t> chunkClass(const algorithm::Demand &demand, uint32_t chunk, const std::vector<uint32_t> *map);
/// Returns the chunks by class.
std::map<std::vector<uint32_t>, std::vector<uint32_t>> chunkClasses(const algorithm::Demand &demand);

/// Orbits of a group: sets of chunks, links or bounds that the group maps to each other. The name of an orbit is its
/// least member. The chunks of a class are divided into `waves` waves. Each wave sends as the wave before it, one step
/// later, so a broadcast becomes a pipeline.
struct Symmetry {
  bool isTrivial = true; ///< only the identity, and one wave
  uint32_t waves = 1;
  std::vector<uint32_t> delay; ///< by chunk: number of steps, less than `waves`, by which its sends follow the sends of
                               ///< the first chunk of its orbit
  std::vector<uint32_t> chunk, link, bound;
  std::vector<uint32_t> chunkOnRank; ///< orbit of a chunk on a rank, by chunk * ranks + rank
  std::vector<uint32_t> chunkOnLink; ///< orbit of a chunk on a link, by chunk * links + link
};

/// Returns the orbits of the group that the first `count` generators generate. Without generators, the group contains
/// only the identity. `waves` must divide the size of every class.
Symmetry orbits(const topology::Topology &topology, const algorithm::Demand &demand,
                const std::vector<Automorphism> &generators, size_t count, uint32_t waves);

} // namespace gc3::synth
