// SPDX-License-Identifier: Apache-2.0
// The trace of GC3 section 4.1. Checks each chunk operation against the state of the slots that it touches, and adds it
// to the Chunk DAG. An operation takes constant time plus time linear in its count.
#include "Tracer.h"
#include "gc3/Support/Quantity.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::sema;

std::string gc3::sema::chunkRange(uint64_t index, uint64_t count) {
  if (count == 1)
    return "chunk " + std::to_string(index);
  return "chunks " + std::to_string(index) + ".." + std::to_string(index + count);
}

Tracer::Tracer(ir::ProgramInfo &programInfo, const SemaOptions &semaOptions)
    : info(programInfo), options(semaOptions), bufferCount(programInfo.bufferCount()) {}

bool Tracer::fail(DiagId id, std::string message) {
  failure = {id, std::move(message)};
  return false;
}

bool Tracer::begin() {
  const ir::Collective &collective = info.collective;
  buffers.resize(size_t(collective.ranks) * bufferCount);
  homes.reserve(buffers.size());
  for (uint32_t rank = 0; rank < collective.ranks; ++rank)
    for (uint32_t buffer = 0; buffer < bufferCount; ++buffer) {
      ir::Location first = ir::canonical(collective, {rank, static_cast<ir::BufferId>(buffer), 0});
      homes.push_back({first.buffer, first.index});
    }
  for (uint32_t rank = 0; rank < collective.ranks; ++rank) {
    ir::RankAlias::Kind alias = collective.aliases[rank].kind;
    uint64_t sizes[] = {alias == ir::RankAlias::InputInOutput ? 0 : collective.size(rank, ir::InputBuffer),
                        alias == ir::RankAlias::OutputInInput ? 0 : collective.size(rank, ir::OutputBuffer)};
    for (ir::BufferId buffer : {ir::InputBuffer, ir::OutputBuffer}) {
      slotCount += sizes[buffer];
      if (slotCount > options.maxSlots)
        return fail(DiagId::SlotBudget, "the buffers of '" + collective.name + "' have more than " +
                                            quantity(options.maxSlots, "chunk") +
                                            " on all ranks together; --max-slots allows more");
      buffers[rank * bufferCount + buffer].size = sizes[buffer];
    }
  }
  fixed.reserve(slotCount);
  Slot *next = fixed.data();
  for (Buffer &buffer : buffers) {
    buffer.slots = next;
    next += buffer.size;
  }
  scratch.resize(buffers.size());
  uint32_t directive = static_cast<uint32_t>(info.directives.size());
  for (uint32_t rank = 0; rank < collective.ranks; ++rank) {
    uint32_t size = collective.size(rank, ir::InputBuffer);
    if (size == 0)
      continue;
    if (ops.empty())
      info.directives.emplace_back();
    ir::Location start = locate({rank, 0, size, 0, ir::InputBuffer});
    record(ir::ChunkOpKind::Start, start, start, size, directive, info.nameRange);
    fixed.resize(static_cast<size_t>(slotsAt(start) - fixed.data())); // `fixed` is filled in order, so each slot is
                                                                      // written once
    for (uint32_t i = 0; i < size; ++i)
      fixed.push_back({hashOfInput(rank, i), static_cast<uint32_t>(ops.size())});
  }
  fixed.resize(slotCount);
  started = ops.size();
  return true;
}

/// Grows a scratch buffer. Rejects a request beyond the budget before it allocates memory.
bool Tracer::grow(uint32_t rank, ir::BufferId id, uint64_t size) {
  Buffer &buffer = buffers[rank * bufferCount + id];
  if (size <= buffer.size)
    return true;
  if (size > options.maxScratch)
    return fail(DiagId::SlotBudget, "'" + info.bufferName(id) + "' of rank " + std::to_string(rank) + " would have " +
                                        std::to_string(size) + " chunks, and a scratch buffer may have " +
                                        std::to_string(options.maxScratch));
  slotCount += size - buffer.size;
  if (slotCount > options.maxSlots)
    return fail(DiagId::SlotBudget, "all buffers of all ranks together would have more than " +
                                        quantity(options.maxSlots, "chunk") + "; --max-slots allows more");
  std::vector<Slot> &slots = scratch[rank * bufferCount + id];
  slots.resize(size);
  buffer = {slots.data(), size};
  return true;
}

