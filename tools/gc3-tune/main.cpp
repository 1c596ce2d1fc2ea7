// SPDX-License-Identifier: Apache-2.0
// gc3-tune: makes a bundle of the fastest programs. Compiles and proves the candidates, times them, chooses, writes.
#include "Input.h"
#include "Learned.h"
#include "Output.h"
#include "Ranges.h"
#include "ReadTopology.h"
#include "Replay.h"
#include "Results.h"
#include "Row.h"
#include "Show.h"
#include "gc3/Topology/Families.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;
using namespace gc3::tune;

/// Prints an error. The text can be one of the compiler's.
static int fail(llvm::StringRef message) {
  message.consume_front("gc3c: error: ");
  llvm::errs() << "gc3-tune: error: " << message << '\n';
  return 1;
}

/// Returns an error text if an output is also an input or another output, perhaps by another path.
static std::string checkPaths(const CommandLine &line, const std::vector<std::string> &filesRead,
                              llvm::ArrayRef<driver::OutputFile> files) {
  std::vector<std::string> inputs = line.inputs;
  inputs.insert(inputs.end(), filesRead.begin(), filesRead.end());
  if (!line.fromLog.empty())
    inputs.push_back(line.fromLog);
  if (std::string machine = line.topology; !machine.empty()) {
    topology::splitMachines(machine); // "2*FILE"
    inputs.push_back(machine);
  }
  for (size_t i = 0; i < files.size(); ++i) {
    for (const std::string &input : inputs)
      if (driver::sameFile(files[i].path, input))
        return "'" + files[i].path + "' is an input; write to another file";
    for (size_t other = 0; other < i; ++other)
      if (driver::sameFile(files[i].path, files[other].path))
        return "'" + files[i].path + "' and '" + files[other].path + "' are the same file";
  }
  return {};
}

/// Returns an error text if an output can't be written, before the measurements, which take long.
static std::string checkOutputs(const CommandLine &line, const Candidates &candidates) {
  llvm::SmallVector<driver::OutputFile, 3> files;
  for (const std::string &path : {line.output, line.json, line.report})
    if (!path.empty())
      files.push_back({path, ""});
  if (std::string problem = checkPaths(line, candidates.filesRead(), files); !problem.empty())
    return problem;
  for (const std::string &path : {line.output, line.json, line.report})
    if (!path.empty() && path != "-")
      if (std::string problem = run::checkWritable(path); !problem.empty())
        return problem;
  return {};
}

/// Returns true if the bundle would have a program.
static bool hasPrograms(const std::vector<Contest> &contests) {
  for (const Contest &contest : contests)
    for (const Serving &serving : contest.servings)
      if (serving.candidate != TimeTable::Baseline)
        return true;
  return false;
}

/// Writes all outputs, or none. A bundle without programs is not written, and is an error. Returns an error text, or an
/// empty string.
static std::string write(const CommandLine &line, const Candidates &candidates, const std::vector<Contest> &contests) {
  const bool hasBundle = hasPrograms(contests);
  const std::string bundle = hasBundle ? bundleOf(candidates, contests) : "";
  const std::string json = line.json.empty() ? "" : jsonOf(line, candidates, contests);
  std::string page;
  if (!line.report.empty()) {
    llvm::raw_string_ostream out(page);
    report::writePage(out, pageOf(line, candidates, contests));
    out.flush();
  }
  llvm::SmallVector<driver::OutputFile, 3> files;
  if (hasBundle)
    files.push_back({line.output, bundle});
  if (!line.json.empty())
    files.push_back({line.json, json});
  if (!line.report.empty())
    files.push_back({line.report, page});
  if (std::string problem = checkPaths(line, candidates.filesRead(), files); !problem.empty())
    return problem;
  if (std::optional<driver::WriteFailure> failure = driver::writeOutputs(files))
    return "cannot write '" + failure->path + "': " + failure->problem;
  const std::string nccl = line.timing == Timing::Learned ? "NCCL" : "NCCL's model";
  return hasBundle ? ""
                   : "no candidate is faster than " + nccl + " by more than --within permits, so there is no bundle";
}

