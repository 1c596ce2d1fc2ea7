// SPDX-License-Identifier: Apache-2.0
// The first IR (GC3 section 4.1): one node per chunk operation, in trace order. All locations are canonical
// (ir::canonical).
#pragma once

#include "gc3/IR/Collective.h"
#include "gc3/Support/Location.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace gc3::ir {

enum class Protocol : uint8_t { Simple, LL, LL128 };
const char *name(Protocol protocol);

/// Scheduling directives that apply to an operation; -1: not given.
struct Directive {
  int32_t channel = -1;
  int32_t sendThreadBlock = -1;
  int32_t recvThreadBlock = -1;
  uint32_t parallel = 1;    ///< number of parallel instances: the product of the enclosing parallelize blocks and
                            ///< `instances`
  SourceRange channelSite;  ///< place of the channel directive
  SourceRange parallelSite; ///< place of the innermost parallelize block or `instances`
  bool operator==(const Directive &) const = default;
};

/// Data that all IRs of one program share.
struct ProgramInfo {
  static constexpr uint64_t NoLimit = std::numeric_limits<uint64_t>::max();

  std::string name;
  SourceRange nameRange;
  Collective collective;
  Protocol protocol = Protocol::Simple;
  uint64_t minBytes = 0; ///< size limits: bytes of the larger of one rank's input and output, at least minBytes and
                         ///< less than maxBytes
  uint64_t maxBytes = NoLimit;
  SourceRange sizesRange;
  bool isPinned = false; ///< true: online selection keeps this program for these sizes
  /// Number of nodes, of equally many consecutive ranks, that the program is for; 0: it is for any wiring.
  uint32_t nodes = 0;
  bool allowsGaps = false; ///< true: calls of sizes next to these go to NCCL on purpose
  std::vector<std::string> scratchNames;
  std::vector<Directive> directives;
  std::vector<SourceRange> sites; ///< source ranges of operations

  /// Returns true if a directive names a thread block by number.
  bool pinsThreadBlocks() const;
  uint32_t bufferCount() const { return FirstScratchBuffer + static_cast<uint32_t>(scratchNames.size()); }
  /// Returns "input", "output" or the scratch buffer's name.
  const std::string &bufferName(BufferId buffer) const;
};

/// `Start` represents a rank's input at the start of a call; only its dst is set. `Reduce` combines src into dst.
enum class ChunkOpKind : uint8_t { Start, Copy, Reduce };

struct ChunkOp {
  ChunkOpKind kind;
  BufferId srcBuffer;
  BufferId dstBuffer;
  uint32_t srcRank;
  uint32_t srcIndex;
  uint32_t dstRank;
  uint32_t dstIndex;
  uint32_t count;
  uint32_t directive; ///< index in ProgramInfo::directives
  uint32_t site;      ///< index in ProgramInfo::sites
};
static_assert(sizeof(ChunkOp) == 32);

/// Edges to earlier nodes, in CSR form: node i depends on edges [begin[i], begin[i + 1]).
struct Dependencies {
  /// The earlier node, and the kind of the dependency. The kind is true if data flows, and false if only a slot is
  /// reused.
  class Edge {
  public:
    Edge(uint32_t node, bool isFalse) : bits(node << 1 | uint32_t(isFalse)) {}
    uint32_t node() const { return bits >> 1; }
    bool isFalse() const { return (bits & 1) != 0; }
    void makeTrue() { bits &= ~uint32_t(1); }

  private:
    uint32_t bits;
  };
  uint32_t nodes() const { return static_cast<uint32_t>(begin.size() - 1); }

  std::vector<uint32_t> begin = {0};
  std::vector<Edge> edges;
};

struct ChunkDag {
  std::shared_ptr<const ProgramInfo> info;
  std::vector<uint32_t> bufferSizes; ///< number of chunks, by rank * bufferCount + buffer; 0 for a buffer that lies
                                     ///< inside another
  llvm::SmallVector<ChunkOp, 0> ops; ///< first the start nodes of all ranks with input, then the operations; can grow
                                     ///< without copying
};

/// Returns the true and false dependencies between the operations. Linear in the chunks that operations touch. Stores
/// at most `maxLinks` dependencies and readers of slots. If an operation needs more, stops before this operation, so
/// that the result has fewer nodes than `dag`.
Dependencies dependencies(const ChunkDag &dag, uint64_t maxLinks);

} // namespace gc3::ir
