// SPDX-License-Identifier: Apache-2.0
// Who wrote and who read each slot last: turns a sequence of reads and writes into dependency edges.
#pragma once

#include "gc3/IR/ChunkDag.h"
#include "llvm/ADT/DenseMap.h"
#include <algorithm>

namespace gc3::ir {

/// Numbers the slots of all buffers of all ranks from 0 on.
class SlotMap {
public:
  /// `sizes` by rank * buffers + buffer. The sum must be below 2^32.
  SlotMap(const std::vector<uint32_t> &sizes, uint32_t buffers);

  uint32_t slot(uint32_t rank, BufferId buffer, uint32_t index) const { return base[rank * buffers + buffer] + index; }
  /// The first slot of a rank's input or output, wherever that lies; `subdivision`: slots per chunk.
  uint32_t first(const Collective &collective, uint32_t rank, BufferId buffer, uint32_t subdivision) const {
    Location at = canonical(collective, {rank, buffer, 0}, subdivision);
    return slot(rank, at.buffer, at.index);
  }
  uint32_t total() const { return base.back(); }

private:
  std::vector<uint32_t> base;
  uint32_t buffers;
};

/// Collects the edges of node after node, at most one per pair of nodes: a true one if any is.
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
  /// Ends the node that the latest edges belong to.
  void endNode() { result.begin.push_back(static_cast<uint32_t>(result.edges.size())); }
  size_t size() const { return result.edges.size(); }
  Dependencies take() { return std::move(result); }

private:
  static constexpr size_t few = 8; // edges to look through one by one
  void addToMany(uint32_t to, bool isFalse);
  static void merge(Dependencies::Edge &edge, bool isFalse) {
    if (!isFalse)
      edge.makeTrue();
  }

  Dependencies result;
  llvm::DenseMap<uint32_t, uint32_t> positions; // of the edges of a node that has many
  size_t positionsFor = ~size_t(0);             // that node's first edge
};

/// Feed it nodes in order: name the slots that a node reads, then those that it writes, then end it. Reading gives a
/// true edge to the last writer; writing gives false edges to the readers since then, or to the writer if there were
/// none. Linear in the slots named, and in the readers of runs of them: slots that the same nodes have read share their
/// list. At most 2^31 - 1 nodes.
class SlotTracker {
public:
  static constexpr uint32_t Nobody = ~uint32_t(0);

  explicit SlotTracker(uint32_t slots) : states(slots) {}

  void reserve(size_t nodes) { edges.reserve(nodes, 2 * nodes); }
  void read(uint32_t first, uint32_t count);
  void write(uint32_t first, uint32_t count);
  /// Nodes are numbered from 0 in the order of these calls.
  void endNode() {
    edges.endNode();
    ++node;
  }

  /// Edges, and entries of lists of readers: what takes memory beyond that of slots and nodes.
  uint64_t links() const { return lists.size() + edges.size(); }
  /// As many links as may be for that many operations or parts of them, where a budget of slots is given: edges are
  /// numbered in 32 bits.
  static uint64_t mostLinks(uint64_t operations, uint64_t maxSlots) {
    return std::min(8 * operations + maxSlots / 2, uint64_t(1) << 31);
  }

  /// The node that wrote the slot last.
  uint32_t writer(uint32_t slot) const { return states[slot].writer; }

  /// Ends the sequence and hands over the edges.
  Dependencies take() { return edges.take(); }

private:
  static constexpr uint32_t ListBit = uint32_t(1) << 31;
  static constexpr size_t MostEntries = ListBit - 1; // so that no list is Nobody
  struct State {
    uint32_t writer = Nobody;
    uint32_t readers = Nobody; // the one node, or ListBit | the first entry in `lists`
  };
  struct Reader {
    uint32_t node;
    uint32_t next;  // entry, or Nobody
    uint32_t users; // slots whose lists begin here, and entries before this one
  };
  static bool isList(uint32_t readers) { return readers != Nobody && (readers & ListBit) != 0; }
  uint32_t entry(uint32_t reader, uint32_t next);
  uint32_t withNode(uint32_t readers);
  bool addReaders(uint32_t readers);
  void release(uint32_t readers);

  std::vector<State> states;
  std::vector<Reader> lists;
  uint32_t freeEntries = Nobody;
  EdgeCollector edges;
  uint32_t node = 0;
};

} // namespace gc3::ir
