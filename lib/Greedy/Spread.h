// SPDX-License-Identifier: Apache-2.0
// Routes for chunks with one target each, which use links and bounds evenly: an integral multi-commodity flow. Shortest
// paths can overload a link that a slightly longer path avoids.
#pragma once

#include "gc3/Algorithm/Algorithm.h"
#include <functional>

namespace gc3::greedy {

class Spread {
public:
  /// Each chunk must have one target rank.
  Spread(const topology::Topology &topology, const algorithm::Demand &demand);

  /// Chooses the routes, and finds the bound. Stops early if `stops` returns true.
  void run(const std::function<bool()> &stops);

  /// Returns the links of the chunk's route.
  const std::vector<uint32_t> &route(uint32_t chunk) const { return routes[chunk]; }
  /// Returns 1 for an idle link, and up to 16 for a full one. Chunks with full links ahead should leave early.
  uint32_t urgency(uint32_t link) const;
  /// No algorithm has fewer rounds. The bound follows from linear programming duality: with any lengths of links, the
  /// chunks need at least the sum of their distances, and a round provides at most the sum of capacities times lengths.
  uint64_t leastRounds() const { return least; }

private:
  void choose(const std::function<bool()> &stops);
  void prove(const std::function<bool()> &stops);
  std::vector<double> weightsOf(const std::vector<double> &loads, double scale) const;
  void setLengths(const std::vector<double> &weights);
  void findPaths(uint32_t source);
  std::vector<uint32_t> pathTo(uint32_t rank) const;
  void reroute(uint32_t chunk);
  void addLoad(const std::vector<uint32_t> &route, double chunks, std::vector<double> &loads) const;
  double pressure() const;
  void raiseBound(const std::vector<double> &weights);

  const topology::Topology &topology;
  const topology::BoundsOfLinks boundsOf;
  const topology::LinksOfRanks outgoing;
  std::vector<std::vector<uint32_t>> chunksOf; ///< by source
  std::vector<uint32_t> targets;               ///< by chunk
  std::vector<std::vector<uint32_t>> routes;   ///< by chunk
  // A resource is a link or a bound.
  std::vector<uint32_t> capacity; ///< by resource: chunks per round
  std::vector<double> load;       ///< by resource: chunks of all routes
  std::vector<double> lengths;    ///< by link
  // The result of findPaths().
  std::vector<double> distance;
  std::vector<uint32_t> arrival; ///< by rank: the last link of its path
  uint64_t least = 0;
};

} // namespace gc3::greedy
