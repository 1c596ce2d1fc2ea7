// SPDX-License-Identifier: Apache-2.0
// Dependency tracking on slots. A write after reads needs edges to the readers only: they depend on the writer before.
#include "gc3/IR/SlotTracker.h"
#include <cassert>

using namespace gc3::ir;

SlotMap::SlotMap(const std::vector<uint32_t> &sizes, uint32_t buffers) : buffers(buffers) {
  base.reserve(sizes.size() + 1);
  uint64_t next = 0;
  for (uint32_t size : sizes) {
    base.push_back(static_cast<uint32_t>(next));
    next += size;
  }
  assert(next <= UINT32_MAX && "callers bound the number of slots");
  base.push_back(static_cast<uint32_t>(next));
}

void SlotTracker::begin() {
  if (++node != 0)
    result.begin.push_back(static_cast<uint32_t>(result.edges.size()));
  edgeTo.push_back(0);
}

void SlotTracker::edge(uint32_t to, bool isFalse) {
  uint32_t position = edgeTo[to];
  if (position > result.begin.back()) {
    if (!isFalse)
      result.edges[position - 1].makeTrue();
    return;
  }
  result.edges.emplace_back(to, isFalse);
  edgeTo[to] = static_cast<uint32_t>(result.edges.size());
}

void SlotTracker::read(uint32_t first, uint32_t count) {
  for (uint32_t slot = first; slot != first + count; ++slot) {
    State &state = states[slot];
    if (state.writer != Nobody)
      edge(state.writer, false);
    uint32_t entry = freeReaders;
    if (entry == Nobody) {
      entry = static_cast<uint32_t>(readers.size());
      readers.push_back({node, state.readers});
    } else {
      freeReaders = readers[entry].next;
      readers[entry] = {node, state.readers};
    }
    state.readers = entry;
  }
}

void SlotTracker::write(uint32_t first, uint32_t count) {
  for (uint32_t slot = first; slot != first + count; ++slot) {
    State &state = states[slot];
    bool othersRead = false;
    while (state.readers != Nobody) {
      uint32_t entry = state.readers;
      if (readers[entry].node != node) {
        edge(readers[entry].node, true);
        othersRead = true;
      }
      state.readers = readers[entry].next;
      readers[entry].next = freeReaders;
      freeReaders = entry;
    }
    if (!othersRead && state.writer != Nobody)
      edge(state.writer, true);
    state.writer = node;
  }
}

Dependencies SlotTracker::take() {
  if (node != Nobody)
    result.begin.push_back(static_cast<uint32_t>(result.edges.size()));
  return std::move(result);
}
