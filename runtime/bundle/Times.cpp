// SPDX-License-Identifier: Apache-2.0
#include "bundle/Times.h"

#include "select/Logarithm.h"

#include <algorithm>
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
    return select::logarithmOf1Plus(static_cast<double>(size - before.bytes()) / static_cast<double>(before.bytes()));
  };
  if (next == times.end())
    return before.microseconds() * (static_cast<double>(bytes) / static_cast<double>(before.bytes()));
  const double part = growth(bytes) / growth(next->bytes());
  const double factor = next->microseconds() / before.microseconds();
  const double power = factor >= 1 ? select::logarithmOf1Plus(factor - 1) : -select::logarithmOf1Plus(1 / factor - 1);
  return before.microseconds() * select::preciseExponential(part * power);
}

} // namespace gc3::bundle
