// SPDX-License-Identifier: Apache-2.0
#include "Rows.h"
#include "core/Layout.h"
#include "gc3/Common/Opcode.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace gc3::sim {

static bool reduces(const core::Program &program) {
  for (uint32_t step = 0; step < program.firstStep(program.ranks()); ++step)
    if (common::traits(static_cast<common::Opcode>(program.instruction(step).opcode())).reduces)
      return true;
  return false;
}

std::optional<double> Simulated::speedup() const {
  return baseline && time > 0 ? std::optional(baseline->time / time) : std::nullopt;
}

/// Returns the columns of the baseline.
std::string Rows::columnsOf(const Simulated &simulated) const {
  if (!baseline)
    return {};
  if (!simulated.baseline)
    return llvm::formatv("{0,11} {1,9}", "-", "-");
  const std::optional<double> speedup = simulated.speedup();
  return llvm::formatv("{0,11:f2} {1,9}  {2}", simulated.baseline->time,
                       speedup ? llvm::formatv("{0:f2}", *speedup).str() : "-", simulated.baseline->name);
}

/// Adds what a report shows of a call. Simulates it again, because most calls need no events.
std::string Rows::addDetails(Simulated &row, simulate::Prediction &&prediction) const {
  row.bytesMoved = std::move(prediction.bytesMoved);
  if (prediction.instructions > MostPathSteps)
    return {};
  simulate::Prediction recorded;
  if (std::string problem = record(row, recorded); !problem.empty())
    return problem;
  row.parts = criticalPath(recorded).parts;
  return {};
}

/// Prints why a program runs under Simple, before its first row.
void Rows::noteProtocol(uint32_t index) {
  const std::string reason = whySimple(program(index), fabric, line);
  if (!reason.empty() && noted.insert(index).second)
    table.note(program(index).info().name()->str() + " runs under Simple: " + reason);
}

std::string Rows::simulateRow(const Group &group, uint32_t index, uint64_t count, uint64_t bytes) {
  simulate::Prediction prediction;
  const simulate::Call call = callOf(program(index), count, fabric, line);
  const bool isExplained = line.criticalPath || line.resources || !line.trace.empty(); // by a run of all blocks
  if (std::string problem =
          simulate::simulate(call, fabric, {.useSymmetry = line.useSymmetry && !isExplained}, prediction);
      !problem.empty())
    return problem;
  const bundle::fbs::Program &info = file.program(index);
  Simulated simulated;
  simulated.program = index, simulated.time = prediction.time, simulated.protocol = call.slots.protocol;
  simulated.instructions = prediction.instructions;
  simulated.threadBlocks = prediction.threadBlocks, simulated.simulatedBlocks = prediction.simulatedBlocks;
  if (baseline)
    if (std::string problem = baseline->time(group, program(index), count, bytes, simulated.baseline); !problem.empty())
      return problem;
  run::Row &row = simulated.row;
  row.collective = group.label, row.program = info.name()->str(), row.ranks = static_cast<int>(info.ranks());
  row.bytes = bytes, row.count = count, row.type = core::elementTypeName(line.type), row.root = group.root;
  row.op = reduces(program(index)) ? "sum" : "none";
  run::Measurement &own = row.placement[info.in_place() ? 1 : 0];
  own.measured = true, own.microseconds = prediction.time;
  if (prediction.time > 0)
    own.algbw = static_cast<double>(bytes) / prediction.time / 1000;
  own.busbw = own.algbw * run::busFactor(info.collective()->str(), row.ranks);
  row.columns = columnsOf(simulated);
  noteProtocol(index);
  table.row(row);
  if (!line.report.empty())
    if (std::string problem = addDetails(simulated, std::move(prediction)); !problem.empty())
      return problem;
  rows.push_back(std::move(simulated));
  return {};
}

std::string Rows::simulateGroup(const Group &group) {
  const core::Program &first = program(group.programs[0]);
  if (baseline)
    if (std::string problem = baseline->check(group, first); !problem.empty())
      return problem;
  table.group(group.label, static_cast<int>(first.ranks()), group.root);
  for (uint64_t count : countsOf(first, line)) {
    const std::optional<uint64_t> bytes = core::callBytes(first, count, core::elementSize(line.type));
    if (!bytes)
      return "a buffer of program '" + first.info().name()->str() + "' exceeds the address space";
    const std::optional<uint32_t> index =
        line.program.empty() ? groups.select(group, *bytes) : std::optional(group.programs[0]);
    if (!index) {
      table.skipped(group.label, static_cast<int>(first.ranks()), *bytes, *bytes);
      continue;
    }
    if (std::string problem = simulateRow(group, *index, count, *bytes); !problem.empty())
      return problem;
  }
  return {};
}

std::string Rows::simulateAll() {
  if (std::string problem = groups.find(line.collective, line.program); !problem.empty())
    return problem;
  if (baseline) {
    size_t width = 0;
    for (const Group &group : groups.all())
      for (const uint32_t index : group.programs)
        width = std::max(width, file.program(index).name()->string_view().size());
    table.addColumns(static_cast<int>(width), llvm::formatv("{0,11} {1,9}  {2}", "baseline", "speed-up", "against"),
                     llvm::formatv("{0,11}", "(us)"));
  }
  const uint32_t ranks = fabric.topology().ranks;
  const auto fits = [&](const Group &group) { return program(group.programs[0]).ranks() == ranks; };
  const bool anyFits = std::any_of(groups.all().begin(), groups.all().end(), fits);
  for (const Group &group : groups.all())
    if (anyFits && !fits(group))
      table.note("programs for " + group.label + " on " + std::to_string(program(group.programs[0]).ranks()) +
                 " ranks are left out: topology '" + fabric.topology().name + "' has " + std::to_string(ranks));
    else if (std::string problem = simulateGroup(group); !problem.empty())
      return problem;
  return rows.empty() ? "no program is selected for these sizes; --program simulates one at any size" : "";
}

std::string Rows::record(const Simulated &row, simulate::Prediction &prediction) const {
  return simulate::simulate(callOf(program(row.program), row.row.count, fabric, line), fabric, {.recordEvents = true},
                            prediction);
}

} // namespace gc3::sim
