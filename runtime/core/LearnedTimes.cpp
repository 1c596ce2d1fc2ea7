// SPDX-License-Identifier: Apache-2.0
#include "core/LearnedTimes.h"

#include "core/Log.h"
#include "trace/TraceFile.h"

#include <cstdio>
#include <exception>
#include <fstream>
#include <thread>

namespace gc3::core {

namespace {

constexpr const char *prefix = "GC3_TUNE_FILE: ";

/// Returns the model of the processors as Linux names it; empty if it has no name.
std::string processorModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const size_t colon = line.find(": "); line.rfind("model name", 0) == 0 && colon != line.npos)
      return line.substr(colon + 2);
  return {};
}

std::string pathOf(const std::string &name, uint64_t bundle) {
  return trace::replaced(name, "%b", select::digestText(bundle));
}

/// Returns why a file can't be used. Returns an empty string if it can, or if there is none.
std::string problemOf(const select::TuneResult &file, const std::string &path, const std::string &machine,
                      uint64_t bundle) {
  if (!file.ok())
    return file.outcome().error == select::TuneError::Missing ? "" : file.outcome().message + "; the file is ignored";
  const std::string reason = select::reasonToIgnore(*file, machine, bundle);
  return reason.empty() ? "" : "'" + path + "' is ignored: " + reason;
}

void logCount(const char *verb, const std::string &path, const select::TuneFile &file) {
  if (isInfoEnabled())
    log(prefix + std::string(verb) + " '" + path + "' with " + std::to_string(file.rows.size()) + " times");
}

} // namespace

std::string hostMachine() {
  const std::string model = processorModel();
  const unsigned threads = std::thread::hardware_concurrency();
  return (model.empty() ? "unknown processor" : model) + ", " + std::to_string(threads) +
         (threads == 1 ? " thread" : " threads");
}

select::TuneFile loadLearned(const std::string &name, const std::string &machine, uint64_t bundle) {
  select::TuneFile nothing{machine, bundle, {}, {}};
  if (name.empty())
    return nothing;
  const std::string path = pathOf(name, bundle);
  select::TuneResult file = select::loadTuneFile(path);
  const std::string problem = problemOf(file, path, machine, bundle);
  if (!problem.empty())
    logOnce(prefix + problem);
  if (!file.ok() || !problem.empty())
    return nothing;
  logCount("loaded", path, *file);
  return std::move(*file);
}

Outcome saveLearned(const TuneOptions &options, const char *chosen, const select::TuneFile &learned) {
  const std::string path = pathOf(chosen ? chosen : options.file, learned.bundle);
  if (path.empty())
    return {gc3InvalidUsage, "there is no path: set GC3_TUNE_FILE or tuneFile, or pass one"};
  if (learned.rows.empty())
    return {}; // keeps what another bundle's jobs have learned
  if (std::string problem = select::addToTuneFile(path, learned); !problem.empty())
    return {gc3SystemError, problem};
  logCount("saved", path, learned);
  return {};
}

void saveLearnedAtEnd(const TuneOptions &options, const std::function<select::TuneFile()> &learn) noexcept {
  if (!options.savesTimes())
    return;
  try {
    if (const Outcome outcome = saveLearned(options, nullptr, learn()); !outcome.ok())
      log(prefix + outcome.text);
  } catch (const std::exception &) { // log() would need memory, too
    std::fputs("gc3: GC3_TUNE_FILE: the times are not saved, because memory has run out\n", stderr);
  }
}

} // namespace gc3::core
