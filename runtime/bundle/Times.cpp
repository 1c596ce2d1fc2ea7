// SPDX-License-Identifier: Apache-2.0
#include "bundle/Times.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gc3::bundle {

std::span<const fbs::TimePoint> pointsOf(const flatbuffers::Vector<const fbs::TimePoint *> *list) {
  if (!list)
    return {};
  return {reinterpret_cast<const fbs::TimePoint *>(list->Data()), list->size()};
}

std::span<const fbs::TimePoint> baselineTimes(const fbs::Manifest &manifest, std::string_view form, uint32_t ranks) {
  if (manifest.baselines())
    for (const fbs::Baseline *baseline : *manifest.baselines())
      if (baseline->ranks() == ranks && baseline->form()->string_view() == form)
        return pointsOf(baseline->times());
  return {};
}

double microsecondsAt(std::span<const fbs::TimePoint> times, uint64_t bytes) {
  if (times.empty())
    return std::numeric_limits<double>::quiet_NaN();
  const auto next = std::lower_bound(times.begin(), times.end(), bytes,
                                     [](const fbs::TimePoint &point, uint64_t size) { return point.bytes() < size; });
  if (next == times.begin())
    return next->microseconds();
  const fbs::TimePoint &before = *std::prev(next);
  /// Returns the logarithm of the growth from the point before.
  const auto growth = [&](uint64_t size) {
    return std::log1p(static_cast<double>(size - before.bytes()) / static_cast<double>(before.bytes()));
  };
  if (next == times.end())
    return before.microseconds() * std::exp(growth(bytes));
  const double part = growth(bytes) / growth(next->bytes());
  return before.microseconds() * std::pow(next->microseconds() / before.microseconds(), part);
}

} // namespace gc3::bundle
