// SPDX-License-Identifier: Apache-2.0
// Where the buffers of calls in place lie for runtimes that know no aliases, only two addresses: MSCCL's.
#pragma once

#include "gc3/IR/Collective.h"

namespace gc3::ir {

/// A rank whose buffers such a runtime places otherwise.
struct Misplaced {
  uint32_t rank;
  bool inputInside; ///< the input is the inner buffer for the runtime
  uint64_t begin;   ///< the chunk of the outer buffer with which the inner one begins for the runtime
};

/// The first such rank of a collective that is in place on any. Both buffers of a rank begin at one address; but where
/// `called`, the collective's name in the file, is `allgather` or `reduce_scatter`, callers give each rank its part of
/// the larger one, as NCCL has it. Ranks with one buffer alone are right.
std::optional<Misplaced> firstMisplaced(const Collective &collective, const std::string &called);

/// "apart from its output", "in its output from chunk 3 on": where the collective has the inner buffer of such a rank.
std::string describePlacement(const Collective &collective, const Misplaced &misplaced);

} // namespace gc3::ir
