// SPDX-License-Identifier: Apache-2.0
// Checks that the trace leaves the promised contents in each output chunk, with one comparison of hashes per chunk. For
// the first few wrong chunks, determines the exact contents in one backward pass over the operations. The pass tracks
// how many times the contents of each slot occur in the chunk. It is linear in the operations, even if the number of
// contributions doubles repeatedly.
#include "Stages.h"
#include "gc3/Support/PackedKey.h"
#include "gc3/Support/Quantity.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace gc3;
using namespace gc3::sema;

namespace {

constexpr size_t MaxChunksReported = 4;
constexpr size_t MaxInputsListed = 6;
constexpr size_t MaxMovesShown = 4;

/// Multiplicities of input chunks (rank, index). They saturate.
using Contributions = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;

void addSaturating(uint64_t &sum, uint64_t more) {
  if (__builtin_add_overflow(sum, more, &sum))
    sum = std::numeric_limits<uint64_t>::max();
}

uint64_t slotKey(uint32_t rank, ir::BufferId buffer, uint32_t index) {
  return (uint64_t(rank) << 8 | buffer) << 32 | index;
}

} // namespace

static Contributions contributionsOf(const ir::Collective &collective, const llvm::SmallVectorImpl<ir::ChunkOp> &ops,
                                     const ir::Location &chunk) {
  Contributions result;
  llvm::DenseMap<uint64_t, uint64_t, PackedKeyInfo> open; // by slot: how many times its contents at this point occur in
                                                          // the chunk
  ir::Location at = ir::canonical(collective, chunk);
  open[slotKey(at.rank, at.buffer, at.index)] = 1;
  for (size_t i = ops.size(); i-- > 0 && !open.empty();) {
    const ir::ChunkOp &op = ops[i];
    for (uint32_t k = 0; k < op.count; ++k) {
      auto entry = open.find(slotKey(op.dstRank, op.dstBuffer, op.dstIndex + k));
      if (entry == open.end())
        continue;
      uint64_t times = entry->second;
      if (op.kind == ir::ChunkOpKind::Start)
        addSaturating(result[{op.dstRank, k}], times);
      if (op.kind != ir::ChunkOpKind::Reduce)
        open.erase(entry);
      if (op.kind != ir::ChunkOpKind::Start)
        addSaturating(open[slotKey(op.srcRank, op.srcBuffer, op.srcIndex + k)], times);
    }
  }
  return result;
}

namespace {

/// A move of a contribution into a slot.
struct Move {
  uint32_t operation;
  uint32_t before; ///< index of the move that brought the contribution to the operation's source
  ir::Location to;
};

} // namespace

/// Follows a contribution forward, and returns the moves on the route to the slot that gets it last, in order. Linear
/// in the chunks of the operations. Returns nothing if there are more than a million moves.
static std::optional<std::vector<Move>> routeOf(const llvm::SmallVectorImpl<ir::ChunkOp> &ops, uint32_t rank,
                                                uint32_t index) {
  constexpr size_t maxMoves = 1 << 20;
  std::vector<Move> moves;                                   // the first is the start
  llvm::DenseMap<uint64_t, uint32_t, PackedKeyInfo> holders; // slots that hold the contribution, with their moves
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const ir::ChunkOp &op = ops[i];
    if (moves.size() > maxMoves)
      return std::nullopt;
    const bool isStart = op.kind == ir::ChunkOpKind::Start;
    for (uint32_t k = 0; k < op.count; ++k) {
      const ir::Location to{op.dstRank, op.dstBuffer, op.dstIndex + k};
      const uint64_t target = slotKey(to.rank, to.buffer, to.index);
      const auto source = isStart ? holders.end() : holders.find(slotKey(op.srcRank, op.srcBuffer, op.srcIndex + k));
      const bool arrives = isStart ? op.dstRank == rank && k == index : source != holders.end();
      if (arrives) {
        moves.push_back({i, isStart ? 0 : source->second, to});
        holders[target] = static_cast<uint32_t>(moves.size()) - 1;
      } else if (op.kind == ir::ChunkOpKind::Copy) {
        holders.erase(target);
      }
    }
  }
  std::vector<Move> route;
  for (size_t at = moves.empty() ? 0 : moves.size() - 1; at != 0; at = moves[at].before)
    route.push_back(moves[at]);
  std::reverse(route.begin(), route.end());
  return route;
}

