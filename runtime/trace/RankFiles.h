// SPDX-License-Identifier: Apache-2.0
// Traces of ranks that have a GPU each: a process has a file for each of its GPUs, so that no two ranks of a job write
// to the same file. All files count time from the same moment, and no two ranks have the same process number.
#pragma once

#include "trace/TraceFile.h"

namespace gc3::trace {

/// A rank that has joined a communicator.
struct JoinedRank {
  uint32_t rank, ranks;
  uint64_t joined; ///< moment at which rank 0 joined, by its machine's wall clock, in nanoseconds
};

/// Returns the wall clock, in nanoseconds.
uint64_t wallClock();

/// Returns the file for a GPU of this process, or null if it cannot be written. The first rank that requests it, of any
/// communicator, names the file: its number replaces "%r" in `pattern`, or is inserted before the ending if there is no
/// "%r". The process number of a rank of the first communicator is its rank. The process numbers of each further
/// communicator follow.
TraceFile *fileOfGpu(const std::string &pattern, int device, const JoinedRank &rank);

} // namespace gc3::trace
