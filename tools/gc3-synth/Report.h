// SPDX-License-Identifier: Apache-2.0
// The output of gc3-synth: progress, programs, JSON.
#pragma once

#include "Search.h"

namespace gc3::synth {

/// Returns text such as "allgather on dgx1, 6 chunks, 3 steps, 7 rounds: satisfiable, 0.41 s, bandwidth-optimal".
std::string describe(const Trial &trial);

/// Returns the text of a file with a program for each algorithm that is the fastest for some sizes.
std::string programs(const CommandLine &line, const Result &result);

/// Returns the request and all trials as JSON. A trial has its shape, its bounds and its result.
std::string json(const CommandLine &line, const Result &result);

} // namespace gc3::synth
