// SPDX-License-Identifier: Apache-2.0
#include "Results.h"
#include <cmath>

namespace gc3::tune {

static bool isChosen(const Contest &contest, uint32_t candidate) {
  for (const Serving &serving : contest.servings)
    if (serving.candidate == candidate)
      return true;
  return false;
}

static report::Section sectionOf(const Candidates &candidates, const Contest &contest) {
  report::Section section;
  section.title = contest.label + " on " + std::to_string(contest.ranks) + " ranks";
  section.sizes = contest.sizes;
  const auto known = [](double time) { return std::isfinite(time) ? time : report::NoValue; };
  section.curves.push_back({"the bundle", {}, false, {}});
  for (uint32_t size = 0; size < contest.table.sizes; ++size)
    section.curves[0].times.push_back(known(contest.table.at(contest.servingOf(size).candidate, size)));
  std::vector<uint32_t> curveOf(contest.candidates.size());
  for (const bool chosen : {true, false})
    for (uint32_t i = 0; i < contest.candidates.size(); ++i) {
      if (isChosen(contest, i) != chosen)
        continue;
      curveOf[i] = static_cast<uint32_t>(section.curves.size());
      report::Curve curve{nameOf(candidates, contest, i), {}, !chosen, {}};
      for (uint32_t size = 0; size < contest.table.sizes; ++size)
        curve.times.push_back(known(contest.table.at(i, size)));
      section.curves.push_back(std::move(curve));
    }
  if (!contest.table.baseline.empty()) {
    report::Curve curve{contest.baselineNames.empty() ? "NCCL" : "NCCL's model", {}, false, contest.baselineNames};
    for (double time : contest.table.baseline)
      curve.times.push_back(known(time));
    section.baseline.push_back(std::move(curve));
  }
  for (const Serving &serving : contest.servings)
    section.ranges.push_back(
        {serving.candidate == TimeTable::Baseline ? report::Range::Baseline : curveOf[serving.candidate],
         serving.minBytes, serving.maxBytes});
  return section;
}

report::Page pageOf(const CommandLine &line, const Candidates &candidates, const std::vector<Contest> &contests) {
  report::Page page;
  page.title = "Tuned programs";
  page.subtitle = line.timing == Timing::Simulator ? "simulated on " + line.topology
                  : line.timing == Timing::Learned ? "learned by jobs"
                                                   : "measured on this machine";
  for (const Contest &contest : contests)
    page.sections.push_back(sectionOf(candidates, contest));
  for (const std::string &each : candidates.describeDropped())
    page.notes.push_back("Dropped: " + each);
  return page;
}

} // namespace gc3::tune
