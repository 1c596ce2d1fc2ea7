// SPDX-License-Identifier: Apache-2.0
// Turns a sequence of slot reads and writes into dependency edges. Stores the last writer and the latest readers of
// each slot.
#pragma once

#include "gc3/IR/ChunkDag.h"
#include "llvm/ADT/DenseMap.h"
#include <algorithm>

namespace gc3::ir {

/// Numbers the slots of all buffers of all ranks, from 0 on.
class SlotMap {
public:
  /// `sizes` is indexed by rank * buffers + buffer. The sum must be below 2^32.
  SlotMap(const std::vector<uint32_t> &sizes, uint32_t buffers);

  uint32_t slot(uint32_t rank, BufferId buffer, uint32_t index) const { return base[rank * buffers + buffer] + index; }
  /// Returns the first slot of a rank's input or output, which can lie inside the other buffer. `subdivision` is the
  /// number of slots per chunk.
  uint32_t first(const Collective &collective, uint32_t rank, BufferId buffer, uint32_t subdivision) const {
    Location at = canonical(collective, {rank, buffer, 0}, subdivision);
    return slot(rank, at.buffer, at.index);
  }
  uint32_t total() const { return base.back(); }

private:
  std::vector<uint32_t> base;
  uint32_t buffers;
};

/// Collects the edges of nodes, one node after the other. Keeps at most one edge per pair of nodes. The kept edge is
/// true if any of the edges between the two nodes is true.
class EdgeCollector {
public:
  void reserve(size_t nodes, size_t edges) {
    result.begin.reserve(nodes + 1);
    result.edges.reserve(edges);
  }
  void add(uint32_t to, bool isFalse) {
    size_t first = result.begin.back();
    size_t end = result.edges.size();
    if (end - first > few)
      return addToMany(to, isFalse);
    for (size_t i = first; i != end; ++i)
      if (result.edges[i].node() == to)
        return merge(result.edges[i], isFalse);
    result.edges.emplace_back(to, isFalse);
  }
  /// Ends the current node. Later edges belong to the next node.
  void endNode() { result.begin.push_back(static_cast<uint32_t>(result.edges.size())); }
  size_t size() const { return result.edges.size(); }
  Dependencies take() { return std::move(result); }

private:
  static constexpr size_t few = 8; // maximum number of edges for a linear search
  void addToMany(uint32_t to, bool isFalse);
  static void merge(Dependencies::Edge &edge, bool isFalse) {
    if (!isFalse)
      edge.makeTrue();
  }

  Dependencies result;
  llvm::DenseMap<uint32_t, uint32_t> positions; // positions of the edges of a node with many edges
  size_t positionsFor = ~size_t(0);             // first edge of the node that `positions` describes
};

/// Derives the edges of nodes from the slots that they read and write. For each node in order, the caller passes the
/// slots that the node reads, then the slots that it writes, and then ends the node. A read adds a true edge to the
/// last writer of the slot. A write adds false edges to all nodes that have read the slot since its last write, or to
/// the last writer if there were none. Linear in the named slots, and in the readers of runs of slots: slots with the
/// same readers share a list of readers. At most 2^31 - 1 nodes.
class SlotTracker {
public:
  static constexpr uint32_t NoEntry = ~uint32_t(0);

  explicit SlotTracker(uint32_t slots) : states(slots) {}

  void reserve(size_t nodes) { edges.reserve(nodes, 2 * nodes); }
  void read(uint32_t first, uint32_t count);
  void write(uint32_t first, uint32_t count);
  /// Ends the current node. Nodes are numbered from 0 in the order of these calls.
  void endNode() {
    edges.endNode();
    ++node;
  }

  /// Returns the number of edges plus the number of entries in lists of readers. Only these two numbers make memory
  /// grow beyond a constant amount per slot and node.
  uint64_t links() const { return lists.size() + edges.size(); }
  /// Returns the limit for links() that callers enforce, given a budget of `maxSlots` slots. `operations` is the number
  /// of operations, or of their parallel instances. The limit is at most 2^31, because edges have 32-bit numbers.
  static uint64_t mostLinks(uint64_t operations, uint64_t maxSlots) {
    return std::min(8 * operations + maxSlots / 2, uint64_t(1) << 31);
  }

  /// Returns the node that wrote the slot last.
  uint32_t writer(uint32_t slot) const { return states[slot].writer; }

  /// Ends the sequence and returns the edges.
  Dependencies take() { return edges.take(); }

private:
  static constexpr uint32_t ListBit = uint32_t(1) << 31;
  static constexpr size_t MostEntries = ListBit - 1; // so that ListBit | index never equals NoEntry
  struct State {
    uint32_t writer = NoEntry;
    uint32_t readers = NoEntry; // one node, or ListBit | the first entry in `lists`
  };
  struct Reader {
    uint32_t node;
    uint32_t next;  // the next entry, or NoEntry
    uint32_t users; // number of slots whose list begins here, plus number of entries whose `next` is this entry
  };
  static bool isList(uint32_t readers) { return readers != NoEntry && (readers & ListBit) != 0; }
  uint32_t entry(uint32_t reader, uint32_t next);
  uint32_t withNode(uint32_t readers);
  bool addReaders(uint32_t readers);
  void release(uint32_t readers);

  std::vector<State> states;
  std::vector<Reader> lists;
  uint32_t freeEntries = NoEntry;
  EdgeCollector edges;
  uint32_t node = 0;
};

} // namespace gc3::ir
