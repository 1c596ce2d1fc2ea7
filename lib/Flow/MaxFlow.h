// SPDX-License-Identifier: Apache-2.0
// Maximum flow and minimum cut of a directed network.
#pragma once

#include <cstdint>
#include <vector>

namespace gc3::flow {

struct Arc {
  uint32_t from, to;
  uint32_t capacity; ///< at most INT32_MAX
};

struct MaxFlow {
  uint64_t value = 0;
  std::vector<uint32_t> flow;    ///< by arc
  std::vector<uint8_t> isBefore; ///< by node: 1 if the minimum cut has the node on the side of the source; empty if
                                 ///< the value is at least as large as wanted
};

/// Returns a maximum flow, and also a minimum cut if the value is less than `wanted`. Deterministic.
MaxFlow maxFlow(uint32_t nodes, const std::vector<Arc> &arcs, uint32_t source, uint32_t sink, uint64_t wanted);

} // namespace gc3::flow
