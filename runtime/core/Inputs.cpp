// SPDX-License-Identifier: Apache-2.0
// See Inputs.h.
#include "core/Inputs.h"

#include "gc3/Common/Opcode.h"

#include <algorithm>

namespace gc3::core {

using namespace bundle;
using namespace common;

namespace {

Opcode opcode(const fbs::Instruction &inst) {
  return static_cast<Opcode>(inst.opcode());
}

/// Returns the runs of consecutive slots below `count` for which `holds` is true. Each run is as long as possible.
template <typename Predicate>
std::vector<SlotRange> runsOf(uint32_t count, Predicate holds) {
  std::vector<SlotRange> runs;
  for (uint32_t slot = 0; slot < count; ++slot) {
    if (!holds(slot))
      continue;
    if (!runs.empty() && runs.back().begin + runs.back().count == slot)
      ++runs.back().count;
    else
      runs.push_back({slot, 1});
  }
  return runs;
}

} // namespace

// ---- The program has one buffer, the caller two -------------------------------------------------------------------

void InputAnalysis::separate() {
  result.separableRank.assign(program.ranks(), false);
  result.untouchedSlots.resize(program.ranks());
  for (uint32_t r = 0; r < program.ranks(); ++r) {
    if (program.rank(r).alias != fbs::Alias::InputInOutput || !separateRank(r))
      continue;
    result.separableRank[r] = true;
    findUntouched(r);
  }
}

/// Returns Initial if step `reader` finds only the caller's data in these input slots. Returns Written if other steps
/// have certainly written all these slots before `reader` begins. Otherwise returns Unclear.
InputAnalysis::Finds InputAnalysis::finds(uint32_t rank, SlotRange where, uint32_t reader) {
  bool initial = accesses.allOf(rank, where, [&](const Access &access) {
    return !access.writes || access.step == reader || accesses.before(reader, access.step);
  });
  if (initial)
    return Finds::Initial;
  auto written = [&](const std::vector<Access> &slotAccesses) {
    return std::any_of(slotAccesses.begin(), slotAccesses.end(),
                       [&](const Access &access) { return access.writes && accesses.before(access.step, reader); });
  };
  auto slots = accesses.of(rank, where);
  return std::all_of(slots.begin(), slots.end(), written) ? Finds::Written : Finds::Unclear;
}

bool InputAnalysis::separateRank(uint32_t rank) {
  const SlotRange input = accesses.input(rank);
  auto examine = [&](SlotRange where, uint32_t step, bool &initial) {
    if (where.begin + where.count <= input.begin || where.begin >= input.begin + input.count)
      return true;
    Finds found = finds(rank, where, step);
    initial = found == Finds::Initial;
    bool inside = where.begin >= input.begin && where.begin + where.count <= input.begin + input.count;
    return found == Finds::Written || (initial && inside);
  };
  for (uint32_t step = program.firstStep(rank); step < program.firstStep(rank + 1); ++step) {
    const fbs::Instruction &inst = program.instruction(step);
    Transfers::StepTransfer &own = result.allSteps[step];
    if (traits(opcode(inst)).readsSrc && !examine(accesses.source(step), step, own.initialSource))
      return false;
    if (opcode(inst) == Opcode::Reduce && !examine(accesses.target(step), step, own.initialTarget))
      return false;
  }
  return true;
}

void InputAnalysis::findUntouched(uint32_t rank) {
  const SlotRange input = accesses.input(rank);
  result.untouchedSlots[rank] = runsOf(input.count, [&](uint32_t slot) {
    return accesses.allOf(rank, {input.begin + slot, 1}, [](const Access &access) { return !access.writes; });
  });
}

// ---- The program has two buffers, the caller one ------------------------------------------------------------------

void InputAnalysis::stage() {
  result.stagedSlots.resize(program.ranks());
  for (uint32_t r = 0; r < program.ranks(); ++r)
    if (program.rank(r).alias == fbs::Alias::None)
      stageRank(r);
}

/// Returns whether a write can overwrite a slot of the step's source before the step has read the slot. The step's own
/// write counts, too, unless its source and target are equal: then the step reads each element before it writes it.
bool InputAnalysis::overwrittenBefore(uint32_t step) {
  const SlotRange source = accesses.source(step);
  return !accesses.allOf(program.rankOfStep(step), source, [&](const Access &access) {
    if (!access.writes)
      return true;
    return access.step == step ? accesses.target(step) == source : accesses.before(step, access.step);
  });
}

/// Considers only reads from the input buffer, because data that a step reads from the output buffer was written by
/// another step.
void InputAnalysis::stageRank(uint32_t rank) {
  const uint32_t begin = program.firstStep(rank), end = program.firstStep(rank + 1);
  for (uint32_t step = begin; step < end; ++step) // in place, a rank copies its own block onto itself: no overwrite
    if (opcode(program.instruction(step)) == Opcode::Copy && accesses.source(step) == accesses.target(step) &&
        !overwrittenBefore(step))
      accesses.removeWrite(step);
  const SlotRange input = accesses.input(rank);
  std::vector<uint32_t> readers;
  std::vector<bool> isStaged(input.count, false);
  for (uint32_t step = begin; step < end; ++step) {
    const fbs::Instruction &inst = program.instruction(step);
    if (!traits(opcode(inst)).readsSrc || inst.src_buffer() != inputBuffer || !overwrittenBefore(step))
      continue;
    readers.push_back(step);
    std::fill_n(isStaged.begin() + inst.src_index(), inst.count(), true);
  }
  Transfers::Staged &staged = result.stagedSlots[rank];
  staged.readers = static_cast<uint32_t>(readers.size());
  staged.runs = runsOf(input.count, [&](uint32_t slot) { return isStaged[slot]; });
  std::vector<uint32_t> positions(input.count, Transfers::none);
  for (const SlotRange &run : staged.runs)
    for (uint32_t slot = run.begin; slot < run.begin + run.count; ++slot)
      positions[slot] = staged.slots++;
  for (uint32_t step : readers) {
    result.allSteps[step].staged = positions[program.instruction(step).src_index()];
    accesses.removeRead(step);
  }
}

} // namespace gc3::core
