// SPDX-License-Identifier: Apache-2.0
// Maximum flow and minimum cut of a directed network.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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

struct Network {
  uint32_t nodes = 0, source = 0, sink = 0;
  std::vector<Arc> arcs;
};

/// Returns a maximum flow, and also a minimum cut if the value is less than `wanted`. Returns nothing if `stops`
/// returns true, which the function calls several times a second. The method can begin at the source or at the sink.
/// This only changes the time, but by a factor of up to a hundred. So the function alternates between both, with limits
/// on the work that double. It begins with `fromSink`, and stores there what has succeeded. Adds the arcs and the
/// visits of nodes to `work`. Deterministic.
std::optional<MaxFlow> maxFlow(const Network &network, uint64_t wanted, bool &fromSink, uint64_t &work,
                               const std::function<bool()> &stops);

} // namespace gc3::flow