/// Returns ", only rank 3 has one" if a single rank has the buffer, such as the root; else an empty string.
static std::string onlyOwner(const ir::Collective &collective, ir::BufferId buffer) {
  const std::vector<uint8_t> &has = buffer == ir::InputBuffer ? collective.hasInput : collective.hasOutput;
  return llvm::count(has, 1) == 1 ? ", only rank " + std::to_string(llvm::find(has, 1) - has.begin()) + " has one" : "";
}

bool Tracer::checkRange(const ChunkRange &place, bool grows) {
  const ir::Collective &collective = info.collective;
  if (place.rank < 0 || place.rank >= collective.ranks)
    return fail(DiagId::RankOutOfRange, "there is no rank " + std::to_string(place.rank) + ": '" + collective.name +
                                            "' has " + quantity(collective.ranks, "rank") + ", the last one is rank " +
                                            std::to_string(collective.ranks - 1));
  auto rank = static_cast<uint32_t>(place.rank);
  if (place.count < 1)
    return fail(DiagId::ChunkOutOfRange, "a count of " + quantity(place.count, "chunk") + "; it must be at least 1");
  auto id = static_cast<ir::BufferId>(place.buffer);
  bool isScratch = id >= ir::FirstScratchBuffer;
  const std::string &name = info.bufferName(id);
  uint64_t size = isScratch ? buffers[rank * bufferCount + id].size : collective.size(rank, id);
  if (!isScratch && size == 0)
    return fail(DiagId::NoSuchBuffer, "rank " + std::to_string(rank) + " has no '" + name + "' in '" + collective.name +
                                          "'" + onlyOwner(collective, id));
  int64_t end = 0;
  bool overflow = __builtin_add_overflow(place.index, place.count, &end);
  if (isScratch && grows && place.index >= 0 && !overflow)
    return grow(rank, id, static_cast<uint64_t>(end));
  if (place.index < 0 || overflow || static_cast<uint64_t>(end) > size) {
    if (isScratch && place.index >= 0 && !overflow)
      return fail(DiagId::Uninitialised,
                  chunkRange(static_cast<uint64_t>(place.index), static_cast<uint64_t>(place.count)) + " of '" + name +
                      "' on rank " + std::to_string(rank) + ": nothing was written there yet");
    std::string range = place.count == 1 ? "chunk " + std::to_string(place.index)
                        : overflow ? std::to_string(place.count) + " chunks from " + std::to_string(place.index) + " on"
                                   : "chunks " + std::to_string(place.index) + ".." + std::to_string(end);
    return fail(DiagId::ChunkOutOfRange,
                range + " of '" + name + "' on rank " + std::to_string(rank) +
                    (isScratch ? ": indices begin at 0" : ": out of range, it has " + quantity(size, "chunk")));
  }
  return true;
}

bool Tracer::chunk(const ChunkRange &place, ChunkRef &result) {
  if (!checkRange(place, false))
    return false;
  result = {static_cast<uint32_t>(place.rank), static_cast<uint32_t>(place.index), static_cast<uint32_t>(place.count),
            static_cast<uint32_t>(ops.size()), static_cast<ir::BufferId>(place.buffer)};
  const Slot *slots = slotsAt(locate(result));
  for (uint32_t i = 0; i < result.count; ++i)
    if (slots[i].written == 0)
      return fail(DiagId::Uninitialised, "chunk " + std::to_string(result.index + i) + " of '" +
                                             info.bufferName(result.buffer) + "' on rank " +
                                             std::to_string(result.rank) + ": nothing was written there yet");
  return true;
}

bool Tracer::checkFresh(const ChunkRef &ref, const char *use) {
  const Slot *slots = slotsAt(locate(ref));
  for (uint32_t i = 0; i < ref.count; ++i) {
    if (slots[i].written <= ref.stamp)
      continue;
    const ir::ChunkOp &op = ops[slots[i].written - 1];
    const char *word = op.kind == ir::ChunkOpKind::Reduce ? "reduce" : "copy";
    fail(DiagId::StaleReference, std::string(use) + " stale: chunk " + std::to_string(ref.index + i) + " of '" +
                                     info.bufferName(ref.buffer) + "' on rank " + std::to_string(ref.rank) +
                                     " was overwritten after this reference was made; use the reference that '" + word +
                                     "' returned");
    failure.notes.push_back({info.sites[op.site], std::string("overwritten by this ") + word});
    return false;
  }
  return true;
}

