// SPDX-License-Identifier: Apache-2.0
#include "Results.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace gc3::tune {

static std::string textOfRange(const Serving &serving) {
  if (serving.maxBytes == ir::ProgramInfo::NoLimit)
    return serving.minBytes == 0 ? "all sizes" : std::to_string(serving.minBytes) + " bytes or more";
  return std::to_string(serving.minBytes) + " to " + std::to_string(serving.maxBytes - 1) + " bytes";
}

static void printContest(llvm::raw_ostream &out, const CommandLine &line, const Contest &contest) {
  out << "# " << contest.label << " on " << contest.ranks << " ranks";
  if (contest.root >= 0)
    out << ", root " << contest.root;
  out << ": " << contest.candidates.size() << " candidates, "
      << (line.timing == Timing::Simulator ? "simulated"
          : line.timing == Timing::Learned ? "learned"
                                           : "measured")
      << "\n#       size     time (us)     best (us)   loss";
  const bool hasBaseline = !contest.table.baseline.empty();
  out << (hasBaseline ? "     nccl (us)  speed-up" : "") << "  program\n";
  for (uint32_t size = 0; size < contest.table.sizes; ++size) {
    const Serving &serving = contest.servingOf(size);
    const double time = contest.table.at(serving.candidate, size), best = contest.table.best(size);
    out << llvm::format("%12llu %13.2f %13.2f %5.1f%%", static_cast<unsigned long long>(contest.sizes[size]), time,
                        best, 100 * (time / best - 1));
    if (hasBaseline && std::isfinite(contest.table.baseline[size]))
      out << llvm::format(" %13.2f %9.2f", contest.table.baseline[size], contest.table.baseline[size] / time);
    else if (hasBaseline)
      out << "             -         -";
    out << "  " << serving.name << '\n';
  }
  if (line.againstNccl && !hasBaseline)
    out << "# NCCL's model has no time for " << contest.label << '\n';
  out << "# largest loss: " << llvm::format("%.1f %%", 100 * contest.choice.loss) << '\n';
  for (const Serving &serving : contest.servings)
    out << "# " << textOfRange(serving) << ": " << serving.name << '\n';
}

void printTable(llvm::raw_ostream &out, const CommandLine &line, const Candidates &candidates,
                const std::vector<Contest> &contests) {
  for (const Contest &contest : contests)
    printContest(out, line, contest);
  for (const std::string &each : candidates.describeDropped())
    out << "# dropped: " << each << '\n';
  const auto equal = llvm::count_if(candidates.dropped(), [](const Dropped &each) { return each.isEqual; });
  if (equal > 0)
    out << "# dropped because they equal other candidates: " << equal << '\n';
}

} // namespace gc3::tune
