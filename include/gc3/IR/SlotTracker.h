// SPDX-License-Identifier: Apache-2.0
// Who wrote and who read each slot last: turns a sequence of reads and writes into dependency edges.
#pragma once

#include "gc3/IR/ChunkDag.h"

namespace gc3::ir {

/// Numbers the slots of all buffers of all ranks from 0 on.
class SlotMap {
public:
  /// `sizes` by rank * buffers + buffer. The sum must be below 2^32.
  SlotMap(const std::vector<uint32_t> &sizes, uint32_t buffers);

  uint32_t slot(uint32_t rank, BufferId buffer, uint32_t index) const { return base[rank * buffers + buffer] + index; }
  uint32_t total() const { return base.back(); }

private:
  std::vector<uint32_t> base;
  uint32_t buffers;
};

/// Feed it nodes in order: begin a node, name the slots it reads and then those it writes. Reading gives a true edge to
/// the last writer; writing gives false edges to the readers since then, or to the writer if there were none. Linear in
/// the slots named; at most one edge per pair of nodes (a true one if any is).
class SlotTracker {
public:
  static constexpr uint32_t Nobody = ~uint32_t(0);

  explicit SlotTracker(uint32_t slots) : states(slots) {}

  /// Nodes are numbered from 0 in the order of these calls.
  void begin();
  void read(uint32_t first, uint32_t count);
  void write(uint32_t first, uint32_t count);

  /// The node that wrote the slot last.
  uint32_t writer(uint32_t slot) const { return states[slot].writer; }

  /// Ends the sequence and hands over the edges.
  Dependencies take();

private:
  struct State {
    uint32_t writer = Nobody;
    uint32_t readers = Nobody; // list in `readers`
  };
  struct Reader {
    uint32_t node;
    uint32_t next;
  };
  void edge(uint32_t to, bool isFalse);

  std::vector<State> states;
  std::vector<Reader> readers;
  uint32_t freeReaders = Nobody;
  std::vector<uint32_t> edgeTo; // by node: position + 1 of the latest edge to it
  Dependencies result;
  uint32_t node = Nobody;
};

} // namespace gc3::ir