static bool overlaps(const ir::Location &a, const ir::Location &b, uint32_t count) {
  return a.rank == b.rank && a.buffer == b.buffer && a.index < b.index + count && b.index < a.index + count;
}

bool Tracer::copy(const ChunkRef &source, const ChunkRange &place, uint32_t directive, SourceRange site,
                  ChunkRef &result) {
  if (!checkFresh(source, "the source of this copy is") ||
      !checkRange({place.rank, place.buffer, place.index, source.count}, true))
    return false;
  result = {static_cast<uint32_t>(place.rank), static_cast<uint32_t>(place.index), source.count, 0,
            static_cast<ir::BufferId>(place.buffer)};
  ir::Location from = locate(source), to = locate(result);
  if (overlaps(from, to, source.count)) {
    if (from.index != to.index)
      return fail(DiagId::Overlap, "copy of " + chunkRange(source.index, source.count) + " of '" +
                                       info.bufferName(source.buffer) + "' onto the overlapping " +
                                       chunkRange(result.index, result.count) + " of '" +
                                       info.bufferName(result.buffer) + "' on rank " + std::to_string(result.rank));
    result.stamp = static_cast<uint32_t>(ops.size()); // the copy has no effect, because both places are the same
    return true;
  }
  if (!record(ir::ChunkOpKind::Copy, from, to, source.count, directive, site))
    return false;
  result.stamp = static_cast<uint32_t>(ops.size());
  const Slot *read = slotsAt(from);
  Slot *write = slotsAt(to);
  for (uint32_t i = 0; i < source.count; ++i)
    write[i] = {read[i].hash, result.stamp};
  return true;
}

bool Tracer::reduce(const ChunkRef &target, const ChunkRef &source, uint32_t directive, SourceRange site,
                    ChunkRef &result) {
  if (!checkFresh(target, "the target of this reduce is") || !checkFresh(source, "the operand of this reduce is"))
    return false;
  if (target.count != source.count)
    return fail(DiagId::CountMismatch, "reduce of " + quantity(target.count, "chunk") + " with " +
                                           std::to_string(source.count) + "; the counts must agree");
  ir::Location from = locate(source), to = locate(target);
  if (overlaps(from, to, source.count))
    return fail(DiagId::Overlap, "reduce of " + chunkRange(target.index, target.count) + " of '" +
                                     info.bufferName(target.buffer) + "' with the overlapping " +
                                     chunkRange(source.index, source.count) + " of '" + info.bufferName(source.buffer) +
                                     "' on rank " + std::to_string(target.rank));
  if (!record(ir::ChunkOpKind::Reduce, from, to, source.count, directive, site))
    return false;
  result = target;
  result.stamp = static_cast<uint32_t>(ops.size());
  const Slot *read = slotsAt(from);
  Slot *write = slotsAt(to);
  for (uint32_t i = 0; i < source.count; ++i) {
    write[i].hash.add(read[i].hash);
    write[i].written = result.stamp;
  }
  return true;
}

bool Tracer::record(ir::ChunkOpKind kind, const ir::Location &source, const ir::Location &target, uint32_t count,
                    uint32_t directive, SourceRange site) {
  if (ops.size() - started >= options.maxOperations && kind != ir::ChunkOpKind::Start)
    return fail(DiagId::OperationBudget,
                "more than " + quantity(options.maxOperations, "chunk operation") + "; --max-ops allows more");
  ops.push_back({kind, source.buffer, target.buffer, source.rank, source.index, target.rank, target.index, count,
                 directive, siteId(site)});
  return true;
}

/// Returns the number of a site. Compares with the latest site first, because operations of one source place mostly
/// follow each other.
uint32_t Tracer::siteId(SourceRange site) {
  if (latestSite < info.sites.size() && info.sites[latestSite] == site)
    return latestSite;
  auto [entry, isNew] = siteIds.try_emplace({site.begin, site.end}, static_cast<uint32_t>(info.sites.size()));
  if (isNew)
    info.sites.push_back(site);
  latestSite = entry->second;
  return latestSite;
}

ir::ChunkDag Tracer::finish(std::shared_ptr<const ir::ProgramInfo> shared) {
  ir::ChunkDag dag;
  dag.info = std::move(shared);
  for (const Buffer &buffer : buffers)
    dag.bufferSizes.push_back(static_cast<uint32_t>(buffer.size));
  dag.ops = std::move(ops);
  return dag;
}
