// SPDX-License-Identifier: Apache-2.0
#include "Results.h"
#include "Version.h"
#include "trace/Events.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace gc3::tune {

using trace::jsonString;

/// Returns the index of the fastest candidate of a size, or Baseline.
static uint32_t fastest(const TimeTable &table, uint32_t size) {
  uint32_t best = table.baseline.empty() ? 0 : TimeTable::Baseline;
  for (uint32_t candidate = 0; candidate < table.candidates; ++candidate)
    if (table.at(candidate, size) < table.at(best, size))
      best = candidate;
  return best;
}

static void writeNumber(llvm::raw_ostream &out, double value) {
  if (std::isfinite(value))
    out << llvm::format("%.15g", value);
  else
    out << "null";
}

static void writeTimes(llvm::raw_ostream &out, llvm::ArrayRef<double> times) {
  out << "[";
  for (size_t i = 0; i < times.size(); ++i) {
    out << (i ? ", " : "");
    writeNumber(out, times[i]);
  }
  out << "]";
}

static void writeCandidates(llvm::raw_ostream &out, const Candidates &candidates, const Contest &contest) {
  const char *separator = "\n      ";
  for (uint32_t i = 0; i < contest.candidates.size(); ++i) {
    const Candidate &candidate = candidates.all()[contest.candidates[i]];
    out << separator << "{\"name\": " << jsonString(candidate.name) << ", \"file\": " << jsonString(candidate.file)
        << ", \"defines\": {";
    for (size_t d = 0; d < candidate.defines.size(); ++d)
      out << (d ? ", " : "") << jsonString(candidate.defines[d].first) << ": "
          << jsonString(candidate.defines[d].second);
    out << "}, \"times\": ";
    writeTimes(out,
               llvm::ArrayRef<double>(contest.table.times).slice(size_t(i) * contest.table.sizes, contest.table.sizes));
    out << "}";
    separator = ",\n      ";
  }
}

static void writeRows(llvm::raw_ostream &out, const Candidates &candidates, const Contest &contest) {
  for (uint32_t size = 0; size < contest.table.sizes; ++size) {
    const Serving &serving = contest.servingOf(size);
    const double time = contest.table.at(serving.candidate, size), best = contest.table.best(size);
    out << (size ? ",\n      " : "\n      ") << "{\"size\": " << contest.sizes[size] << ", \"time\": ";
    writeNumber(out, time);
    out << ", \"program\": " << jsonString(serving.name) << ", \"best_time\": ";
    writeNumber(out, best);
    out << ", \"best\": " << jsonString(nameOf(candidates, contest, fastest(contest.table, size))) << ", \"loss\": ";
    writeNumber(out, time / best - 1);
    out << "}";
  }
}

static void writeRanges(llvm::raw_ostream &out, const Contest &contest) {
  const char *separator = "\n      ";
  for (const Serving &serving : contest.servings) {
    out << separator << "{\"program\": " << jsonString(serving.name) << ", \"min_bytes\": " << serving.minBytes
        << ", \"max_bytes\": ";
    if (serving.maxBytes == ir::ProgramInfo::NoLimit)
      out << "null}";
    else
      out << serving.maxBytes << "}";
    separator = ",\n      ";
  }
}

static void writeContest(llvm::raw_ostream &out, const Candidates &candidates, const Contest &contest) {
  out << "{\"collective\": " << jsonString(contest.label) << ", \"ranks\": " << contest.ranks
      << ", \"root\": " << contest.root << ", \"loss\": ";
  writeNumber(out, contest.choice.loss);
  out << ",\n     \"candidates\": [";
  writeCandidates(out, candidates, contest);
  out << "],\n     \"baseline\": ";
  writeTimes(out, contest.table.baseline);
  out << ",\n     \"rows\": [";
  writeRows(out, candidates, contest);
  out << "],\n     \"ranges\": [";
  writeRanges(out, contest);
  out << "]}";
}

std::string jsonOf(const CommandLine &line, const Candidates &candidates, const std::vector<Contest> &contests) {
  static constexpr const char *timings[] = {"simulator", "host", "cuda", "learned"};
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "{\n  \"tool\": " << jsonString("gc3-tune " + driver::version())
      << ",\n  \"topology\": " << jsonString(line.topology) << ",\n  \"timing\": \""
      << timings[static_cast<size_t>(line.timing)]
      << "\",\n  \"type\": " << jsonString(core::elementTypeName(line.type)) << ",\n  \"within\": ";
  writeNumber(out, line.within);
  out << ",\n  \"collectives\": [";
  const char *separator = "\n    ";
  for (const Contest &contest : contests) {
    out << separator;
    writeContest(out, candidates, contest);
    separator = ",\n    ";
  }
  out << "],\n  \"dropped\": [";
  separator = "\n    ";
  for (const Dropped &each : candidates.dropped()) {
    out << separator << "{\"name\": " << jsonString(each.name) << ", \"reason\": " << jsonString(each.reason) << "}";
    separator = ",\n    ";
  }
  out << "]\n}\n";
  return out.str();
}

} // namespace gc3::tune
