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

void EdgeCollector::addToMany(uint32_t to, bool isFalse) {
  size_t first = result.begin.back();
  if (positionsFor != first) {
    positionsFor = first;
    positions.clear();
    for (size_t i = first; i != result.edges.size(); ++i)
      positions.try_emplace(result.edges[i].node(), static_cast<uint32_t>(i));
  }
  auto [place, isNew] = positions.try_emplace(to, static_cast<uint32_t>(result.edges.size()));
  if (isNew)
    result.edges.emplace_back(to, isFalse);
  else
    merge(result.edges[place->second], isFalse);
}

uint32_t SlotTracker::entry(uint32_t reader, uint32_t next) {
  uint32_t place = freeEntries;
  if (place == Nobody) {
    place = static_cast<uint32_t>(lists.size());
    lists.push_back({reader, next});
  } else {
    freeEntries = lists[place].next;
    lists[place] = {reader, next};
  }
  return place;
}

void SlotTracker::read(uint32_t first, uint32_t count) {
  for (uint32_t slot = first; slot != first + count; ++slot) {
    State &state = states[slot];
    if (state.writer != Nobody)
      edges.add(state.writer, false);
    if (state.readers == Nobody) {
      state.readers = node;
      continue;
    }
    if ((state.readers & ListBit) == 0)
      state.readers = ListBit | entry(state.readers, Nobody);
    state.readers = ListBit | entry(node, state.readers & ~ListBit);
  }
}

/// Edges to the readers of a slot; true if there were any but the node itself.
bool SlotTracker::clearReaders(State &state) {
  bool others = false;
  auto clear = [&](uint32_t reader) {
    if (reader == node)
      return;
    edges.add(reader, true);
    others = true;
  };
  if ((state.readers & ListBit) == 0) {
    clear(state.readers);
  } else if (state.readers != Nobody) {
    for (uint32_t place = state.readers & ~ListBit; place != Nobody;) {
      clear(lists[place].node);
      uint32_t next = lists[place].next;
      lists[place].next = freeEntries;
      freeEntries = place;
      place = next;
    }
  }
  state.readers = Nobody;
  return others;
}

void SlotTracker::write(uint32_t first, uint32_t count) {
  for (uint32_t slot = first; slot != first + count; ++slot) {
    State &state = states[slot];
    if (!clearReaders(state) && state.writer != Nobody)
      edges.add(state.writer, true);
    state.writer = node;
  }
}
