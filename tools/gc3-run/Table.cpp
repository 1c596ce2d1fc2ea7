// SPDX-License-Identifier: Apache-2.0
// The table on stdout, in the columns of nccl-tests.
#include "Row.h"

#include "gc3/Common/StandardCollective.h"

#include <cinttypes>
#include <cstdio>
#include <filesystem>

namespace gc3::run {

double busFactor(const std::string &collective, int ranks) {
  double n = ranks;
  if (collective == "allreduce")
    return 2 * (n - 1) / n;
  const common::StandardCollective *standard = common::findStandard(collective);
  return standard && standard->isBlockwise() ? (n - 1) / n : 1;
}

double Summary::averageBusBandwidth() const {
  double sum = 0;
  int timed = 0;
  for (const Row &row : rows)
    for (const Measurement &measurement : row.placement)
      if (measurement.microseconds > 0) {
        sum += measurement.busbw;
        ++timed;
      }
  return timed ? sum / timed : 0;
}

void Table::addColumns(int programWidth, const std::string &titles, const std::string &units) {
  constexpr int title = 7; // "program"
  width = programWidth < title ? title : programWidth;
  moreTitles = titles, moreUnits = units;
}

void Table::header() const {
  if (options.quiet)
    return;
  std::printf("# gc3-run %d.%d.%d bundle %s\n", GC3_MAJOR, GC3_MINOR, GC3_PATCH, options.bundle.c_str());
  std::printf("# backend %s, order %s", backendName(options.backend),
              options.host.order == gc3OrderAdversarial ? "adversarial" : "fair");
  if (options.host.order == gc3OrderAdversarial)
    std::printf(", seed %" PRIu64, options.host.seed);
  std::printf(", check %d, rounds ", options.check ? 1 : 0);
  std::printf(options.rounds ? "%d\n" : "auto\n", options.rounds);
  if (options.processes > 1)
    std::printf("# processes %" PRIu32 "\n", options.processes);
}

void Table::group(const std::string &collective, int ranks, int root) const {
  if (options.quiet)
    return;
  std::printf("#\n# %s on %d ranks", collective.c_str(), ranks);
  if (root >= 0)
    std::printf(", root %d", root);
  std::printf("\n#\n# %61s %34s\n", "out-of-place", "in-place");
  std::printf("# %11s %12s %9s %7s %7s %9s %7s %7s %7s  %9s %7s %7s %7s  %-*s%s\n", "size", "count", "type", "redop",
              "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong", width, "program",
              moreTitles.c_str());
  std::printf("# %11s %12s %9s %7s %7s %9s %7s %7s %7s  %9s %7s %7s %7s%*s%s\n", "(B)", "(elements)", "", "", "",
              "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", "", width == 0 ? 0 : width + 2, "",
              moreUnits.c_str());
}

void Table::skipped(const std::string &collective, int ranks, uint64_t first, uint64_t last) const {
  if (options.quiet)
    return;
  std::printf("# no program of the bundle is for ");
  if (first == last)
    std::printf("size %" PRIu64, first);
  else
    std::printf("sizes %" PRIu64 " to %" PRIu64, first, last);
  std::printf(" bytes (%s on %d ranks)\n", collective.c_str(), ranks);
}

static void printMeasurement(const Measurement &measurement) {
  if (!measurement.measured) {
    std::printf(" %9s %7s %7s %7s ", "-", "-", "-", "-");
    return;
  }
  if (measurement.microseconds > 0)
    std::printf(measurement.microseconds < 99999 ? " %9.2f %7.2f %7.2f" : " %9.0f %7.2f %7.2f",
                measurement.microseconds, measurement.algbw, measurement.busbw);
  else
    std::printf(" %9s %7s %7s", "-", "-", "-");
  if (measurement.checked)
    std::printf(" %7" PRIu64 " ", measurement.wrong);
  else
    std::printf(" %7s ", "N/A");
}

void Table::row(const Row &row) const {
  if (options.quiet)
    return;
  std::printf("  %11" PRIu64 " %12" PRIu64 " %9s %7s %7d", row.bytes, row.count, row.type, row.op, row.root);
  printMeasurement(row.placement[0]);
  printMeasurement(row.placement[1]);
  std::printf(" %-*s%s\n", width, row.program.c_str(), row.columns.c_str());
  std::fflush(stdout);
}

void Table::note(const std::string &text) const {
  if (!options.quiet)
    std::printf("# %s\n", text.c_str());
}

void Table::footer(const Summary &summary) const {
  if (options.quiet)
    return;
  std::printf("#\n# Out of bounds values : %" PRIu64 " %s\n", summary.wrong, summary.wrong == 0 ? "OK" : "FAILED");
  std::printf("# Avg bus bandwidth    : %g\n#\n", summary.averageBusBandwidth());
  std::fflush(stdout);
}

void Table::trace(const std::string &path, bool isPartial) const {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  if (options.quiet || error) // a pipe has no size
    return;
  const bool isLarge = bytes >= 1'000'000;
  std::printf("# Trace                : %.1f %s in %s", static_cast<double>(bytes) / (isLarge ? 1e6 : 1e3),
              isLarge ? "MB" : "kB", path.c_str());
  if (options.processes > 1)
    std::printf(" and %" PRIu32 " files of other processes", options.processes - 1);
  if (isPartial && options.tracedSizes == 1)
    std::printf(", the first size only; --trace-sizes traces more");
  else if (isPartial)
    std::printf(", the first %" PRIu64 " sizes only", options.tracedSizes);
  std::printf("\n#\n");
}

} // namespace gc3::run
