// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ChunkHash.h"
#include "Failure.h"
#include "Lists.h"
#include "gc3/IR/ChunkDag.h"
#include "gc3/Sema/Sema.h"
#include "llvm/ADT/DenseMap.h"

namespace gc3::sema {

/// Destination of a copy, or operand of `chunk`, with the numbers that the program computed.
struct ChunkRange {
  int64_t rank;
  int64_t buffer;
  int64_t index;
  int64_t count;
};

/// Executes chunk operations on symbolic contents and records them. begin(), chunk(), copy() and reduce() return false
/// on failure; `failure` then has the reason.
class Tracer {
public:
  /// The contents of a chunk, and the number of the operation that wrote it last, counted from 1 (0: never written).
  /// Most readers need both, so they are stored together.
  struct Slot {
    [[no_unique_address]] ChunkHash hash;
    uint32_t written = 0;
  };
  static_assert(sizeof(Slot) == sizeof(ChunkHash), "the count of a hash leaves room");

  Tracer(ir::ProgramInfo &programInfo, const SemaOptions &semaOptions);

  /// Fills the inputs, with one start operation per rank. Returns false if the buffers alone exceed the budget.
  bool begin();
  bool chunk(const ChunkRange &place, ChunkRef &result);
  bool copy(const ChunkRef &source, const ChunkRange &place, uint32_t directive, SourceRange site, ChunkRef &result);
  bool reduce(const ChunkRef &target, const ChunkRef &source, uint32_t directive, SourceRange site, ChunkRef &result);

  /// Returns the Chunk DAG with the recorded operations and the buffer sizes. Call after the last operation.
  ir::ChunkDag finish(std::shared_ptr<const ir::ProgramInfo> shared);
  const llvm::SmallVectorImpl<ir::ChunkOp> &operations() const { return ops; }
  /// Returns the chunks of a rank's output.
  const Slot *output(uint32_t rank) const { return slotsAt(locate({rank, 0, 1, 0, ir::OutputBuffer})); }

  Failure failure;

private:
  bool fail(DiagId id, std::string message);
  bool checkRange(const ChunkRange &place, bool grows);
  bool checkFresh(const ChunkRef &ref, const char *use);
  bool grow(uint32_t rank, ir::BufferId buffer, uint64_t size);
  bool record(ir::ChunkOpKind kind, const ir::Location &source, const ir::Location &target, uint32_t count,
              uint32_t directive, SourceRange site);
  uint32_t siteId(SourceRange site);
  ir::Location locate(const ChunkRef &ref) const {
    const Home &home = homes[ref.rank * bufferCount + ref.buffer];
    return {ref.rank, home.buffer, ref.index + home.offset};
  }
  Slot *slotsAt(const ir::Location &at) const { return buffers[at.rank * bufferCount + at.buffer].slots + at.index; }

  ir::ProgramInfo &info;
  const SemaOptions &options;
  uint32_t bufferCount;
  /// Location of a buffer: its own memory, or inside the other buffer of its rank.
  struct Home {
    ir::BufferId buffer;
    uint32_t offset;
  };
  struct Buffer {
    Slot *slots = nullptr;
    uint64_t size = 0;
  };
  std::vector<Home> homes;                ///< by rank and buffer
  std::vector<Buffer> buffers;            ///< by rank and buffer; aliased buffers are empty
  std::vector<Slot> fixed;                ///< all inputs and outputs
  std::vector<std::vector<Slot>> scratch; ///< by rank and buffer; used only for scratch buffers, which can grow
  llvm::SmallVector<ir::ChunkOp, 0> ops;
  uint64_t slotCount = 0;
  uint64_t started = 0; ///< number of start operations
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, uint32_t> siteIds;
  uint32_t latestSite = ~uint32_t(0);
};

} // namespace gc3::sema
