// SPDX-License-Identifier: Apache-2.0
// Placement of in-place buffers in runtimes that know the address of each buffer, but not their overlap (MSCCL).
#pragma once

#include "gc3/IR/Collective.h"

namespace gc3::ir {

/// A rank on which such a runtime places the buffers differently from the collective.
struct Misplaced {
  uint32_t rank;
  bool inputInside; ///< true: the runtime treats the input as the inner buffer
  uint64_t begin;   ///< chunk of the outer buffer at which the runtime begins the inner buffer
};

/// Returns the first such rank, or nothing. Returns nothing for a collective that is out of place on all ranks.
/// `called` is the collective's name in the file. If it names a standard collective whose smaller buffer is a part of
/// the larger one (such as `allgather`), the runtime starts the smaller buffer at the rank's part, as NCCL does.
/// Otherwise it starts both buffers of a rank at one address. A rank with only one buffer is never misplaced.
std::optional<Misplaced> firstMisplaced(const Collective &collective, const std::string &called);

/// Describes where the collective places the inner buffer of such a rank: "apart from its output" or "in its output
/// from chunk 3 on".
std::string describePlacement(const Collective &collective, const Misplaced &misplaced);

} // namespace gc3::ir
