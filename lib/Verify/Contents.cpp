// SPDX-License-Identifier: Apache-2.0
// Moves values step by step: linear in the slots that steps move. Lays out rings in one pass over the messages of each
// connection.
#include "Contents.h"
#include "Values.h"
#include <algorithm>
#include <cassert>

using namespace gc3::ir;
using namespace gc3::verify;

/// Returns the number of places that the messages of a thread block need. This is the most values in `fifoSlots`
/// consecutive messages, plus the places at the end of the ring into which the next message does not fit. There are no
/// such places if all messages have the same size.
static uint64_t ringSize(const Program &program, const ThreadBlock &sender, uint32_t fifoSlots) {
  const Step *steps = program.steps.data() + sender.firstStep; // not &steps[firstStep]: if the last thread block has no
                                                               // steps, firstStep is past the end
  uint64_t most = 0;
  uint64_t sum = 0;
  uint32_t messages = 0;
  uint32_t oldest = 0; // step that sent the oldest of these messages
  uint32_t longest = 0;
  bool isUniform = true;
  for (uint32_t i = 0; i != sender.stepCount; ++i) {
    if (!sends(steps[i].opcode))
      continue;
    isUniform &= longest == 0 || longest == steps[i].count;
    longest = std::max(longest, steps[i].count);
    sum += steps[i].count;
    if (messages++ == fifoSlots) {
      while (!sends(steps[oldest].opcode))
        ++oldest;
      sum -= steps[oldest++].count;
      --messages;
    }
    most = std::max(most, sum);
  }
  return most + (isUniform ? 0 : longest - 1);
}

Fifos::Fifos(const Program &program, const Connections &connections, uint32_t slots) {
  rings.reserve(connections.all.size() + 1);
  uint64_t next = 0;
  for (const Connection &connection : connections.all) {
    rings.push_back({next});
    next += ringSize(program, program.threadBlocks[connection.sender], slots);
  }
  rings.push_back({next});
}

template <typename Domain>
Contents<Domain>::Contents(const Program &program, const Connections &connections, Fifos fifos, Domain &domain)
    : program(program), connections(connections), fifos(std::move(fifos)), domain(domain),
      map(program.bufferSizes, program.info->bufferCount()), lengths(program), inFlight(this->fifos.size()) {
  start();
}

/// Gives every input slot a value of its own. Visits the slots in memory order, so that each slot is written only once.
template <typename Domain>
void Contents<Domain>::start() {
  const Collective &collective = program.info->collective;
  memory.reserve(map.total());
  for (uint32_t rank = 0; rank != collective.ranks; ++rank) {
    uint32_t size = collective.size(rank, InputBuffer) * program.subdivision;
    if (size == 0)
      continue;
    Location first = canonical(collective, {rank, InputBuffer, 0}, program.subdivision);
    memory.resize(map.slot(rank, first.buffer, first.index));
    for (uint32_t index = 0; index != size; ++index)
      memory.push_back({domain.input(rank, index), lengths.restingPlace(first.buffer, first.index + index)});
  }
  memory.resize(map.total());
}

/// Records that a step reads an unset slot. Records only one such slot per step, because all of them may not fit into
/// memory.
template <typename Domain>
void Contents<Domain>::noteUnset(uint32_t block, uint32_t number, BufferId buffer, uint32_t index, uint32_t count) {
  const Held *first = &memory[map.slot(program.threadBlocks[block].rank, buffer, index)];
  const Held *found =
      std::find_if(first, first + count, [](const Held &held) { return held.value == Domain::unset(); });
  bool noted = !unset.empty() && unset.back().block == block && unset.back().step == number;
  if (found != first + count && !noted)
    unset.push_back({block, number, buffer, index + static_cast<uint32_t>(found - first)});
}

/// Executes a step on the values, slot by slot. Source and target of a step are identical or disjoint.
template <typename Domain>
void Contents<Domain>::run(uint32_t block, uint32_t number) {
  uint32_t rank = program.threadBlocks[block].rank;
  const Step &step = program.steps[program.threadBlocks[block].firstStep + number];
  const Held *in = nullptr;
  const Held *src = nullptr;
  Held *dst = nullptr;
  Held *out = nullptr;
  if (readsSrc(step.opcode)) {
    noteUnset(block, number, step.srcBuffer, step.srcIndex, step.count);
    src = &memory[map.slot(rank, step.srcBuffer, step.srcIndex)];
  }
  if (combinesIntoDst(step.opcode))
    noteUnset(block, number, step.dstBuffer, step.dstIndex, step.count);
  if (writesDst(step.opcode))
    dst = &memory[map.slot(rank, step.dstBuffer, step.dstIndex)];
  if (receives(step.opcode))
    in = inFlight.data() + fifos.receive(connections.recvOf[block], step.count);
  else if (combinesIntoDst(step.opcode))
    in = dst;
  if (sends(step.opcode))
    out = inFlight.data() + fifos.send(connections.sendOf[block], step.count);
  assert((in || src) && (dst || out) && "every step takes its values from somewhere to somewhere");
  Held *first = dst ? dst : out;
  if (!in || !src)
    std::copy_n(in ? in : src, step.count, first);
  else
    for (uint32_t i = 0; i != step.count; ++i)
      first[i] = combine(in[i], src[i]);
  if (dst)
    rest(dst, step);
  if (dst && out) // a value that is sent on also lacks the elements that did not fit into the destination slot
    std::copy_n(dst, step.count, out);
}

/// Updates `furthest` of the values that a step has stored in its destination slots.
template <typename Domain>
void Contents<Domain>::rest(Held *values, const Step &step) const {
  for (uint32_t i = 0; i != step.count; ++i)
    values[i].furthest = std::max(values[i].furthest, lengths.restingPlace(step.dstBuffer, step.dstIndex + i));
}

template <typename Domain>
void Contents<Domain>::follow(const Order &order) {
  for (const Stretch &stretch : order)
    for (uint32_t step = stretch.first; step != stretch.end; ++step)
      run(stretch.block, step);
}

template class gc3::verify::Contents<HashDomain>;
template class gc3::verify::Contents<ExactDomain>;
