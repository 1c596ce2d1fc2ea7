// SPDX-License-Identifier: Apache-2.0
// gc3-sim: predicts the times of programs on a topology. Reads the programs and the topology, simulates, writes the
// results.
#include "CommandLine.h"
#include "Output.h"
#include "Programs.h"
#include "ReadTopology.h"
#include "Report.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;
using namespace gc3::sim;

static int fail(const std::string &message) {
  std::fflush(stdout); // the table
  llvm::errs() << "gc3-sim: error: " << message << '\n';
  return 1;
}

/// Prints what the options request about the last row, and returns the text of --trace in `trace`.
static std::string reportLast(const CommandLine &line, const Programs &input, Rows &rows,
                              const simulate::Fabric &fabric, std::string &trace) {
  simulate::Prediction prediction;
  if (std::string problem = rows.recordLast(prediction); !problem.empty())
    return problem;
  const Simulated &last = rows.all().back();
  const Recorded recorded{input, rows.program(last.program), last.program, fabric, prediction, last.row};
  std::fflush(stdout); // the table
  if (line.criticalPath)
    printCriticalPath(llvm::outs(), recorded);
  if (line.resources)
    printResources(llvm::outs(), recorded);
  if (!line.trace.empty())
    trace = traceOf(recorded);
  llvm::outs().flush();
  return {};
}

static int predict(const CommandLine &line) {
  std::string error;
  const std::optional<topology::Topology> topology =
      driver::readTopology(line.topology, error, topology::SwitchLinks::NoNetwork);
  if (!topology)
    return fail(error);
  if (const std::string warning = findInconsistentBeta(*topology); !warning.empty())
    llvm::errs() << "gc3-sim: warning: " << warning << '\n';
  Programs input(line);
  if (!input.read(error))
    return error.empty() ? 1 : fail(error);
  const simulate::Fabric fabric(*topology);
  Rows rows(line, input.bundle(), fabric);
  if (std::string problem = rows.simulateAll(); !problem.empty())
    return fail(problem);
  std::string trace;
  if (line.criticalPath || line.resources || !line.trace.empty())
    if (std::string problem = reportLast(line, input, rows, fabric, trace); !problem.empty())
      return fail(problem);
  const std::string json = line.json.empty() ? "" : jsonOf(line, rows.all());
  llvm::SmallVector<driver::OutputFile, 2> files;
  if (!line.json.empty())
    files.push_back({line.json, json});
  if (!line.trace.empty())
    files.push_back({line.trace, trace});
  for (const driver::OutputFile &file : files)
    if (driver::sameFile(file.path, line.input))
      return fail("'" + file.path + "' is the input; write to another file");
  if (std::optional<driver::WriteFailure> failure = driver::writeOutputs(files))
    return fail("cannot write '" + failure->path + "': " + failure->problem);
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
    return predict(*line);
  } catch (const std::exception &problem) { // out of memory
    return fail(problem.what());
  }
}
