// SPDX-License-Identifier: Apache-2.0
// What cuts tell of an instance.
#pragma once

#include "gc3/Synth/Synthesis.h"

namespace gc3::synth {

/// By link, whether it has to take all that it can in every one of so many rounds, since what must cross some cut is as
/// much as all its links let through. The cuts are those of lowerBounds().
std::vector<uint8_t> fullLinks(const topology::Topology &topology, const algorithm::Demand &demand, uint32_t rounds);

} // namespace gc3::synth
