// SPDX-License-Identifier: Apache-2.0
// Traces of ranks that have a GPU each: a file for each GPU of a process, so that no two ranks of a job write into one.
// All of them count time from the same moment, and number processes so that no two in them are alike.
#pragma once

#include "trace/TraceFile.h"

namespace gc3::trace {

/// A rank that has joined a communicator.
struct JoinedRank {
  uint32_t rank, ranks;
  uint64_t joined; ///< when rank 0 did, by its machine's wall clock
};

/// The wall clock, in nanoseconds.
uint64_t wallClock();

/// The file for a GPU of this process. It has the name of the rank that is asked for first, of whatever communicator:
/// "%r" in `pattern` is its number; where there is no "%r", that comes before the ending. That rank is a process of its
/// number in the file; for each further communicator the numbers go on behind all ranks of the first.
TraceFile *fileOfGpu(const std::string &pattern, int device, const JoinedRank &rank);

} // namespace gc3::trace
