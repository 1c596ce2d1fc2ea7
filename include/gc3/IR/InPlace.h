// SPDX-License-Identifier: Apache-2.0
// Buffer placement of in-place calls in runtimes that know two addresses but no aliases (MSCCL).
#pragma once

#include "gc3/IR/Collective.h"

namespace gc3::ir {

/// A rank whose buffers such a runtime places differently from the collective.
struct Misplaced {
  uint32_t rank;
  bool inputInside; ///< the runtime treats the input as the inner buffer
  uint64_t begin;   ///< the chunk of the outer buffer at which the inner one begins in the runtime
};

/// Returns the first such rank of a collective that is in place on some rank; otherwise nothing. The runtime starts
/// both buffers of a rank at one address. If `called`, the collective's name in the file, is a standard collective
/// whose smaller buffer is a part of the larger one (such as `allgather`), the smaller buffer starts at the rank's
/// part, as in NCCL. A rank with only one buffer is never misplaced.
std::optional<Misplaced> firstMisplaced(const Collective &collective, const std::string &called);

/// Describes where the collective has the inner buffer of such a rank: "apart from its output" or "in its output from
/// chunk 3 on".
std::string describePlacement(const Collective &collective, const Misplaced &misplaced);

} // namespace gc3::ir
