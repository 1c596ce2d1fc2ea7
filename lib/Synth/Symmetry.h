// SPDX-License-Identifier: Apache-2.0
// Automorphisms of a topology that a demand shares, and the algorithms that they leave as they are: a solver finds one
// of these in a fraction of the variables, if there is one.
#pragma once

#include "gc3/Algorithm/Algorithm.h"
#include <map>
#include <vector>

namespace gc3::synth {

/// Renames ranks, and what goes with them, so that topology and demand stay the same.
struct Automorphism {
  std::vector<uint32_t> ranks, links, bounds, chunks;
};

/// Generators of a group of which nothing but the identity leaves any rank where it is, as large as a short search
/// finds it; each makes the group of those before it larger. Ranks with links or bounds unlike any others', as a root,
/// mean that there is none. Up to 64 ranks are looked at.
std::vector<Automorphism> freeGroup(const topology::Topology &topology, const algorithm::Demand &demand);

/// The ranks of a chunk's sources and of its targets, after `map` if there is one: what makes chunks alike.
std::vector<uint32_t> chunkClass(const algorithm::Demand &demand, uint32_t chunk, const std::vector<uint32_t> *map);
/// Chunks by their class.
std::map<std::vector<uint32_t>, std::vector<uint32_t>> chunkClasses(const algorithm::Demand &demand);

/// Orbits of a group: what it can make of each other. Each is named by its least member. In `waves`, chunks of a class
/// do, one step after the other, what the first ones do: so a broadcast goes through a pipeline.
struct Symmetry {
  bool isTrivial = true; ///< nothing but the identity, and one wave
  uint32_t waves = 1;
  std::vector<uint32_t>
      delay; ///< by chunk, less than `waves`: it is sent so many steps later than the first of its orbit
  std::vector<uint32_t> chunk, link, bound;
  std::vector<uint32_t> chunkOnRank; ///< by chunk * ranks + rank
  std::vector<uint32_t> chunkOnLink; ///< by chunk * links + link
};

/// The group that the first `count` generators make; none: that of the identity. `waves` must divide the size of every
/// class.
Symmetry orbits(const topology::Topology &topology, const algorithm::Demand &demand,
                const std::vector<Automorphism> &generators, size_t count, uint32_t waves);

} // namespace gc3::synth
