// SPDX-License-Identifier: Apache-2.0
// gc3-synth: finds programs for a topology. Reads the topology, runs the search, writes the results.
#include "Output.h"
#include "ReadTopology.h"
#include "Report.h"
#include "gc3/Parse/Parse.h"
#include "gc3/Support/Quantity.h"
#include "gc3/Topology/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>

using namespace gc3;
using namespace gc3::synth;

static std::atomic<bool> interrupted{false};

static int fail(const std::string &message) {
  llvm::errs() << "gc3-synth: error: " << message << '\n';
  return 1;
}

/// Returns the number of tokens in the text, as the language counts them. Ignores comments.
static size_t words(llvm::StringRef text) {
  size_t count = 0;
  bool isInside = false;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    for (char c : line.ltrim().startswith("//") ? "" : line) {
      const bool belongs = llvm::isAlnum(c) || c == '_';
      count += !(belongs && isInside) && c != ' ' ? 1 : 0;
      isInside = belongs;
    }
    isInside = false;
    text = rest;
  }
  return count;
}

/// Writes all files or none. Returns the exit status.
static int write(const CommandLine &line, const Result &result) {
  const std::string text = result.found.empty() ? "" : programs(line, result);
  if (const size_t count = words(text); count > parse::MaxTokens)
    return fail("the programs have " + std::to_string(count) + " tokens, but gc3c reads at most " +
                std::to_string(parse::MaxTokens) +
                " per file; a topology that looks the same from all ranks has shorter programs");
  const std::string report = line.json.empty() ? "" : json(line, result);
  llvm::SmallVector<driver::OutputFile, 2> files;
  if (!text.empty())
    files.push_back({line.out, text});
  if (!report.empty())
    files.push_back({line.json, report});
  if (std::optional<driver::WriteFailure> failure = driver::writeOutputs(files))
    return fail("cannot write '" + failure->path + "': " + failure->problem);
  return 0;
}

static int findPrograms(const topology::Topology &topology, const CommandLine &line) {
  const auto interrupt = [](int signal) {
    interrupted = true;
    std::signal(signal, SIG_DFL); // the second signal ends the process at once
  };
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  std::string error;
  const auto report = [&](const Trial &trial) {
    if (!line.quiet)
      llvm::errs() << "gc3-synth: " << describe(trial) << '\n';
  };
  const Result result = search(topology, line, interrupted, report, error);
  if (!error.empty() && result.found.empty())
    return fail(error);
  if (int code = write(line, result))
    return code;
  if (!error.empty())
    return fail(error + "; the programs found before are written");
  if (!result.isComplete) {
    llvm::errs() << "gc3-synth: " << (interrupted ? "interrupted" : "the time limit was reached")
                 << " before the search was complete"
                 << (result.found.empty() ? "; no program was found\n" : "; the programs found are written\n");
    return 4;
  }
  if (result.found.empty()) {
    const bool isSeveral = line.goal == Goal::LeastSteps || line.goal == Goal::Pareto;
    llvm::errs() << "gc3-synth: no such program exists"
                 << (isSeveral ? " with up to " + quantity(result.mostSteps, "step") + " and " +
                                     quantity(line.extraRounds, "extra round")
                               : "")
                 << '\n';
    return 3;
  }
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
  std::string error;
  const std::optional<topology::Topology> topology = driver::readTopology(line->topology, error);
  if (!topology)
    return fail(error);
  if (!topology->warning.empty())
    llvm::errs() << "gc3-synth: warning: " << topology->warning << '\n';
  if (line->printTopology) {
    topology::printJson(llvm::outs(), *topology);
    return 0;
  }
  if (const std::string warning = topology::findInconsistentBeta(*topology); !warning.empty())
    llvm::errs() << "gc3-synth: warning: " << warning << '\n';
  try {
    return findPrograms(*topology, *line);
  } catch (const std::exception &problem) { // out of memory, here or in the solver
    return fail(problem.what());
  }
}
