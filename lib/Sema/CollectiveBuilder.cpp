// SPDX-License-Identifier: Apache-2.0
// Converts clauses with computed numbers to ir::Collective. Packs contributions into arithmetic runs as they come,
// finds equal values by their hash, and stores equal rows of the postcondition once. Linear in contributions and in
// output chunks.
#include "CollectiveBuilder.h"
#include "gc3/Support/Quantity.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::sema;

static constexpr int64_t MaxRanks = 65536;

static const char *wordOf(ir::BufferId buffer) {
  return buffer == ir::InputBuffer ? "input" : "output";
}

static std::string shapeOf(ir::BufferId buffer, int64_t blocks, int64_t chunks) {
  return std::string(wordOf(buffer)) + " of " + quantity(blocks, "block") + " of " + quantity(chunks, "chunk");
}

static std::string rankOutOfRange(int64_t rank, uint32_t ranks) {
  return "there is no rank " + std::to_string(rank) + ", the last one is rank " + std::to_string(ranks - 1);
}

static std::string placeOf(ir::BufferId buffer, int64_t rank, int64_t index) {
  return std::string(wordOf(buffer)) + "(" + std::to_string(rank) + ", " + std::to_string(index) + ")";
}

void Promises::reset(uint32_t ranks, uint32_t width) {
  common.values.assign(width, ir::Postcondition::Anything);
  common.clauseOf.assign(width, 0);
  rows.clear();
  own.assign(ranks, Common);
}

static void setIn(Promises::Row &row, uint32_t index, uint32_t value, uint16_t clause) {
  row.values[index] = value;
  row.clauseOf[index] = clause;
}

void Promises::set(uint32_t rank, uint32_t index, uint32_t value, uint16_t clause) {
  if (own[rank] == Common) {
    own[rank] = static_cast<uint32_t>(rows.size());
    rows.push_back(common);
  }
  setIn(rows[own[rank]], index, value, clause);
}

bool Promises::setEverywhere(uint32_t index, uint32_t value, uint16_t clause) {
  auto isFree = [&](const Row &row) { return row.values[index] == ir::Postcondition::Anything; };
  if (!isFree(common) || !std::all_of(rows.begin(), rows.end(), isFree))
    return false;
  setIn(common, index, value, clause);
  for (Row &row : rows)
    setIn(row, index, value, clause);
  return true;
}

CollectiveBuilder::CollectiveBuilder(std::string name, const SemaOptions &semaOptions) : options(semaOptions) {
  collective.name = std::move(name);
}

bool CollectiveBuilder::fail(DiagId id, std::string message) {
  failure = {id, std::move(message)};
  return false;
}

bool CollectiveBuilder::setRanks(int64_t ranks) {
  if (ranks < 1 || ranks > MaxRanks)
    return fail(DiagId::BadShape, "'" + collective.name + "' on " + std::to_string(ranks) + " ranks; it must be 1 to " +
                                      std::to_string(MaxRanks));
  collective.ranks = static_cast<uint32_t>(ranks);
  collective.hasInput.assign(collective.ranks, 1);
  collective.hasOutput.assign(collective.ranks, 1);
  collective.aliases.resize(collective.ranks);
  return true;
}

bool CollectiveBuilder::setShape(ir::BufferId buffer, int64_t blocks, int64_t chunks) {
  if (blocks < 1 || chunks < 1)
    return fail(DiagId::BadShape, shapeOf(buffer, blocks, chunks) + "; both must be at least 1");
  int64_t total = 0;
  if (__builtin_mul_overflow(blocks, chunks, &total) || static_cast<uint64_t>(total) > options.maxSlots ||
      static_cast<uint64_t>(total) * collective.ranks > options.maxSlots)
    return fail(DiagId::SlotBudget, shapeOf(buffer, blocks, chunks) + " on " + quantity(collective.ranks, "rank") +
                                        ": more than " + quantity(options.maxSlots, "chunk") +
                                        "; --max-slots allows more");
  ir::Shape &shape = buffer == ir::InputBuffer ? collective.input : collective.output;
  shape = {static_cast<uint32_t>(blocks), static_cast<uint32_t>(chunks)};
  if (buffer == ir::OutputBuffer) {
    promises.reset(collective.ranks, shape.total());
  }
  return true;
}

