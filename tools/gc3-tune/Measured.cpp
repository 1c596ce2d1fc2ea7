// SPDX-License-Identifier: Apache-2.0
// Measures the candidates with gc3-run's runner. Each round runs all candidates at all sizes, so that noise affects all
// of them equally. The shortest time of a call counts.
#include "Runner.h"
#include "Timing.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <map>

namespace gc3::tune {

/// Runs all candidates once at these sizes, and keeps the shorter times.
std::string Timer::measureOnce(const std::string &path, const sim::CallOptions &sizes,
                               std::vector<Contest> &contests) const {
  run::Options options;
  options.bundle = path, options.program = "all";
  options.minBytes = sizes.minBytes, options.maxBytes = sizes.maxBytes, options.factor = sizes.factor;
  options.types = {static_cast<gc3DataType_t>(line.type)};
  options.check = false, options.quiet = true;
  options.backend = line.timing == Timing::Cuda ? run::Backend::Cuda : run::Backend::Host;
  const auto &all = candidates.all();
  const auto isInPlace = [](const Candidate &each) { return each.program.info->collective.inPlace(); };
  options.inPlace = std::any_of(all.begin(), all.end(), isInPlace);
  options.outOfPlace = !std::all_of(all.begin(), all.end(), isInPlace);
  run::Job job;
  run::Summary summary;
  if (std::string problem = run::Runner(options, job).run(summary); !problem.empty())
    return problem.substr(problem.compare(0, path.size(), path) == 0 ? path.size() + 2 : 0);
  std::map<std::pair<std::string, uint64_t>, const run::Row *> rows;
  for (const run::Row &row : summary.rows)
    rows[{row.program, row.count}] = &row;
  for (Contest &contest : contests)
    for (uint32_t i = 0; i < contest.candidates.size(); ++i)
      for (uint32_t size = 0; size < contest.table.sizes; ++size) {
        const Candidate &candidate = all[contest.candidates[i]];
        const auto row = rows.find({candidate.name, contest.counts[size]});
        if (row == rows.end())
          continue;
        const run::Measurement &own = row->second->placement[isInPlace(candidate)];
        double &time = contest.table.times[size_t(i) * contest.table.sizes + size];
        if (own.microseconds > 0)
          time = std::min(time, own.microseconds);
      }
  return {};
}

std::string Timer::measureAll(std::vector<Contest> &contests) {
  for (const Contest &contest : contests) // before the measurements, which take long
    if (std::string problem = checkRanks(contest); !problem.empty())
      return problem;
  int descriptor = -1;
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("gc3-tune", "gc3b", descriptor, path))
    return "cannot create a temporary file: " + error.message();
  llvm::sys::RemoveFileOnSignal(path);
  const auto remove = llvm::make_scope_exit([&] {
    llvm::sys::fs::remove(path);
    llvm::sys::DontRemoveFileOnSignal(path);
  });
  {
    llvm::raw_fd_ostream out(descriptor, /*shouldClose=*/true);
    out << bytes;
    out.close();
    if (out.has_error()) {
      std::string problem = "cannot write '" + path.str().str() + "': " + out.error().message();
      out.clear_error();
      return problem;
    }
  }
  for (uint32_t round = 0; round < line.rounds; ++round) {
    if (!line.quiet)
      llvm::errs() << "gc3-tune: measures, round " << round + 1 << " of " << line.rounds << '\n';
    if (std::string problem = measureOnce(path.str().str(), calls, contests); !problem.empty())
      return problem;
    if (const auto largest = largestCall())
      if (std::string problem = measureOnce(path.str().str(), *largest, contests); !problem.empty())
        return problem;
  }
  return {};
}

} // namespace gc3::tune