/// Follows the copies of the chunk at `at` backwards. Returns the reduction that made the chunk's value, or null if no
/// reduction made it.
static const ir::ChunkOp *lastReduction(const llvm::SmallVectorImpl<ir::ChunkOp> &ops, ir::Location at) {
  for (size_t i = ops.size(); i-- > 0;) {
    const ir::ChunkOp &op = ops[i];
    if (op.dstRank != at.rank || op.dstBuffer != at.buffer || at.index - op.dstIndex >= op.count)
      continue;
    if (op.kind != ir::ChunkOpKind::Copy)
      return op.kind == ir::ChunkOpKind::Reduce ? &op : nullptr;
    at = {op.srcRank, op.srcBuffer, op.srcIndex + (at.index - op.dstIndex)};
  }
  return nullptr;
}

static Contributions wantedContributions(const ir::Postcondition &post, uint32_t value) {
  Contributions result;
  for (uint32_t i = post.valueBegin[value]; i < post.valueBegin[value + 1]; ++i) {
    const ir::Run &run = post.runs[i];
    for (uint32_t k = 0; k < run.length; ++k)
      addSaturating(result[{static_cast<uint32_t>(run.rank + int64_t(k) * run.rankStride),
                            static_cast<uint32_t>(run.index + int64_t(k) * run.indexStride)}],
                    1);
  }
  return result;
}

/// Returns a text such as "missing input(5, 0); input(2, 0) counted twice".
static std::string difference(const Contributions &wanted, const Contributions &got) {
  std::vector<std::string> parts;
  auto place = [](const auto &entry) {
    return "input(" + std::to_string(entry.first.first) + ", " + std::to_string(entry.first.second) + ")";
  };
  for (const auto &entry : wanted) {
    auto found = got.find(entry.first);
    if (found == got.end())
      parts.push_back("missing " + place(entry));
  }
  for (const auto &entry : got) {
    auto found = wanted.find(entry.first);
    uint64_t times = entry.second;
    if (found == wanted.end())
      parts.push_back("unexpected " + place(entry) + (times == 1 ? "" : ", counted " + timesText(times)));
    else if (found->second != times)
      parts.push_back(place(entry) + " counted " + timesText(times) +
                      (found->second == 1 ? "" : " instead of " + timesText(found->second)));
  }
  std::string text;
  for (size_t i = 0; i < parts.size() && i < MaxInputsListed; ++i)
    text += (i == 0 ? "" : "; ") + parts[i];
  if (parts.size() > MaxInputsListed)
    text += "; and " + std::to_string(parts.size() - MaxInputsListed) + " more";
  return text;
}

namespace {

/// Reports one error per program: the first wrong output chunk in the error, some others in notes.
class Reporter {
public:
  Reporter(const ir::ProgramInfo &programInfo, const llvm::SmallVectorImpl<ir::ChunkOp> &operations, Diagnostics &sink)
      : info(programInfo), ops(operations), diags(sink) {}

  /// `written` is the number of the operation that last wrote the chunk, counted from 1; 0: no operation.
  void wrong(uint32_t rank, uint32_t index, uint32_t wanted, uint32_t written);
  void finish();

private:
  void explainMissing(ir::Location chunk, SourceRange lastWrite, const Contributions &wanted, const Contributions &got);
  void showRoute(const std::vector<Move> &route, const std::string &input);

  const ir::ProgramInfo &info;
  const llvm::SmallVectorImpl<ir::ChunkOp> &ops;
  Diagnostics &diags;
  Diagnostic *report = nullptr;
  size_t failures = 0;
};

} // namespace

