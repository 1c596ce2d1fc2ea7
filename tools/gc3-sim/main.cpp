// SPDX-License-Identifier: Apache-2.0
// gc3-sim: predicts the times of programs on a topology. Reads the programs and the topology, simulates, writes the
// results.
#include "Calibration.h"
#include "CommandLine.h"
#include "NcclTable.h"
#include "Output.h"
#include "Programs.h"
#include "ReadTopology.h"
#include "Report.h"
#include "gc3/Topology/Families.h"
#include "gc3/Topology/Json.h"
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
  if (std::string problem = rows.record(rows.all().back(), prediction); !problem.empty())
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

/// Returns true if the topology comes from this file: FILE or N*FILE.
static bool isTopology(const CommandLine &line, const std::string &path) {
  std::string machine = line.topology;
  topology::splitMachines(machine);
  return driver::sameFile(path, machine);
}

/// Writes the files that the options request, all or none. Returns the exit status.
static int write(const CommandLine &line, const Rows &rows, const simulate::Fabric &fabric, const std::string &trace) {
  const std::string json = line.json.empty() ? "" : jsonOf(line, rows.all());
  const std::string page = line.report.empty() ? "" : pageOf(line, rows, fabric);
  llvm::SmallVector<driver::OutputFile, 3> files;
  if (!line.json.empty())
    files.push_back({line.json, json});
  if (!line.trace.empty())
    files.push_back({line.trace, trace});
  if (!line.report.empty())
    files.push_back({line.report, page});
  for (const driver::OutputFile &file : files) {
    if (driver::sameFile(file.path, line.inputs.front()))
      return fail("'" + file.path + "' is the input; write to another file");
    if (line.hasBaselineFile() && driver::sameFile(file.path, line.baseline))
      return fail("'" + file.path + "' is the baseline; write to another file");
    if (isTopology(line, file.path))
      return fail("'" + file.path + "' is the topology; write to another file");
  }
  if (std::optional<driver::WriteFailure> failure = driver::writeOutputs(files))
    return fail("cannot write '" + failure->path + "': " + failure->problem);
  return 0;
}

static int writeFitted(const CommandLine &line, const Calibration &calibration) {
  std::string json;
  llvm::raw_string_ostream text(json);
  printJson(text, calibration.fitted());
  text.flush();
  for (const std::string &input : line.inputs)
    if (driver::sameFile(line.output, input))
      return fail("'" + line.output + "' is the input; write to another file");
  if (isTopology(line, line.output))
    return fail("'" + line.output + "' is the topology; write to another file");
  if (driver::sameFile(line.output, line.fit))
    return fail("'" + line.output + "' has the measured times; write to another file");
  if (std::optional<driver::WriteFailure> failure = driver::writeOutputs({{line.output, json}}))
    return fail("cannot write '" + failure->path + "': " + failure->problem);
  return 0;
}

/// Fits the constants of the topology and writes it, or only compares its predictions with measured times.
static int calibrate(const CommandLine &line, const topology::Topology &topology) {
  Calibration calibration(line, topology);
  bool isPrinted = false;
  if (std::string problem = calibration.run(isPrinted); !problem.empty())
    return isPrinted ? 1 : fail(problem);
  if (!line.output.empty())
    if (const int status = writeFitted(line, calibration); status != 0)
      return status;
  if (!line.quiet && line.output != "-")
    calibration.print(llvm::outs());
  return 0;
}

static int predict(const CommandLine &line, const topology::Topology &topology) {
  std::string error;
  Programs input(line.inputs.front(), line.defines);
  if (!input.read(error))
    return error.empty() ? 1 : fail(error);
  const simulate::Fabric fabric(topology);
  std::optional<Baseline> baseline;
  if (!line.baseline.empty() && !baseline.emplace(line, fabric).read(error))
    return error.empty() ? 1 : fail(error);
  Rows rows(line, input.bundle(), fabric, baseline ? &*baseline : nullptr);
  if (std::string problem = rows.simulateAll(); !problem.empty())
    return fail(problem);
  std::set<kernel::Protocol> used;
  for (const Simulated &row : rows.all())
    used.insert(row.protocol);
  if (std::string warning = findFreeProtocol(topology, used); !warning.empty())
    llvm::errs() << "gc3-sim: warning: " << warning << '\n';
  std::string trace;
  if (line.criticalPath || line.resources || !line.trace.empty())
    if (std::string problem = reportLast(line, input, rows, fabric, trace); !problem.empty())
      return fail(problem);
  return write(line, rows, fabric, trace);
}

static int writeNcclTable(const CommandLine &line, const topology::Topology &topology) {
  std::string error;
  const std::string text = ncclTableOf(topology, line, error);
  if (!error.empty())
    return fail(error);
  if (isTopology(line, line.ncclTable))
    return fail("'" + line.ncclTable + "' is the topology; write to another file");
  if (std::optional<driver::WriteFailure> failure = driver::writeOutputs({{line.ncclTable, text}}))
    return fail("cannot write '" + failure->path + "': " + failure->problem);
  return 0;
}

static int perform(const CommandLine &line) {
  std::string error;
  const std::optional<topology::Topology> topology =
      driver::readTopology(line.topology, error, topology::SwitchLinks::NoNetwork);
  if (!topology)
    return fail(error);
  for (const std::string &warning : {topology->warning, findInconsistentBeta(*topology)})
    if (!warning.empty())
      llvm::errs() << "gc3-sim: warning: " << warning << '\n';
  if (!line.ncclTable.empty())
    return writeNcclTable(line, *topology);
  return line.fit.empty() ? predict(line, *topology) : calibrate(line, *topology);
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
    return perform(*line);
  } catch (const std::exception &problem) { // out of memory
    return fail(problem.what());
  }
}
