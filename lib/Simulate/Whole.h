// SPDX-License-Identifier: Apache-2.0
// A call of all ranks, as far as it determines times: thread blocks with their lists of steps, connections, and the
// resources that transfers use. Equal lists of steps are stored once.
#pragma once

#include "StepTable.h"

namespace gc3::simulate {

struct Whole {
  static constexpr uint32_t None = UINT32_MAX;

  struct Block {
    uint32_t rank;
    uint32_t steps; ///< list in `table`
    uint32_t out, in;
    uint32_t batch;
    uint32_t firstAwaited, awaitedCount; ///< in `awaited`
    uint32_t firstUses;                  ///< list of resources for the first kind of its steps; others follow
  };

  StepTable table;
  std::vector<Block> blocks;
  std::vector<uint32_t> awaited; ///< thread blocks for which another one waits
  std::vector<Workload::Connection> connections;
  std::vector<ResourceUse> uses;
  std::vector<uint32_t> usesBegin = {0}; ///< list l of resources is uses[usesBegin[l] .. usesBegin[l + 1])
  std::vector<double> capacities;        ///< by resource

  std::span<const ResourceUse> usesOf(uint32_t list) const {
    return {uses.data() + usesBegin[list], uses.data() + usesBegin[list + 1]};
  }
  uint32_t kindsOf(const Block &block) const { return static_cast<uint32_t>(table.lists[block.steps].kinds.size()); }
};

/// Finds the routes of all connections, and lists the resources that steps and puts use. The blocks and the ends of the
/// connections must be known. `wire` is the number of bytes that the protocol stores for a byte of data. Returns the
/// ends of a connection without a route, as ranks, or nothing.
std::optional<std::pair<uint32_t, uint32_t>> addRoutes(const Fabric &fabric, kernel::Protocol protocol, double wire,
                                                       Whole &whole);

/// Reads a call. `arguments` has its geometry. Builds the image of one rank at a time. Returns an error text, or an
/// empty string.
std::string readWhole(const Call &call, const Fabric &fabric, const kernel::KernelArgs &arguments, double wire,
                      Whole &whole);

} // namespace gc3::simulate
