// SPDX-License-Identifier: Apache-2.0
#include "Rows.h"
#include "core/Identity.h"
#include "core/Layout.h"
#include "cuda/Options.h"
#include "gc3/Common/Opcode.h"
#include "gc3/Common/StandardCollective.h"
#include <algorithm>

namespace gc3::sim {

std::string Rows::load(uint32_t index) {
  if (programs[index])
    return {};
  auto status = core::Program::load(file, index).moveTo(programs[index]);
  return status.ok() ? "" : status.message;
}

static bool reduces(const core::Program &program) {
  for (uint32_t step = 0; step < program.firstStep(program.ranks()); ++step)
    if (common::traits(static_cast<common::Opcode>(program.instruction(step).opcode())).reduces)
      return true;
  return false;
}

/// Returns the root of a program whose collective has one, or -1.
static int rootOf(const core::Program &program) {
  const common::StandardCollective *standard = common::findStandard(program.info().collective()->string_view());
  if (!standard || !standard->hasRoot())
    return -1;
  const std::optional<uint32_t> root = isOnRoot(standard->input) ? program.onlyInput() : program.onlyOutput();
  return root ? static_cast<int>(*root) : -1;
}

std::string Rows::groupPrograms(std::vector<Group> &groups) {
  programs.resize(file.programCount());
  const auto wanted = common::CollectiveForm::parse(line.collective);
  std::string names;
  for (uint32_t i = 0; i < file.programCount(); ++i) {
    const bundle::fbs::Program &program = file.program(i);
    names += (names.empty() ? " '" : ", '") + program.name()->str() + "'";
    if ((!line.collective.empty() && !core::isNamedBy(*wanted, program)) ||
        (!line.program.empty() && line.program != "all" && line.program != program.name()->string_view()))
      continue;
    if (std::string problem = load(i); !problem.empty())
      return problem;
    Group group{core::formOf(program).str(), rootOf(*programs[i]), {i}};
    const auto isSame = [&](const Group &other) {
      const bundle::fbs::Program &first = file.program(other.programs[0]);
      return line.program.empty() && first.ranks() == program.ranks() && other.root == group.root &&
             first.collective()->string_view() == program.collective()->string_view() &&
             core::haveOneMeaning(first, program);
    };
    const auto same = std::find_if(groups.begin(), groups.end(), isSame);
    if (same == groups.end())
      groups.push_back(std::move(group));
    else
      same->programs.push_back(i);
  }
  return groups.empty() ? "no such program; the file has" + (names.empty() ? " none" : names) : "";
}

simulate::Call Rows::callOf(uint32_t index, uint64_t count) const {
  const core::Program &program = *programs[index];
  const auto protocol = static_cast<kernel::Protocol>(program.info().protocol());
  cuda::SlotNeeds needs;
  needs.add(program);
  std::vector<uint64_t> incoming(program.ranks()); // connections by receiving rank
  for (uint32_t rank = 0; rank < program.ranks(); ++rank)
    for (uint32_t i = program.firstThreadBlock(rank); i < program.firstThreadBlock(rank + 1); ++i)
      incoming[rank] += program.incoming(i) != core::Program::none;
  needs.connections = *std::max_element(incoming.begin(), incoming.end());
  cuda::Options options;
  options.tuning[static_cast<size_t>(protocol)] = {line.slots, line.slotBytes, 0};
  return {program, cuda::chooseSlots(protocol, needs, options), count,
          static_cast<uint32_t>(core::elementSize(line.type))};
}

/// Returns the element counts of the rows. Sizes are rounded down to whole elements; sizes that round to the same count
/// give one row.
std::vector<uint64_t> Rows::countsOf(uint32_t index) const {
  constexpr uint64_t probe = 1 << 20;
  std::vector<uint64_t> counts;
  const std::optional<uint64_t> largest = core::callBytes(*programs[index], probe, core::elementSize(line.type));
  if (!largest || *largest == 0)
    return counts;
  for (uint64_t bytes = line.minBytes; bytes <= line.maxBytes;) {
    const auto count =
        static_cast<uint64_t>(static_cast<long double>(bytes) * probe / static_cast<long double>(*largest));
    if (counts.empty() || counts.back() != count)
      counts.push_back(count);
    const uint64_t next = line.stepBytes ? bytes + line.stepBytes : std::max<uint64_t>(bytes, 1) * line.factor;
    if (next <= bytes)
      break;
    bytes = next;
  }
  return counts;
}

std::optional<uint32_t> Rows::select(const Group &group, uint64_t bytes) const {
  for (uint32_t index : group.programs) {
    const bundle::fbs::Program &program = file.program(index);
    if (!line.program.empty() || (bytes >= program.min_bytes() && bytes < program.max_bytes()))
      return index;
  }
  return {};
}

std::string Rows::simulateRow(const Group &group, uint32_t index, uint64_t count, uint64_t bytes) {
  simulate::Prediction prediction;
  if (std::string problem =
          simulate::simulate(callOf(index, count), fabric, {.useSymmetry = line.useSymmetry}, prediction);
      !problem.empty())
    return problem;
  const bundle::fbs::Program &program = file.program(index);
  Simulated simulated;
  simulated.program = index, simulated.time = prediction.time;
  simulated.instructions = prediction.instructions;
  simulated.threadBlocks = prediction.threadBlocks, simulated.simulatedBlocks = prediction.simulatedBlocks;
  run::Row &row = simulated.row;
  row.collective = group.label, row.program = program.name()->str(), row.ranks = static_cast<int>(program.ranks());
  row.bytes = bytes, row.count = count, row.type = core::elementTypeName(line.type), row.root = group.root;
  row.op = reduces(*programs[index]) ? "sum" : "none";
  run::Measurement &own = row.placement[program.in_place() ? 1 : 0];
  own.measured = true, own.microseconds = prediction.time;
  if (prediction.time > 0)
    own.algbw = static_cast<double>(bytes) / prediction.time / 1000;
  own.busbw = own.algbw * run::busFactor(program.collective()->str(), row.ranks);
  table.row(row);
  rows.push_back(std::move(simulated));
  return {};
}

std::string Rows::simulateGroup(const Group &group) {
  table.group(group.label, static_cast<int>(file.program(group.programs[0]).ranks()), group.root);
  for (uint64_t count : countsOf(group.programs[0])) {
    const std::optional<uint64_t> bytes =
        core::callBytes(*programs[group.programs[0]], count, core::elementSize(line.type));
    if (!bytes)
      return "a buffer of program '" + file.program(group.programs[0]).name()->str() + "' exceeds the address space";
    const std::optional<uint32_t> index = select(group, *bytes);
    if (!index) {
      table.skipped(group.label, static_cast<int>(file.program(group.programs[0]).ranks()), *bytes, *bytes);
      continue;
    }
    if (std::string problem = simulateRow(group, *index, count, *bytes); !problem.empty())
      return problem;
  }
  return {};
}

std::string Rows::simulateAll() {
  std::vector<Group> groups;
  if (std::string problem = groupPrograms(groups); !problem.empty())
    return problem;
  for (const Group &group : groups)
    if (std::string problem = simulateGroup(group); !problem.empty())
      return problem;
  return rows.empty() ? "no program is selected for these sizes; --program simulates one at any size" : "";
}

std::string Rows::recordLast(simulate::Prediction &prediction) {
  const Simulated &last = rows.back();
  return simulate::simulate(callOf(last.program, last.row.count), fabric, {.recordEvents = true}, prediction);
}

} // namespace gc3::sim