/// Shows where the value of a chunk was reduced last, and the route of the first contribution that the chunk lacks.
/// Shows the moves of a loop in one note.
void Reporter::explainMissing(ir::Location chunk, SourceRange lastWrite, const Contributions &wanted,
                              const Contributions &got) {
  const auto missing = llvm::find_if(wanted, [&](const auto &entry) { return got.count(entry.first) == 0; });
  if (missing == wanted.end())
    return;
  const ir::ChunkOp *reduction = lastReduction(ops, ir::canonical(info.collective, chunk));
  if (reduction && !(info.sites[reduction->site] == lastWrite))
    report->note(info.sites[reduction->site], "its value was last reduced here");
  const auto [rank, index] = missing->first;
  const std::string input = "input(" + std::to_string(rank) + ", " + std::to_string(index) + ")";
  const std::optional<std::vector<Move>> route = routeOf(ops, rank, index);
  if (route && route->empty())
    report->note({}, "no operation moves " + input);
  else if (route)
    showRoute(*route, input);
}

/// Adds notes for the moves of the route. `input` names the contribution.
void Reporter::showRoute(const std::vector<Move> &route, const std::string &input) {
  size_t notes = 0;
  for (size_t i = 0; i < route.size(); ++i) {
    const auto &[operation, before, to] = route[i];
    const uint32_t site = ops[operation].site;
    const bool isLast = i + 1 == route.size();
    if (!isLast && (ops[route[i + 1].operation].site == site || ++notes >= MaxMovesShown))
      continue;
    report->note(info.sites[site], input + " gets to " + info.bufferName(to.buffer) + "(" + std::to_string(to.rank) +
                                       ", " + std::to_string(to.index) + ") here" +
                                       (isLast ? ", and no operation moves it further" : ""));
  }
}

void Reporter::wrong(uint32_t rank, uint32_t index, uint32_t wanted, uint32_t written) {
  if (++failures > MaxChunksReported)
    return;
  const ir::Collective &collective = info.collective;
  const ir::ChunkOp *last = written == 0 ? nullptr : &ops[written - 1];
  bool isUntouched = last && last->kind == ir::ChunkOpKind::Start;
  std::string message = "output(" + std::to_string(rank) + ", " + std::to_string(index) + ")";
  const ir::Location chunk{rank, ir::OutputBuffer, index};
  const Contributions expected = wantedContributions(collective.post, wanted - 1);
  const Contributions got = last ? contributionsOf(collective, ops, chunk) : Contributions();
  if (last)
    message += (isUntouched ? " still has its contents from before the call: " : ": ") + difference(expected, got);
  else
    message += " is never written";
  SourceRange where = last && !isUntouched ? info.sites[last->site] : SourceRange();
  if (report) {
    report->note(where.isValid() ? where : info.nameRange, message + (where.isValid() ? "; last written here" : ""));
    return;
  }
  report = &diags.error(DiagId::Postcondition, info.nameRange,
                        "'" + info.name + "' does not do what '" + collective.name + "' promises: " + message);
  if (where.isValid())
    report->note(where, "last written here");
  explainMissing(chunk, where, expected, got);
}

void Reporter::finish() {
  if (failures > MaxChunksReported)
    report->note({}, "and " + quantity(failures - MaxChunksReported, "more output chunk"));
}

void gc3::sema::checkPostcondition(const ir::ProgramInfo &info, const std::vector<ChunkHash> &valueHashes,
                                   Tracer &tracer, Diagnostics &diags) {
  const ir::Collective &collective = info.collective;
  Reporter reporter(info, tracer.operations(), diags);
  for (uint32_t rank = 0; rank < collective.ranks; ++rank) {
    const Tracer::Slot *output = tracer.output(rank);
    for (uint32_t index = 0; index < collective.size(rank, ir::OutputBuffer); ++index) {
      uint32_t wanted = collective.post.wanted(rank, index);
      const auto &[hash, written] = output[index];
      bool good = wanted == ir::Postcondition::Anything || (written != 0 && hash == valueHashes[wanted - 1]);
      if (!good)
        reporter.wrong(rank, index, wanted, written);
    }
  }
  reporter.finish();
}
