// SPDX-License-Identifier: Apache-2.0
// Splits steps into more steps of fewer rounds.
#pragma once

#include "gc3/Synth/Synthesis.h"

namespace gc3::synth {

/// Returns the sends of `algorithm` in `shape.steps` steps of `shape.rounds` rounds in total. Both numbers must be at
/// least those of `algorithm`. Cuts steps with several rounds into parts with fewer rounds. Without bounds over several
/// links this is always possible. Returns nothing if such a bound has no capacity left for a send in any part.
std::optional<algorithm::Algorithm> splitSteps(const topology::Topology &topology,
                                               const algorithm::Algorithm &algorithm, Shape shape);

} // namespace gc3::synth
