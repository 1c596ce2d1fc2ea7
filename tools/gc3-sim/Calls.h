// SPDX-License-Identifier: Apache-2.0
// Calls to simulate: their sizes, their type, and the protocol and slots that the runtime chooses for them on GPUs.
#pragma once

#include "core/Element.h"
#include "core/Program.h"
#include "gc3/Simulate/Simulate.h"
#include <set>

namespace gc3::sim {

struct CallOptions {
  uint64_t minBytes = 1 << 10, maxBytes = 64 << 20;
  uint64_t factor = 2;
  uint64_t stepBytes = 0; ///< if not 0, sizes grow by this number instead of by the factor
  core::ElementType type = core::ElementType::Float;
  uint32_t slots = 0;         ///< 0: the program's
  uint64_t slotBytes = 0;     ///< 0: the runtime's
  bool keepsProtocol = false; ///< uses a program's own protocol also where the runtime uses Simple
};

/// Returns why calls of the program use Simple instead of its own protocol, or an empty string.
std::string whySimple(const core::Program &program, const simulate::Fabric &fabric, const CallOptions &options);

/// Returns a warning if the topology has costs for some protocols, but none for one of these. Then calls under this
/// protocol seem faster than others. Returns an empty string if there is none.
std::string findFreeProtocol(const topology::Topology &topology, const std::set<kernel::Protocol> &used);

/// Returns a call of the program with `count` elements per block, for this fabric.
simulate::Call callOf(const core::Program &program, uint64_t count, const simulate::Fabric &fabric,
                      const CallOptions &options);

/// Returns the element counts of the sizes. Sizes are rounded down to whole elements; sizes that round to the same
/// count give one count.
std::vector<uint64_t> countsOf(const core::Program &program, const CallOptions &options);

} // namespace gc3::sim
