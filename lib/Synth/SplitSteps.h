// SPDX-License-Identifier: Apache-2.0
// More steps of fewer rounds.
#pragma once

#include "gc3/Synth/Synthesis.h"

namespace gc3::synth {

/// The same sends in `shape.steps` steps of `shape.rounds` rounds in all, no fewer than `algorithm` has of both: steps
/// with several rounds are cut into some with fewer. Over single links that can always be done. Nothing if bounds over
/// several links don't let through what is left for the last parts.
std::optional<algorithm::Algorithm> splitSteps(const topology::Topology &topology,
                                               const algorithm::Algorithm &algorithm, Shape shape);

} // namespace gc3::synth
