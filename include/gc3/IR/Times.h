// SPDX-License-Identifier: Apache-2.0
// The times of calls, predicted or measured. They are no part of a program: a bundle stores them next to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gc3::ir {

/// The time of a call.
struct TimePoint {
  uint64_t bytes;      ///< size of the call, counted as ProgramInfo::minBytes; at least 1
  double microseconds; ///< finite, above 0
};

/// NCCL's times for a collective.
struct Baseline {
  std::string form; ///< Collective::form()
  uint32_t ranks;
  std::vector<TimePoint> times; ///< ascending by bytes, at least one
};

} // namespace gc3::ir
