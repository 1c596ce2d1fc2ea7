// SPDX-License-Identifier: Apache-2.0
// The cases, per rank:
//   program without alias    out of place: nothing, unless a step writes the input or it has to be scaled: then a
//   private copy             in place: a private copy of the input
//   input lies in output     in place there: nothing; else the input is copied to its place in the receive buffer
//   output lies in input     in place there: nothing; else a private copy of the input, the output copied out of it
// In place anywhere else than the alias says goes through a private copy too. Padded buffers are private and apart.
#include "device/Bridge.h"

#include <algorithm>

namespace gc3::device {

using bundle::fbs::Alias;
using host::BufferLayout;
using host::Placement;

namespace {

constexpr uint64_t privateAlignment = 128;

uint64_t wholeLines(uint64_t bytes) {
  return (bytes + privateAlignment - 1) / privateAlignment * privateAlignment;
}

} // namespace

Average::Average(const host::Program &program, const host::Request &request) {
  if (request.op == gc3Avg)
    (host::isInteger(static_cast<host::ElementType>(request.type)) ? divisor : scale) = program.info().contributions();
}

Bridge::Bridge(const host::Program &program, const host::Layout &layout, const host::Request &request)
    : program(program), caller(layout), run(&layout), average(program, request) {}

void Bridge::add(std::vector<Move> &moves, Move::Kind kind, std::byte *to, const std::byte *from,
                 uint64_t elements) const {
  if (elements != 0)
    moves.push_back({kind, to, from, elements});
}

bool Bridge::copiesInput(uint32_t rank, Placement placement) const {
  const bundle::RankView &view = program.rank(rank);
  if (view.inputSlots == 0)
    return false;
  switch (view.alias) {
  case Alias::None: return placement == Placement::InPlace || view.writesInput || average.scale != 1;
  case Alias::InputInOutput: return placement == Placement::InPlace;
  case Alias::OutputInInput: return placement != Placement::Aliased;
  }
  __builtin_unreachable();
}

uint64_t Bridge::paddedBytes(const BufferLayout &buffer) const {
  return wholeLines(buffer.elements * run->elementSize);
}

uint64_t Bridge::scratchBytes(uint32_t rank) const {
  return wholeLines(run->ranks[rank].scratchBytes);
}

uint64_t Bridge::privateBytes(uint32_t rank, Placement placement) const {
  const host::RankLayout &layout = run->ranks[rank];
  if (run == &caller)
    return copiesInput(rank, placement) ? paddedBytes(layout.input) : 0;
  return paddedBytes(layout.input) * (copiesInput(rank, Placement::Apart) ? 2 : 1) + paddedBytes(layout.output);
}

/// Between the inner buffer as its owner sees it and its place in the outer one. Only an input on its way there may
/// have to be scaled.
void Bridge::addInner(uint32_t rank, bool intoOuter, std::byte *outer, std::byte *inner,
                      std::vector<Move> &moves) const {
  const bundle::RankView &view = program.rank(rank);
  const host::RankLayout &layout = run->ranks[rank];
  const BufferLayout &apart = view.alias == Alias::InputInOutput ? layout.input : layout.output;
  std::byte *in = outer + layout.aliasElement * run->elementSize;
  intoOuter ? add(moves, scaling(), in, inner, apart.elements)
            : add(moves, Move::Kind::Copy, inner, in, apart.elements);
}

RankMemory Bridge::crossUnpadded(uint32_t rank, Placement placement, Ends ends, std::byte *memory,
                                 Surroundings &surroundings) const {
  const bundle::RankView &view = program.rank(rank);
  const host::RankLayout &layout = run->ranks[rank];
  RankMemory result{{ends.input, ends.output, nullptr}};
  const bool copied = copiesInput(rank, placement);
  const bool intoOutput = view.alias == Alias::InputInOutput && placement != Placement::Aliased && view.inputSlots != 0;
  if (copied) // a copy that goes on into the output is scaled on its way there
    add(surroundings.before, intoOutput ? Move::Kind::Copy : scaling(), memory, ends.input, layout.input.elements);
  std::byte *input = copied ? memory : ends.input;
  if (intoOutput)
    addInner(rank, true, ends.output, input, surroundings.before);
  else if (!copied && average.scale != 1) // lies where the program wants it: scaled there
    add(surroundings.before, Move::Kind::Scale, input, input, layout.input.elements);
  if (view.alias != Alias::InputInOutput)
    result.buffers[static_cast<uint32_t>(Buffer::Input)] = input;
  if (view.alias == Alias::OutputInInput && copied)
    addInner(rank, false, input, ends.output, surroundings.after);
  if (average.divisor != 1)
    add(surroundings.after, Move::Kind::Divide, ends.output, ends.output, layout.output.elements);
  return result;
}

void Bridge::addBlocks(const BufferLayout &to, std::byte *toMemory, const BufferLayout &from, std::byte *fromMemory,
                       uint32_t blocks, std::vector<Move> &moves) const {
  const size_t size = run->elementSize;
  for (uint64_t block = 0; block < blocks; ++block)
    add(moves, Move::Kind::Copy, toMemory + block * to.blockElements * size,
        fromMemory + block * from.blockElements * size, std::min(to.blockElements, from.blockElements));
}

RankMemory Bridge::cross(uint32_t rank, Placement placement, const host::Request &request, std::byte *memory,
                         Surroundings &surroundings) const {
  const Ends ends{static_cast<std::byte *>(const_cast<void *>(request.send)), static_cast<std::byte *>(request.recv)};
  if (run == &caller)
    return crossUnpadded(rank, placement, ends, memory, surroundings);
  const host::RankLayout &from = caller.ranks[rank], &to = run->ranks[rank];
  const Ends padded{memory, memory + paddedBytes(to.input)};
  // The output is copied as well: what the program leaves alone stays as the caller has it.
  addBlocks(to.output, padded.output, from.output, ends.output, program.outputBlocks(rank), surroundings.before);
  addBlocks(to.input, padded.input, from.input, ends.input, program.inputBlocks(rank), surroundings.before);
  const RankMemory result =
      crossUnpadded(rank, Placement::Apart, padded, padded.output + paddedBytes(to.output), surroundings);
  addBlocks(from.output, ends.output, to.output, padded.output, program.outputBlocks(rank), surroundings.after);
  return result;
}

} // namespace gc3::device
