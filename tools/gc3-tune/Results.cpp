// SPDX-License-Identifier: Apache-2.0
#include "Results.h"
#include "Version.h"
#include "gc3/Emit/Bundle.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

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

std::string bundleOf(const Candidates &candidates, const std::vector<Contest> &contests) {
  std::vector<ir::Program> programs;
  std::vector<const verify::Verdict *> verdicts;
  for (const Contest &contest : contests)
    for (const Serving &serving : contest.servings) {
      if (serving.candidate == TimeTable::Baseline)
        continue;
      const Candidate &candidate = candidates.all()[contest.candidates[serving.candidate]];
      programs.push_back(renamed(candidate.program, serving.name, serving.minBytes, serving.maxBytes));
      verdicts.push_back(&candidate.verdict);
    }
  std::vector<emit::VerifiedProgram> verified;
  for (size_t i = 0; i < programs.size(); ++i)
    verified.push_back({&programs[i], verdicts[i]->proven, verdicts[i]->minSlots, verdicts[i]->wholeSlots});
  return emit::writeBundle(verified, driver::version());
}

std::string nameOf(const Candidates &candidates, const Contest &contest, uint32_t candidate) {
  return candidate == TimeTable::Baseline ? "nccl" : candidates.all()[contest.candidates[candidate]].name;
}

} // namespace gc3::tune
