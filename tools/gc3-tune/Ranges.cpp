// SPDX-License-Identifier: Apache-2.0
#include "Ranges.h"
#include <cmath>

namespace gc3::tune {

/// Returns the number of elements from which on the second range's server is faster, found by bisection. The result is
/// between the last size of `first` and the first size of `second`.
static uint64_t findCrossover(const Timer &timer, const Contest &contest, const Range &first, const Range &second) {
  uint64_t low = contest.counts[first.end - 1], high = contest.counts[second.begin];
  while (high - low > 1 && static_cast<double>(high) > 1.02 * static_cast<double>(low)) {
    const auto middle =
        static_cast<uint64_t>(std::sqrt(static_cast<double>(std::max<uint64_t>(low, 1)) * static_cast<double>(high)));
    const uint64_t count = std::min(std::max(middle, low + 1), high - 1);
    const bool isFaster = timer.at(contest, second.candidate, count) < timer.at(contest, first.candidate, count);
    (isFaster ? high : low) = count;
  }
  return high;
}

void chooseRanges(const CommandLine &line, const Timer &timer, Contest &contest) {
  contest.choice = choose(contest.table, line.programs, line.within);
  const bool hasBaseline = !contest.table.baseline.empty();
  uint64_t begin = 0;
  const auto serve = [&](uint32_t candidate, uint64_t end) {
    const bool isSame = !contest.servings.empty() && contest.servings.back().candidate == candidate;
    if (isSame)
      contest.servings.back().maxBytes = end;
    else if (begin < end)
      contest.servings.push_back({candidate, "", begin, end});
    begin = end;
  };
  if (hasBaseline) // leaves sizes that were not compared to the baseline
    serve(TimeTable::Baseline, contest.sizes.front());
  for (const Range &range : contest.choice.ranges) {
    const bool isLast = range.end == contest.table.sizes;
    if (isLast)
      serve(range.candidate, hasBaseline ? contest.sizes.back() + 1 : ir::ProgramInfo::NoLimit);
    else
      serve(range.candidate, timer.bytesOf(contest, findCrossover(timer, contest, range, *(&range + 1))));
  }
  if (hasBaseline)
    serve(TimeTable::Baseline, ir::ProgramInfo::NoLimit);
}

const Serving &Contest::servingOf(uint32_t size) const {
  size_t i = 0;
  while (servings[i].maxBytes <= sizes[size])
    ++i;
  return servings[i];
}

} // namespace gc3::tune
