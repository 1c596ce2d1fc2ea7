// SPDX-License-Identifier: Apache-2.0
// What gc3-synth says: progress, programs, JSON.
#pragma once

#include "Search.h"

namespace gc3::synth {

/// "allgather on dgx1, 6 chunks, 3 steps, 7 rounds: satisfiable, 0.41 s, bandwidth-optimal"
std::string describe(const Trial &trial);

/// The text of a file with a program for each algorithm that was found and is the fastest for some sizes.
std::string programs(const CommandLine &line, const Result &result);

/// All trials: what was asked for, the bounds, and what came of it.
std::string json(const CommandLine &line, const Result &result);

} // namespace gc3::synth
