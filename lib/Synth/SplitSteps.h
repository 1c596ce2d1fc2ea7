// SPDX-License-Identifier: Apache-2.0
// Splits steps into more steps of fewer rounds.
#pragma once

#include "gc3/Synth/Synthesis.h"

namespace gc3::synth {

/// Returns the same sends in `shape.steps` steps of `shape.rounds` rounds in all, neither fewer than `algorithm` has:
/// steps with several rounds are cut into steps with fewer. Without bounds over several links this is always possible.
/// Returns nothing if such bounds do not admit the sends that remain for the last parts.
std::optional<algorithm::Algorithm> splitSteps(const topology::Topology &topology,
                                               const algorithm::Algorithm &algorithm, Shape shape);

} // namespace gc3::synth
