// SPDX-License-Identifier: Apache-2.0
// Automorphisms of a topology and a demand, and the algorithms that they leave unchanged. If there is such an
// algorithm, a solver needs only a fraction of the variables to find it.
#pragma once

#include "gc3/Algorithm/Algorithm.h"
#include <map>
#include <vector>

namespace gc3::synth {

/// Renames ranks, links, bounds and chunks, so that topology and demand stay the same.
struct Automorphism {
  std::vector<uint32_t> ranks, links, bounds, chunks;
};

/// Returns generators of a group in which only the identity leaves any rank in its place. The group is as large as a
/// short search finds it, and each generator enlarges it. Returns none if the links or bounds of some ranks are unlike
/// those of all others (as with a root), or if there are more than 64 ranks.
std::vector<Automorphism> freeGroup(const topology::Topology &topology, const algorithm::Demand &demand);

/// Returns the ranks of a chunk's sources and then of its targets, mapped by `map` unless it is null. Chunks with equal
/// results are equivalent.
std::vector<uint32_t> chunkClass(const algorithm::Demand &demand, uint32_t chunk, const std::vector<uint32_t> *map);
/// Returns the chunks by class.
std::map<std::vector<uint32_t>, std::vector<uint32_t>> chunkClasses(const algorithm::Demand &demand);

/// Orbits of a group: sets of things that the group maps to each other. Each is named by its least member. Chunks of a
/// class are divided into `waves`; each wave does, one step later, what the wave before it does. So a broadcast becomes
/// a pipeline.
struct Symmetry {
  bool isTrivial = true; ///< only the identity, and one wave
  uint32_t waves = 1;
  std::vector<uint32_t>
      delay; ///< by chunk, less than `waves`: steps by which its sends are later than those of the first of its orbit
  std::vector<uint32_t> chunk, link, bound;
  std::vector<uint32_t> chunkOnRank; ///< by chunk * ranks + rank
  std::vector<uint32_t> chunkOnLink; ///< by chunk * links + link
};

/// Returns the orbits of the group that the first `count` generators make; 0: of the identity. `waves` must divide the
/// size of every class.
Symmetry orbits(const topology::Topology &topology, const algorithm::Demand &demand,
                const std::vector<Automorphism> &generators, size_t count, uint32_t waves);

} // namespace gc3::synth
