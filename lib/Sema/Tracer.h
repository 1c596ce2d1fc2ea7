// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ChunkHash.h"
#include "Failure.h"
#include "Lists.h"
#include "gc3/IR/ChunkDag.h"
#include "gc3/Sema/Sema.h"
#include "llvm/ADT/DenseMap.h"

namespace gc3::sema {

/// Destination of a copy, or what `chunk` refers to, as the program says it.
struct Place {
  int64_t rank;
  int64_t buffer;
  int64_t index;
  int64_t count;
};

/// Runs chunk operations on symbolic contents and records them. Every method but the constructor returns whether it
/// worked; if not, `failure` says why.
class Tracer {
public:
  /// Chunks of one buffer from one on: what is in them, and how many operations there had been when they were written
  /// (0: never). Every use of a reference asks for the latter, so they lie close together.
  struct Slots {
    ChunkHash *hashes;
    uint32_t *written;
  };

  Tracer(ir::ProgramInfo &programInfo, const SemaOptions &semaOptions);

  /// Fills the inputs, one start operation per rank. False if the buffers alone pass the budget.
  bool begin();
  bool chunk(const Place &place, ChunkRef &result);
  bool copy(const ChunkRef &source, const Place &place, uint32_t directive, SourceRange site, ChunkRef &result);
  bool reduce(const ChunkRef &target, const ChunkRef &source, uint32_t directive, SourceRange site, ChunkRef &result);

  /// The chunk DAG's operations and sizes, once all is traced.
  ir::ChunkDag finish(std::shared_ptr<const ir::ProgramInfo> shared);
  const llvm::SmallVectorImpl<ir::ChunkOp> &operations() const { return ops; }
  Slots output(uint32_t rank) { return slotsAt(locate({rank, 0, 1, 0, ir::OutputBuffer})); }

  Failure failure;

private:
  bool fail(DiagId id, std::string message);
  bool checkPlace(const Place &place, bool grows);
  bool checkFresh(const ChunkRef &ref, const char *use);
  bool grow(uint32_t rank, ir::BufferId buffer, uint64_t size);
  bool record(ir::ChunkOpKind kind, const ir::Location &source, const ir::Location &target, uint32_t count,
              uint32_t directive, SourceRange site);
  uint32_t siteId(SourceRange site);
  ir::Location locate(const ChunkRef &ref) const {
    const Home &home = homes[ref.rank * bufferCount + ref.buffer];
    return {ref.rank, home.buffer, ref.index + home.offset};
  }
  Slots slotsAt(const ir::Location &at) {
    const Slots &first = buffers[at.rank * bufferCount + at.buffer].slots;
    return {first.hashes + at.index, first.written + at.index};
  }

  ir::ProgramInfo &info;
  const SemaOptions &options;
  uint32_t bufferCount;
  /// Where a buffer lies: in itself, or inside the other one of its rank.
  struct Home {
    ir::BufferId buffer;
    uint32_t offset;
  };
  /// Storage for the chunks of one buffer or of several.
  struct Storage {
    std::vector<ChunkHash> hashes;
    std::vector<uint32_t> written;
    void resize(uint64_t size) {
      hashes.resize(size);
      written.resize(size);
    }
    Slots from(uint64_t first) { return {hashes.data() + first, written.data() + first}; }
  };
  struct Buffer {
    Slots slots{};
    uint64_t size = 0;
  };
  std::vector<Home> homes;      ///< by rank and buffer
  std::vector<Buffer> buffers;  ///< by rank and buffer; aliased ones are empty
  Storage fixed;                ///< all inputs and outputs
  std::vector<Storage> scratch; ///< by rank and buffer; only of scratch buffers, which grow
  llvm::SmallVector<ir::ChunkOp, 0> ops;
  uint64_t slotCount = 0;
  uint64_t started = 0; ///< start operations
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, uint32_t> siteIds;
  uint32_t latestSite = ~uint32_t(0);
};

} // namespace gc3::sema
