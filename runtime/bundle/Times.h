// SPDX-License-Identifier: Apache-2.0
// The times of calls that a bundle stores (docs/bundle.md). They are hints: no result of a call depends on them.
#pragma once

#include "Bundle_generated.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace gc3::bundle {

/// Returns the points of a stored list. It is empty if the bundle has no list.
std::span<const fbs::TimePoint> pointsOf(const flatbuffers::Vector<const fbs::TimePoint *> *list);

/// Returns NCCL's times for the collective of this form on `ranks` ranks. The list is empty if the bundle has none.
std::span<const fbs::TimePoint> baselineTimes(const fbs::Manifest &manifest, std::string_view form, uint32_t ranks);

/// Returns the time of a call of `bytes` bytes, or NaN if there are no points. `times` ascends by bytes. Between two
/// points, the time is on a line in a plot with logarithmic axes. Calls below the first point take its time, because
/// latency determines it. Above the last point the time is proportional to the bytes, because bandwidth determines it.
/// O(log times).
double microsecondsAt(std::span<const fbs::TimePoint> times, uint64_t bytes);

/// Returns the time of a call of the program, or NaN if the bundle has no times for the program.
inline double predictedMicroseconds(const fbs::Program &program, uint64_t bytes) {
  return microsecondsAt(pointsOf(program.times()), bytes);
}

} // namespace gc3::bundle