bool CollectiveBuilder::setOwners(ir::BufferId buffer, const std::vector<int64_t> &owners) {
  std::vector<uint8_t> &has = buffer == ir::InputBuffer ? collective.hasInput : collective.hasOutput;
  has.assign(collective.ranks, 0);
  for (int64_t rank : owners) {
    if (rank < 0 || rank >= collective.ranks)
      return fail(DiagId::RankOutOfRange, std::string(wordOf(buffer)) + ": " + rankOutOfRange(rank, collective.ranks));
    has[static_cast<size_t>(rank)] = 1;
  }
  return true;
}

/// Reports the reason why the chunk does not exist. Returns false.
bool CollectiveBuilder::refuseChunk(ir::BufferId buffer, int64_t rank, int64_t index) {
  if (rank < 0 || rank >= collective.ranks)
    return fail(DiagId::RankOutOfRange, placeOf(buffer, rank, index) + ": " + rankOutOfRange(rank, collective.ranks));
  uint32_t size = collective.size(static_cast<uint32_t>(rank), buffer);
  if (size == 0)
    return fail(DiagId::NoSuchBuffer,
                placeOf(buffer, rank, index) + ": rank " + std::to_string(rank) + " has no " + wordOf(buffer));
  return fail(DiagId::ChunkOutOfRange,
              placeOf(buffer, rank, index) + ": the " + wordOf(buffer) + " of a rank has " + quantity(size, "chunk"));
}

bool CollectiveBuilder::setAlias(ir::BufferId inner, int64_t rank, int64_t index, int64_t outerRank,
                                 int64_t outerIndex) {
  ir::BufferId outer = inner == ir::InputBuffer ? ir::OutputBuffer : ir::InputBuffer;
  std::string what = placeOf(inner, rank, index) + " is " + placeOf(outer, outerRank, outerIndex);
  for (int64_t r : {rank, outerRank})
    if (r < 0 || r >= collective.ranks)
      return fail(DiagId::RankOutOfRange, what + ": " + rankOutOfRange(r, collective.ranks));
  if (rank != outerRank)
    return fail(DiagId::BadAlias, what + ": both places must be on one rank");
  auto r = static_cast<uint32_t>(rank);
  uint32_t innerSize = collective.size(r, inner), outerSize = collective.size(r, outer);
  if (innerSize == 0 || outerSize == 0)
    return true;
  ir::RankAlias::Kind kind = inner == ir::InputBuffer ? ir::RankAlias::InputInOutput : ir::RankAlias::OutputInInput;
  int64_t offset = 0;
  bool overflow = __builtin_sub_overflow(outerIndex, index, &offset);
  if (overflow || offset < 0 || offset > outerSize || offset + innerSize > outerSize)
    return fail(DiagId::BadAlias, what + ": the " + wordOf(inner) + " of " + std::to_string(innerSize) +
                                      " chunks does not lie inside the " + wordOf(outer) + " of " +
                                      std::to_string(outerSize));
  const ir::Shape &container = outer == ir::InputBuffer ? collective.input : collective.output;
  const ir::Shape &contained = inner == ir::InputBuffer ? collective.input : collective.output;
  if (container.chunks != contained.chunks)
    return fail(DiagId::BadAlias, what + ": blocks of " + std::to_string(contained.chunks) +
                                      " chunks inside blocks of " + std::to_string(container.chunks) +
                                      "; they must be equal");
  if (offset % container.chunks != 0)
    return fail(DiagId::BadAlias, what + ": chunk " + std::to_string(offset) + " of the " + wordOf(outer) +
                                      " does not begin a block of " + std::to_string(container.chunks) + " chunks");
  ir::RankAlias &alias = collective.aliases[r];
  ir::RankAlias fresh{kind, static_cast<uint32_t>(offset)};
  if (alias.kind != ir::RankAlias::None && (alias.kind != fresh.kind || alias.offset != fresh.offset))
    return fail(DiagId::BadAlias,
                what + ": input and output of rank " + std::to_string(rank) + " have another alias already");
  alias = fresh;
  return true;
}

void CollectiveBuilder::beginValue() {
  pending.clear();
  pendingHash = {};
}

/// Adds the chunk to `run` if it continues the run; returns false otherwise. The second chunk of a run sets the
/// strides.
static bool extend(ir::Run &run, uint32_t rank, uint32_t index) {
  constexpr int64_t limit = 1 << 30;
  int64_t rankStep = int64_t(rank) - run.rank, indexStep = int64_t(index) - run.index;
  if (run.length == 1 && std::abs(rankStep) < limit && std::abs(indexStep) < limit) {
    run.rankStride = static_cast<int32_t>(rankStep);
    run.indexStride = static_cast<int32_t>(indexStep);
  } else if (rankStep != int64_t(run.length) * run.rankStride || indexStep != int64_t(run.length) * run.indexStride) {
    return false;
  }
  ++run.length;
  return true;
}