/// Chooses the programs of all contests. Returns an error text, or an empty string.
static std::string chooseAll(const CommandLine &line, const Timer &timer, const Candidates &candidates,
                             std::vector<Contest> &contests) {
  if (line.timing == Timing::Learned) {
    Learned learned;
    const std::string problem = learned.open(line.fromLog, line.inputs[0]);
    return problem.empty() ? learned.run(line, candidates, contests) : problem;
  }
  for (Contest &contest : contests)
    chooseRanges(line, timer, contest);
  return {};
}

static int makeBundle(const CommandLine &line) {
  std::string error;
  std::optional<topology::Topology> topology;
  if (!line.topology.empty() &&
      !(topology = driver::readTopology(line.topology, error, topology::SwitchLinks::NoNetwork)))
    return fail(error);
  if (topology)
    for (const std::string &warning : {topology->warning, findInconsistentBeta(*topology)})
      if (!warning.empty())
        llvm::errs() << "gc3-tune: warning: " << warning << '\n';
  Candidates candidates(line);
  if (std::string problem = candidates.compile(topology ? &*topology : nullptr); !problem.empty())
    return fail(problem);
  if (line.timing == Timing::Host || line.timing == Timing::Cuda)
    if (std::string problem = checkOutputs(line, candidates); !problem.empty())
      return fail(problem);
  Timer timer(line, candidates, topology ? &*topology : nullptr);
  std::vector<Contest> contests;
  if (std::string problem = timer.run(contests); !problem.empty())
    return fail(problem);
  if (line.timing == Timing::Simulator) {
    std::set<kernel::Protocol> used;
    for (const Candidate &each : candidates.all())
      used.insert(static_cast<kernel::Protocol>(each.program.info->protocol));
    if (std::string warning = sim::findFreeProtocol(*topology, used); !warning.empty())
      llvm::errs() << "gc3-tune: warning: " << warning << '\n';
  }
  for (const std::string &each : candidates.describeDropped())
    llvm::errs() << "gc3-tune: warning: dropped " << each << '\n';
  if (std::string problem = chooseAll(line, timer, candidates, contests); !problem.empty())
    return fail(problem);
  nameServings(candidates, contests);
  const std::string problem = write(line, candidates, contests);
  if (!line.quiet) // also after an error, to show why
    printTable(llvm::outs(), line, candidates, contests);
  return problem.empty() ? 0 : fail(problem);
}

/// Writes the page of a replay, if there is to be one. Returns an error text, or an empty string.
static std::string writeReplayPage(const CommandLine &line, const Recording &recording, const Replay &replay) {
  if (line.report.empty())
    return {};
  if (driver::sameFile(line.report, line.replay))
    return "'" + line.report + "' is an input; write to another file";
  std::string page;
  llvm::raw_string_ostream out(page);
  report::writePage(out, pageOf(recording, replay));
  out.flush();
  const driver::OutputFile file{line.report, page};
  if (const std::optional<driver::WriteFailure> failure = driver::writeOutputs({file}))
    return "cannot write '" + failure->path + "': " + failure->problem;
  return {};
}

static int replayFile(const CommandLine &line) {
  std::string problem;
  const auto text = driver::readInput(line.replay, driver::mostStreamedText, problem);
  if (!text)
    return fail("cannot read '" + line.replay + "': " + problem);
  Recording recording;
  if (problem = readRecording(text->getBuffer().str(), recording); !problem.empty())
    return fail(line.replay + ": " + problem);
  const Replay result = replay(recording, line.ranks, line.seed);
  if (!result.disagreement.empty())
    return fail(line.replay + ": " + result.disagreement);
  if (problem = writeReplayPage(line, recording, result); !problem.empty())
    return fail(problem);
  llvm::outs() << jsonOf(result);
  return 0;
}

static int show(const CommandLine &line) {
  const select::TuneResult file = select::loadTuneFile(line.show);
  if (!file.ok())
    return fail(file.outcome().message);
  printLearned(llvm::outs(), *file);
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialise(argc, argv);
  const std::optional<CommandLine> line = parseCommandLine(argc, argv);
  if (!line)
    return 2;
  if (line->listTopologies) {
    driver::listTopologies();
    return 0;
  }
  try {
    if (!line->show.empty())
      return show(*line);
    return line->replay.empty() ? makeBundle(*line) : replayFile(*line);
  } catch (const std::exception &problem) { // out of memory
    return fail(problem.what());
  }
}
