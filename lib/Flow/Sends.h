// SPDX-License-Identifier: Apache-2.0
// Cuts a flow into the paths of chunks.
#pragma once

#include "Layers.h"
#include "gc3/Algorithm/Algorithm.h"

namespace gc3::flow {

/// Returns the algorithm in which step s loads the arcs of `graph` as loads[s] says. `sourceOf` has the rank on which
/// each chunk starts. Removes the sends with which a chunk returns to a rank. Linear in the loads, and in the hops of
/// all chunks.
algorithm::Algorithm sendsOf(const StepGraph &graph, const topology::Topology &topology,
                             const std::vector<uint32_t> &sourceOf, const std::vector<uint32_t> &rounds,
                             const std::vector<std::vector<Load>> &loads);

} // namespace gc3::flow
