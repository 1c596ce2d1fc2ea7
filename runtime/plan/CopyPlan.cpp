// SPDX-License-Identifier: Apache-2.0
// The copies that a rank makes depend on the program's alias and on the placement of the caller's buffers:
//   no alias, out of place: none. But if a step writes the input, or the input must be scaled: a private copy of it
//   no alias, in place: a private copy of the input
//   input in output, the caller's buffers overlap in the same way: none
//   input in output, out of place: a copy of the input at its place in the receive buffer
//   output in input, the caller's buffers overlap in the same way: none
//   output in input, out of place: a private copy of the input. After the kernel, the output is copied from it
// A call in place also needs a private copy of the input if its buffers overlap in another way than the program's. If
// buffers are padded, or a buffer of the rank is not aligned to its elements, both buffers have private copies. These
// copies do not overlap.
#include "plan/CopyPlan.h"

#include <algorithm>

namespace gc3::plan {

using namespace kernel;

using bundle::fbs::Alias;
using core::BufferLayout;
using core::Placement;

namespace {

constexpr uint64_t privateAlignment = 128;

uint64_t wholeLines(uint64_t bytes) {
  return (bytes + privateAlignment - 1) / privateAlignment * privateAlignment;
}

} // namespace

static void add(std::vector<StreamMove> &moves, const StreamMove &move) {
  if (move.elements != 0)
    moves.push_back(move);
}

void CopyPlan::addCopy(std::vector<StreamMove> &moves, std::byte *to, const std::byte *from, uint64_t elements) const {
  add(moves, {StreamMove::Kind::Copy, to, from, elements, {}});
}

/// Adds a copy if nothing is scaled, else a multiplication.
void CopyPlan::addScaled(std::vector<StreamMove> &moves, std::byte *to, const std::byte *from, uint64_t elements,
                         const core::Factor &factor) const {
  add(moves, {scaling.scales ? StreamMove::Kind::Multiply : StreamMove::Kind::Copy, to, from, elements, factor});
}

bool CopyPlan::copiesInput(uint32_t rank, Placement placement) const {
  const bundle::RankView &view = program.rank(rank);
  if (view.inputSlots == 0)
    return false;
  switch (view.alias) {
  case Alias::None: return placement == Placement::InPlace || view.writesInput || scaling.scales;
  case Alias::InputInOutput: return placement == Placement::InPlace;
  case Alias::OutputInInput: return placement != Placement::Aliased;
  }
  __builtin_unreachable();
}

uint64_t CopyPlan::paddedBytes(const BufferLayout &buffer) const {
  return wholeLines(buffer.elements * run->elementSize);
}

uint64_t CopyPlan::scratchBytes(uint32_t rank) const {
  return wholeLines(run->ranks[rank].scratchBytes);
}

bool CopyPlan::isPrivate(const core::Request &request) const {
  auto isAligned = [this](const void *buffer) { return reinterpret_cast<uintptr_t>(buffer) % run->elementSize == 0; };
  return run != &caller || !isAligned(request.send) || !isAligned(request.recv);
}

uint64_t CopyPlan::privateBytes(uint32_t rank, Placement placement, const core::Request &request) const {
  const core::RankLayout &layout = run->ranks[rank];
  if (!isPrivate(request))
    return copiesInput(rank, placement) ? paddedBytes(layout.input) : 0;
  return paddedBytes(layout.input) * (copiesInput(rank, Placement::Apart) ? 2 : 1) + paddedBytes(layout.output);
}

/// Returns the inner buffer's address in the outer buffer.
std::byte *CopyPlan::inner(uint32_t rank, std::byte *outer) const {
  return outer + run->ranks[rank].aliasElement * run->elementSize;
}

RankBuffers CopyPlan::planUnpadded(uint32_t rank, Placement placement, Ends ends, std::byte *memory,
                                   CallMoves &moves) const {
  const bundle::RankView &view = program.rank(rank);
  const core::RankLayout &layout = run->ranks[rank];
  RankBuffers result{{ends.input, ends.output, nullptr}};
  const bool copied = copiesInput(rank, placement);
  const bool intoOutput = view.alias == Alias::InputInOutput && placement != Placement::Aliased && view.inputSlots != 0;
  std::byte *input = copied ? memory : ends.input;
  if (copied && intoOutput) // the second move, into the output, scales the input
    addCopy(moves.before, memory, ends.input, layout.input.elements);
  else if (copied)
    addScaled(moves.before, memory, ends.input, layout.input.elements, ends.factor);
  if (intoOutput)
    addScaled(moves.before, inner(rank, ends.output), input, layout.input.elements, ends.factor);
  else if (!copied && scaling.scales) // the program reads the caller's input, so it is scaled there
    addScaled(moves.before, input, input, layout.input.elements, ends.factor);
  if (view.alias != Alias::InputInOutput)
    result.buffers[static_cast<uint32_t>(Buffer::Input)] = input;
  if (view.alias == Alias::OutputInInput && copied)
    addCopy(moves.after, ends.output, inner(rank, input), layout.output.elements);
  if (scaling.divisor != 1)
    add(moves.after, {StreamMove::Kind::Divide, ends.output, ends.output, layout.output.elements, {}});
  return result;
}

void CopyPlan::addBlocks(const BufferLayout &to, std::byte *toMemory, const BufferLayout &from, std::byte *fromMemory,
                         uint32_t blocks, std::vector<StreamMove> &moves) const {
  if (run == &caller) // the layouts are equal, and can treat all blocks as one
    return addCopy(moves, toMemory, fromMemory, from.elements);
  const size_t size = run->elementSize;
  for (uint64_t block = 0; block < blocks; ++block)
    addCopy(moves, toMemory + block * to.blockElements * size, fromMemory + block * from.blockElements * size,
            std::min(to.blockElements, from.blockElements));
}

RankBuffers CopyPlan::planRank(uint32_t rank, Placement placement, const core::Request &request, std::byte *memory,
                               CallMoves &moves) const {
  const Ends ends{static_cast<std::byte *>(const_cast<void *>(request.send)), static_cast<std::byte *>(request.recv),
                  scaling.factor(request)};
  if (!isPrivate(request))
    return planUnpadded(rank, placement, ends, memory, moves);
  const core::RankLayout &from = caller.ranks[rank], &to = run->ranks[rank];
  const Ends padded{memory, memory + paddedBytes(to.input), ends.factor};
  // Copies the output as well, so that elements that the program does not write keep the caller's values.
  addBlocks(to.output, padded.output, from.output, ends.output, program.outputBlocks(rank), moves.before);
  addBlocks(to.input, padded.input, from.input, ends.input, program.inputBlocks(rank), moves.before);
  const RankBuffers result =
      planUnpadded(rank, Placement::Apart, padded, padded.output + paddedBytes(to.output), moves);
  addBlocks(from.output, ends.output, to.output, padded.output, program.outputBlocks(rank), moves.after);
  return result;
}

} // namespace gc3::plan