bool CollectiveBuilder::addToValue(int64_t rank, int64_t index) {
  if (!checkChunk(ir::InputBuffer, rank, index))
    return false;
  auto r = static_cast<uint32_t>(rank), i = static_cast<uint32_t>(index);
  pendingHash.add(hashOfInput(r, i));
  if (!pending.empty() && extend(pending.back(), r, i))
    return true;
  pending.push_back({r, i, 0, 0, 1});
  if (reductionRuns + pending.size() > options.maxRuns)
    return fail(DiagId::SlotBudget, "'" + collective.name + "' promises reductions with more than " +
                                        std::to_string(options.maxRuns) + " arithmetic runs of chunks");
  return true;
}

/// Returns the table entry for the number of the value that was built last. Sets `isNew` to true if the value has no
/// number yet, else to false.
uint32_t &CollectiveBuilder::knownValue(bool &isNew) {
  if (pendingHash.count == 1) {
    size_t width = collective.input.total();
    if (valueOfChunk.empty())
      valueOfChunk.assign(collective.ranks * width, NoValue);
    uint32_t &value = valueOfChunk[pending.front().rank * width + pending.front().index];
    isNew = value == NoValue;
    return value;
  }
  auto [entry, inserted] = valueOfHash.try_emplace({pendingHash.low, pendingHash.high >> 1}, NoValue);
  isNew = inserted;
  return entry->second;
}

void CollectiveBuilder::endValue() {
  ir::Postcondition &post = collective.post;
  bool isNew = false;
  uint32_t &value = knownValue(isNew);
  if (isNew) {
    value = post.valueCount();
    valueHashes.push_back(pendingHash);
    reductionRuns += pendingHash.count > 1 ? pending.size() : 0;
    post.runs.insert(post.runs.end(), pending.begin(), pending.end());
    post.valueBegin.push_back(static_cast<uint32_t>(post.runs.size()));
  }
  current = value;
}

bool CollectiveBuilder::canPromise(int64_t rank, int64_t index, SourceRange clause) {
  if (!checkChunk(ir::OutputBuffer, rank, index))
    return false;
  if (valueHashes[current].count == 0)
    return fail(DiagId::BadShape, placeOf(ir::OutputBuffer, rank, index) + ": a reduction of no chunks");
  if (clauses.empty() || !(clauses.back() == clause))
    clauses.push_back(clause);
  return true;
}

bool CollectiveBuilder::ensure(int64_t rank, int64_t index, SourceRange clause) {
  if (!canPromise(rank, index, clause))
    return false;
  auto r = static_cast<uint32_t>(rank);
  auto i = static_cast<uint32_t>(index);
  uint32_t present = promises.row(r).values[i];
  if (present == ir::Postcondition::Anything)
    promises.set(r, i, current + 1, clauseNumber());
  if (present == ir::Postcondition::Anything || present == current + 1)
    return true;
  fail(DiagId::ConflictingEnsures, placeOf(ir::OutputBuffer, rank, index) + " is promised " +
                                       ir::describeValue(collective.post, current) + " here and " +
                                       ir::describeValue(collective.post, present - 1) + " before");
  failure.notes.push_back({clauses[promises.row(r).clauseOf[i]], "the other promise is here"});
  return false;
}

bool CollectiveBuilder::ensureAll(int64_t first, int64_t end, int64_t step, int64_t index, SourceRange clause) {
  bool everywhere =
      first == 0 && end == collective.ranks && step == 1 &&
      std::find(collective.hasOutput.begin(), collective.hasOutput.end(), 0) == collective.hasOutput.end();
  if (everywhere && canPromise(0, index, clause) &&
      promises.setEverywhere(static_cast<uint32_t>(index), current + 1, clauseNumber()))
    return true;
  for (int64_t rank = first; step > 0 ? rank < end : rank > end;) {
    if (!ensure(rank, index, clause))
      return false;
    if (__builtin_add_overflow(rank, step, &rank))
      break;
  }
  return true;
}

ir::Collective CollectiveBuilder::finish() {
  std::vector<ChunkHash> hashes;
  auto wantedOf = [&](uint32_t rank) { return llvm::ArrayRef(promises.row(rank).values); };
  for (uint32_t old : ir::setRows(collective, wantedOf))
    hashes.push_back(valueHashes[old]);
  valueHashes = std::move(hashes);
  return std::move(collective);
}
