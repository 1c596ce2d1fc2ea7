// SPDX-License-Identifier: Apache-2.0
// Trace files of the ranks of several processes. Ranks that each have their own GPU have one file for each GPU, and
// ranks on the host have one file for each process. If all GPUs or processes of a job have the same first communicator,
// no two of them write to the same file, all files count time from the same moment, and in this communicator, no two
// ranks have the same process number.
#pragma once

#include "trace/TraceFile.h"

namespace gc3::trace {

/// A rank that has joined a communicator; for a process, the lowest of its ranks.
struct JoinedRank {
  uint32_t rank, ranks;
  uint64_t joined; ///< moment at which rank 0 joined, by its machine's wall clock, in nanoseconds
};

/// Returns the wall clock, in nanoseconds.
uint64_t wallClock();

/// Stands for a GPU if ranks are on the host.
constexpr int noGpu = -1;

/// Returns the trace file for a GPU of this process, or null if it cannot be written. The first rank that requests the
/// file names it, in whatever communicator that rank is. The rank's number replaces "%r" in `pattern`. If there is no
/// "%r", the number is inserted before the ending. In the first communicator, the process number of each rank is its
/// rank. Each further communicator gets the process numbers that follow.
TraceFile *fileOfGpu(const std::string &pattern, int device, const JoinedRank &rank);

} // namespace gc3::trace
