// SPDX-License-Identifier: Apache-2.0
// Mutators of single steps: their order, opcodes, buffers and slots.
#include "Mutators.h"

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::mutation;

using Result = std::optional<uint32_t>;

/// Returns a random step for which `wanted(step)` returns true.
template <typename Wanted>
static std::optional<StepAddress> pickStep(Draft &draft, host::Random &random, Wanted wanted) {
  return pick(draft.places([&](StepAddress, const Draft::StepWithWaits &step) { return wanted(step); }), random);
}

static bool any(const Step &) {
  return true;
}
static bool reads(const Step &step) {
  return readsSrc(step.opcode);
}
static bool writes(const Step &step) {
  return writesDst(step.opcode);
}

/// Swaps two consecutive steps. Waits for these steps keep their numbers, so each then refers to the other step.
static Result swapSteps(Draft &draft, host::Random &random) {
  auto place = pick(draft.places([&](StepAddress at, const Draft::StepWithWaits &) {
    return at.step + 1 < draft.block(at).steps.size();
  }),
                    random);
  if (!place)
    return std::nullopt;
  std::swap(draft.step(*place), draft.block(*place).steps[place->step + 1]);
  return place->rank;
}

static Result deleteStep(Draft &draft, host::Random &random) {
  auto place = pickStep(draft, random, any);
  if (!place)
    return std::nullopt;
  draft.erase(*place);
  return place->rank;
}

static Result repeatStep(Draft &draft, host::Random &random) {
  auto place = pickStep(draft, random, any);
  if (!place)
    return std::nullopt;
  draft.insertBehind(*place, draft.step(*place));
  return place->rank;
}

static uint32_t neighbour(uint32_t index, host::Random &random) {
  return index == 0 || random.below(2) ? index + 1 : index - 1;
}

/// Increments or decrements a field of a step whose opcode uses this field.
template <auto Number, bool (&Has)(const Step &)>
static Result changeByOne(Draft &draft, host::Random &random) {
  auto place = pickStep(draft, random, Has);
  if (!place)
    return std::nullopt;
  Step &step = draft.step(*place);
  step.*Number = neighbour(step.*Number, random);
  return place->rank;
}

/// Returns another buffer that has at least `end` slots, or nothing.
static std::optional<BufferId> otherBuffer(const Draft &draft, uint32_t rank, BufferId buffer, uint32_t end,
                                           host::Random &random) {
  std::vector<BufferId> others;
  for (uint32_t other = 0; other != draft.info->bufferCount(); ++other)
    if (other != buffer && end <= draft.bufferSize(rank, static_cast<BufferId>(other)))
      others.push_back(static_cast<BufferId>(other));
  return pick(others, random);
}

static Result changeBuffer(Draft &draft, host::Random &random) {
  auto place = pickStep(draft, random, any);
  if (!place)
    return std::nullopt;
  Step &step = draft.step(*place);
  bool source = reads(step) && (!writes(step) || random.below(2));
  BufferId &buffer = source ? step.srcBuffer : step.dstBuffer;
  uint32_t end = (source ? step.srcIndex : step.dstIndex) + step.count;
  auto other = otherBuffer(draft, place->rank, buffer, end, random);
  if (!other)
    return std::nullopt;
  buffer = *other;
  return place->rank;
}

static Result swapOperands(Draft &draft, host::Random &random) {
  auto place = pickStep(draft, random, [](const Step &step) { return reads(step) && writes(step); });
  if (!place)
    return std::nullopt;
  Step &step = draft.step(*place);
  std::swap(step.srcBuffer, step.dstBuffer);
  std::swap(step.srcIndex, step.dstIndex);
  return place->rank;
}

/// Changes the opcode to one that sends and receives as the old one does, so that messages still match.
static Result changeOpcode(Draft &draft, host::Random &random) {
  auto place = pickStep(draft, random, [](const Step &step) { return step.opcode != Opcode::Send; });
  if (!place)
    return std::nullopt;
  Step &step = draft.step(*place);
  std::vector<Opcode> others;
  for (Opcode opcode : {Opcode::Recv, Opcode::Copy, Opcode::Reduce, Opcode::RecvReduceCopy, Opcode::RecvCopySend,
                        Opcode::RecvReduceSend, Opcode::RecvReduceCopySend})
    if (opcode != step.opcode && receives(opcode) == receives(step.opcode) && sends(opcode) == sends(step.opcode))
      others.push_back(opcode);
  auto opcode = pick(others, random);
  if (!opcode)
    return std::nullopt;
  if (readsSrc(*opcode) && !reads(step))
    step.srcBuffer = step.dstBuffer, step.srcIndex = step.dstIndex;
  if (writesDst(*opcode) && !writes(step))
    step.dstBuffer = step.srcBuffer, step.dstIndex = step.srcIndex;
  step.opcode = *opcode;
  return place->rank;
}

static constexpr Kind kinds[] = {
    {"swap-steps", "two neighbouring steps change places", swapSteps},
    {"delete-step", "a step goes", deleteStep},
    {"repeat-step", "a step is done twice", repeatStep},
    {"shift-source", "reads one slot further on or back", changeByOne<&Step::srcIndex, reads>},
    {"shift-target", "writes one slot further on or back", changeByOne<&Step::dstIndex, writes>},
    {"change-count", "moves one slot more or less", changeByOne<&Step::count, any>},
    {"change-buffer", "reads or writes the same slots of another buffer", changeBuffer},
    {"swap-operands", "reads where it wrote, writes where it read", swapOperands},
    {"change-opcode", "rrc for recv, reduce for copy, rrs for rcs, ...", changeOpcode},
};

std::span<const Kind> gc3::mutation::stepKinds() {
  return kinds;
}
