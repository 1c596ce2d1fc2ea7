// SPDX-License-Identifier: Apache-2.0
// Turns chunk operations into instructions (GC3 sections 4.2 and 5.1). An operation with k parallel instances becomes k
// operations; the j-th works on the j-th of k equal contiguous parts of the range. All chunks are cut into the same
// number of slots, so that each such part has a whole number of slots. This pass tracks the dependencies again, by
// slot. If operations have different numbers of instances, the dependencies between instances differ from those between
// operations.
#include "Stages.h"
#include "gc3/IR/SlotTracker.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/Quantity.h"
#include <algorithm>
#include <numeric>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::lower;

namespace {

class Expander {
public:
  Expander(const ChunkDag &dag, const Options &options, Diagnostics &diags)
      : chunks(dag), info(*dag.info), options(options), diags(diags), result(dag) {}

  std::optional<Unfused> run();

private:
  bool chooseSubdivision();
  bool checkMoves();
  bool number();
  void track(uint32_t part);
  bool trackAll();
  uint32_t slotOf(uint32_t rank, const Slice &slice) const { return slots->slot(rank, slice.buffer, slice.first); }
  void findWanted();

  const ChunkDag &chunks;
  const ProgramInfo &info;
  const Options &options;
  Diagnostics &diags;
  Unfused result;
  std::optional<SlotMap> slots;
  std::optional<SlotTracker> tracker;
};

} // namespace

/// Chooses the smallest number of slots per chunk for which every part of every operation has a whole number of slots.
/// Returns false after an error.
bool Expander::chooseSubdivision() {
  uint64_t chunksInAll = std::accumulate(chunks.bufferSizes.begin(), chunks.bufferSizes.end(), uint64_t(0));
  uint64_t subdivision = 1;
  for (const ChunkOp &op : chunks.ops) {
    uint32_t parallel = info.directives[op.directive].parallel;
    if (parallel == 1 || op.kind == ChunkOpKind::Start)
      continue;
    subdivision = std::lcm(subdivision, uint64_t(parallel / std::gcd(op.count, parallel)));
    if (subdivision * chunksInAll >= std::numeric_limits<uint32_t>::max()) {
      diags
          .error(DiagId::Subdivision, info.sites[op.site],
                 "the parallel instances cut the program's " + std::to_string(chunksInAll) + " chunks into " +
                     std::to_string(subdivision) +
                     " parts each, more than 2^32 in all; use fewer instances, or factors "
                     "that divide each other")
          .note(info.directives[op.directive].parallelSite,
                "this operation runs in " + std::to_string(parallel) + " instances because of this");
      return false;
    }
  }
  result.subdivision = static_cast<uint32_t>(subdivision);
  return true;
}

/// Limits the number of slots that operations move, because the later passes take time for each of them.
bool Expander::checkMoves() {
  uint64_t moved = 0;
  for (const ChunkOp &op : chunks.ops) {
    if (op.kind == ChunkOpKind::Start)
      continue;
    moved += uint64_t(op.count) * result.subdivision;
    if (moved / 4 > options.maxSlots) {
      diags.error(DiagId::SlotBudget, info.sites[op.site],
                  "with this operation the program moves " + quantity(moved, "slot") +
                      ", too many to analyze; use fewer chunks or parallel instances, or allow more with --max-slots");
      return false;
    }
  }
  return true;
}

/// Creates the parts of every operation, and limits the number of instructions. Returns false after an error.
bool Expander::number() {
  uint64_t instructions = 0;
  uint64_t numbers = 0; // number of parts
  for (const ChunkOp &op : chunks.ops) {
    uint64_t parallel = op.kind == ChunkOpKind::Start ? 1 : info.directives[op.directive].parallel;
    numbers += parallel;
    if (op.kind != ChunkOpKind::Start)
      instructions += parallel * (Unfused::isTransfer(op) ? 2 : 1);
    if (instructions > options.maxInstructions) {
      diags.error(DiagId::OperationBudget, info.sites[op.site],
                  "the program has more than " + quantity(options.maxInstructions, "instruction") +
                      " with this operation; use fewer parallel instances, or allow more with --max-ops");
      return false;
    }
  }
  if (numbers == chunks.ops.size())
    return true;
  result.parts.reserve(numbers);
  for (uint32_t index = 0; index != chunks.ops.size(); ++index) {
    const ChunkOp &op = chunks.ops[index];
    uint32_t parallel = op.kind == ChunkOpKind::Start ? 1 : info.directives[op.directive].parallel;
    auto first = static_cast<uint32_t>(result.parts.size());
    result.parts.insert(result.parts.end(), parallel, {index, first});
  }
  return true;
}

/// Passes the reads and writes of a part to the tracker. A part has two nodes in the tracker, one for each of its
/// numbers.
void Expander::track(uint32_t part) {
  const ChunkOp &op = result.operation(2 * part);
  if (op.kind == ChunkOpKind::Start) {
    tracker->endNode();
    tracker->endNode();
    return;
  }
  Slice source = result.source(2 * part);
  uint32_t target = slotOf(op.dstRank, result.target(2 * part));
  tracker->read(slotOf(op.srcRank, source), source.count);
  bool transfer = Unfused::isTransfer(op);
  if (transfer)
    tracker->endNode();
  if (op.kind == ChunkOpKind::Reduce)
    tracker->read(target, source.count);
  tracker->write(target, source.count);
  tracker->endNode();
  if (!transfer)
    tracker->endNode();
}

/// Tracks the dependencies of all parts. Returns false, with an error, if this takes too much memory.
bool Expander::trackAll() {
  tracker.emplace(slots->total());
  tracker->reserve(result.size());
  uint32_t parts = result.size() / 2;
  uint64_t mostLinks = SlotTracker::mostLinks(parts, options.maxSlots);
  for (uint32_t part = 0; part != parts; ++part) {
    track(part);
    if (tracker->links() > mostLinks) {
      diags.error(DiagId::SlotBudget, info.sites[result.operation(2 * part).site],
                  "with this operation the program's slots make more than " + std::to_string(mostLinks) +
                      " dependencies, too many to analyze; use larger chunks, or allow more with --max-slots");
      return false;
    }
  }
  return true;
}

void Expander::findWanted() {
  const Collective &collective = info.collective;
  result.wanted.resize(result.size());
  for (uint32_t rank = 0; rank != collective.ranks; ++rank) {
    uint32_t size = collective.size(rank, OutputBuffer);
    if (size == 0)
      continue;
    uint32_t first = slots->first(collective, rank, OutputBuffer, result.subdivision);
    for (uint32_t slot = 0; slot != size * result.subdivision; ++slot) {
      if (collective.post.wanted(rank, slot / result.subdivision) == Postcondition::Anything)
        continue;
      if (uint32_t writer = tracker->writer(first + slot); writer != SlotTracker::NoEntry)
        result.wanted[writer] = 1;
    }
  }
}

std::optional<Unfused> Expander::run() {
  if (!chooseSubdivision() || !checkMoves() || !number())
    return std::nullopt;
  std::vector<uint32_t> sizes = chunks.bufferSizes;
  for (uint32_t &size : sizes)
    size *= result.subdivision;
  slots.emplace(sizes, info.bufferCount());
  if (!trackAll())
    return std::nullopt;
  findWanted();
  result.edges = tracker->take();
  return std::move(result);
}

std::optional<Unfused> gc3::lower::expand(const ChunkDag &dag, const Options &options, Diagnostics &diags) {
  return Expander(dag, options, diags).run();
}
