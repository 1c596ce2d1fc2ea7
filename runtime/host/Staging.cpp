// SPDX-License-Identifier: Apache-2.0
// The copies that a rank makes depend on the program's alias and on the placement of the caller's buffers:
//   no alias, out of place: none. But if a step writes the input, or the input must be scaled: a private copy of it
//   no alias, in place: tile by tile during the run, copies of the input slots that can be overwritten before they are
//     read. But if these slots are unknown, a step writes the input, or the input must be scaled: a private copy of it
//   input in output, the caller's buffers overlap in the same way: none
//   input in output, out of place: a copy of the input at its place in the receive buffer. But if each step reads from
//     only one of the two buffers (Transfers::separable): a copy of only the slots that no step writes
//   output in input, the caller's buffers overlap in the same way: none
//   output in input, out of place: a private copy of the input. After the run, the output is copied from it
// A call in place whose buffers overlap in another way than the program's also needs a private copy of the input.
#include "host/Staging.h"

#include "host/Copy.h"
#include "host/Reduce.h"

#include <algorithm>

namespace gc3::host {

using namespace core;

using bundle::fbs::Alias;

namespace {

const std::byte *bytesOf(const void *pointer) {
  return static_cast<const std::byte *>(pointer);
}
std::byte *bytesOf(void *pointer) {
  return static_cast<std::byte *>(pointer);
}

/// Removes `const`, to scale aliased data in place, or to pass a buffer to the run.
std::byte *writable(const void *pointer) {
  return static_cast<std::byte *>(const_cast<void *>(pointer));
}

/// Copies data. Bypasses the caches for a large copy: its beginning would leave the caches before the copy ends.
void copyPart(std::byte *to, const std::byte *from, size_t bytes) {
  constexpr size_t bytesWorthStreaming = 4 << 20;
  if (bytes < bytesWorthStreaming) {
    copyBytes(to, from, bytes);
    return;
  }
  streamBytes(to, from, bytes);
  finishStreams();
}

} // namespace

Outcome Staging::plan(const LoadedProgram &newProgram, const Layout &newLayout, const Request &request) {
  loaded = &newProgram, program = newProgram.program.get(), layout = &newLayout;
  type = static_cast<ElementType>(request.type);
  if (Outcome outcome = placing.plan(newProgram, newLayout, request); !outcome.ok())
    return outcome;
  scaling = core::Scaling(newProgram, request);
  plans.resize(program->ranks());
  privateOffset.resize(program->ranks());
  for (uint32_t r = 0; r < program->ranks(); ++r) {
    size_t mostPrivate = 0;
    for (unsigned p = 0; p < placementCount; ++p) {
      plans[r][p] = planRank(r, static_cast<Placement>(p));
      mostPrivate = std::max(mostPrivate, plans[r][p].privateBytes);
    }
    privateOffset[r] = privateBytes;
    privateBytes += wholeCacheLines(mostPrivate);
  }
  return {};
}

Outcome Staging::reserve(const Site &site) {
  const Outcome outcome = staging.reserve(site, privateBytes);
  return outcome.ok() ? outcome : Outcome{outcome.code, "private copies: " + outcome.text};
}

Staging::RankPlan Staging::planRank(uint32_t rank, Placement placement) const {
  const bundle::RankView &view = program->rank(rank);
  RankPlan rankPlan;
  bool aliased = placement == Placement::Aliased, inPlace = placement == Placement::InPlace;
  const Transfers::Staged *staged = loaded->inPlace->staged(rank);
  if (view.inputSlots != 0) {
    switch (view.alias) {
    case Alias::None:
      rankPlan.inPlace = inPlace && staged && !view.writesInput && !scaling.scales;
      rankPlan.toPrivate = !rankPlan.inPlace && (inPlace || view.writesInput || scaling.scales);
      break;
    case Alias::InputInOutput:
      rankPlan.separate = placement == Placement::Apart && !scaling.scales && loaded->asWritten->separable(rank);
      rankPlan.toOutput = !aliased && !rankPlan.separate;
      rankPlan.toPrivate = inPlace;
      break;
    case Alias::OutputInInput: rankPlan.toPrivate = rankPlan.fromPrivate = !aliased; break;
    }
    rankPlan.scaleHere = aliased && scaling.scales;
  }
  rankPlan.divide = scaling.divisor != 1 && view.outputSlots != 0;
  if (rankPlan.toPrivate)
    rankPlan.privateBytes = layout->ranks[rank].input.elements * layout->elementSize;
  else if (rankPlan.inPlace)
    rankPlan.privateBytes = layout->stagedTileBytes(staged->slots) * layout->stagedTiles();
  return rankPlan;
}

RankMemory Staging::memory(uint32_t rank, Placement placement, const Request &request) const {
  const RankPlan &rankPlan = planOf(rank, placement);
  RankMemory memory{rankPlan.toPrivate ? privateCopy(rank) : writable(request.send), bytesOf(request.recv)};
  memory.separate = rankPlan.separate;
  memory.inPlace = rankPlan.inPlace;
  memory.staged = rankPlan.inPlace && rankPlan.privateBytes != 0 ? privateCopy(rank) : nullptr;
  return memory;
}

Sharing Staging::sharing(uint32_t rank, Placement placement) const {
  const RankPlan &rankPlan = planOf(rank, placement);
  if (rankPlan.toPrivate || rankPlan.toOutput || rankPlan.scaleHere)
    return Sharing::None;
  if (rankPlan.inPlace)
    return Sharing::InPlace;
  const bundle::RankView &view = program->rank(rank);
  bool oneBuffer = view.inputSlots == 0 || view.outputSlots == 0 || placement == Placement::Aliased;
  return oneBuffer ? Sharing::Either : Sharing::AsWritten;
}

void Staging::copyInput(std::byte *to, const Request &request, uint64_t elements) const {
  if (scaling.scales)
    multiply(type, to, request.send, elements, scaling.factor(request));
  else
    copyPart(to, bytesOf(request.send), elements * layout->elementSize);
}

void Staging::before(uint32_t rank, Placement placement, const Request &request) const {
  const RankPlan &rankPlan = planOf(rank, placement);
  const RankLayout &rankLayout = layout->ranks[rank];
  const std::byte *input = bytesOf(request.send);
  uint64_t elements = rankLayout.input.elements;
  std::byte *output = bytesOf(request.recv);
  if (rankPlan.scaleHere)
    multiply(type, writable(input), input, elements, scaling.factor(request));
  if (rankPlan.toPrivate)
    copyInput(privateCopy(rank), request, elements);
  if (rankPlan.separate)
    copyUntouched(rank, output, input);
  if (!rankPlan.toOutput)
    return;
  if (rankPlan.toPrivate) // the private copy is already scaled
    copyPart(inner(rank, output), privateCopy(rank), elements * layout->elementSize);
  else
    copyInput(inner(rank, output), request, elements);
}

void Staging::after(uint32_t rank, Placement placement, const Request &request) const {
  const RankPlan &rankPlan = planOf(rank, placement);
  std::byte *output = bytesOf(request.recv);
  if (rankPlan.fromPrivate)
    copyPart(output, inner(rank, privateCopy(rank)), layout->ranks[rank].output.elements * layout->elementSize);
  if (rankPlan.divide)
    divideForAverage(type, output, layout->ranks[rank].output.elements, scaling.divisor);
}

void Staging::copyUntouched(uint32_t rank, std::byte *output, const std::byte *input) const {
  const RankLayout &rankLayout = layout->ranks[rank];
  for (const SlotRange &run : loaded->asWritten->untouched(rank))
    for (uint32_t done = 0; done < run.count;) {
      BufferLayout::Position from = rankLayout.input.at(run.begin + done),
                             to = layout->buffers[rankLayout.firstBuffer].at(run.begin + done);
      uint64_t slots = std::min({uint64_t{run.count - done}, from.slots, to.slots});
      uint64_t elements = std::min({from.available, to.available, slots * layout->slotElements});
      copyPart(output + to.offset * layout->elementSize, input + from.offset * layout->elementSize,
               elements * layout->elementSize);
      done += static_cast<uint32_t>(slots);
    }
}

/// Returns the inner buffer's address in the outer buffer. The inner buffer begins at a block, and both buffers have
/// slots of the same length.
std::byte *Staging::inner(uint32_t rank, std::byte *outer) const {
  return outer + layout->ranks[rank].aliasElement * layout->elementSize;
}

} // namespace gc3::host
