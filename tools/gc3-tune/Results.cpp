// SPDX-License-Identifier: Apache-2.0
#include "Results.h"
#include "Version.h"
#include "gc3/Emit/Bundle.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <algorithm>
#include <cmath>

namespace gc3::tune {

void nameServings(const Candidates &candidates, std::vector<Contest> &contests) {
  llvm::StringSet<> taken; // a repeated name must also differ from those of other candidates
  for (const Candidate &each : candidates.all())
    taken.insert(each.name);
  llvm::StringMap<unsigned> uses;
  for (Contest &contest : contests)
    for (Serving &serving : contest.servings) {
      serving.name = nameOf(candidates, contest, serving.candidate);
      if (serving.candidate == TimeTable::Baseline)
        continue;
      const std::string plain = serving.name;
      for (unsigned &number = uses[plain]; ++number > 1;) {
        serving.name = plain + "_again" + std::to_string(number);
        if (taken.insert(serving.name).second)
          break;
      }
    }
}

/// Returns the times of a candidate, or of the baseline, at the sizes at which it can run.
static std::vector<ir::TimePoint> timesOf(const Contest &contest, uint32_t candidate) {
  std::map<uint64_t, double> times;
  if (!contest.earlier.empty())
    times = contest.earlier[std::min(candidate, contest.table.candidates)];
  const bool isTimed = candidate != TimeTable::Baseline || !contest.table.baseline.empty();
  for (uint32_t size = 0; size < contest.table.sizes && isTimed; ++size)
    if (const double time = contest.table.at(candidate, size);
        std::isfinite(time) && time > 0 && contest.sizes[size] > 0)
      times[contest.sizes[size]] = time;
  std::vector<ir::TimePoint> points;
  for (const auto &[bytes, time] : times)
    points.push_back({bytes, time});
  return points;
}

std::string bundleOf(const Candidates &candidates, const std::vector<Contest> &contests) {
  std::vector<ir::Program> programs;
  std::vector<const verify::Verdict *> verdicts;
  std::vector<std::vector<ir::TimePoint>> times;
  std::vector<ir::Baseline> baselines;
  for (const Contest &contest : contests) {
    if (auto points = timesOf(contest, TimeTable::Baseline); !points.empty())
      baselines.push_back({contest.label, contest.ranks, std::move(points)});
    for (const Serving &serving : contest.servings) {
      if (serving.candidate == TimeTable::Baseline)
        continue;
      const Candidate &candidate = candidates.all()[contest.candidates[serving.candidate]];
      programs.push_back(renamed(candidate.program, serving.name, serving.minBytes, serving.maxBytes));
      verdicts.push_back(&candidate.verdict);
      times.push_back(timesOf(contest, serving.candidate));
    }
  }
  std::vector<emit::VerifiedProgram> verified;
  for (size_t i = 0; i < programs.size(); ++i)
    verified.push_back(
        {&programs[i], verdicts[i]->proven, verdicts[i]->minSlots, verdicts[i]->wholeSlots, std::move(times[i])});
  return emit::writeBundle(verified, driver::version(), baselines);
}

std::string nameOf(const Candidates &candidates, const Contest &contest, uint32_t candidate) {
  return candidate == TimeTable::Baseline ? "nccl" : candidates.all()[contest.candidates[candidate]].name;
}

} // namespace gc3::tune
