// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator are distributed over nodes, and which programs fit that. A node has the ranks of one
// host, or of one NVLink domain. All ranks compute the wiring from the same data, so it is identical on all of them.
#pragma once

#include "core/Identity.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gc3::core {

/// The order of ranks on nodes that have equally many ranks.
enum class RankOrder : uint8_t {
  Blocked, ///< a node has consecutive ranks
  Cyclic,  ///< consecutive ranks are on consecutive nodes
  Other,
};

struct Wiring {
  uint32_t nodes = 0;       ///< 0: unknown
  uint32_t ranksOfNode = 0; ///< 0: unknown, or not equal on all nodes
  RankOrder order = RankOrder::Blocked;
  /// If the order is not Blocked: the numbers that the ranks would have if it was. Empty: programs don't renumber
  /// ranks.
  std::vector<uint32_t> places{};

  /// Returns the wiring of ranks whose nodes are known, by rank. Ranks with equal numbers share a node.
  static Wiring of(std::span<const uint64_t> nodeOfRank);
  /// Returns the wiring of `nodes` nodes of equally many consecutive ranks. `nodes` divides `ranks`.
  static Wiring ofBlocks(uint32_t ranks, uint32_t nodes);
  /// Returns a text such as "2 nodes of 8 ranks in cyclic order".
  std::string text() const;
  bool operator==(const Wiring &) const = default;
};

/// Returns gc3InvalidArgument unless the application's number of nodes divides the number of ranks; 0: not stated.
Outcome checkNodes(uint64_t nodes, uint32_t ranks);

/// How a program's `nodes` relate to a wiring. A better program has a smaller value.
enum class WiringFit : uint8_t {
  Exact, ///< the program is for this wiring, maybe with renumbered ranks
  Any,   ///< the program is for any wiring
  None,  ///< the program is for another wiring
};
WiringFit fitOf(const bundle::fbs::Program &program, const Wiring &wiring);

/// Returns the wiring for communicators whose programs may promise something else than their collectives. Then a
/// program with renumbered ranks can give other results, so no program renumbers ranks.
Wiring withoutPlaces(Wiring wiring);

/// Returns whether a program serves calls with its ranks renumbered by `wiring.places`. It does if it is for these
/// nodes, the ranks have another order, and its result does not depend on their numbers, as that of an AllReduce.
bool isRenumbered(const bundle::fbs::Program &program, const Wiring &wiring);

/// Returns why a program whose fit is None does not serve calls, as a clause that follows its name.
std::string misfitText(const bundle::fbs::Program &program, const Wiring &wiring);

/// Sorts programs of `file` by their fit. Programs of equal fit have the order of the bundle. Allocates nothing.
void sortByFit(std::vector<uint32_t> &programs, const bundle::BundleFile &file, const Wiring &wiring);

/// Logs the wiring of a new communicator, and the programs that are for another one. Does nothing if no program for
/// its number of ranks is for a wiring, or without GC3_DEBUG=INFO. `name` is the communicator's; empty: it has none.
void logWiring(Files files, uint32_t ranks, const Wiring &wiring, const std::string &name);

} // namespace gc3::core
