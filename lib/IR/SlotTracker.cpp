// SPDX-License-Identifier: Apache-2.0
// Tracks dependencies on slots. A write after reads needs edges to the readers only, because they depend on the
// previous writer.
#include "gc3/IR/SlotTracker.h"
#include "llvm/Support/ErrorHandling.h"
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
  if (place == NoEntry) {
    if (lists.size() == MostEntries)
      llvm::report_bad_alloc_error("lists of readers");
    place = static_cast<uint32_t>(lists.size());
    lists.push_back({reader, next, 1});
  } else {
    freeEntries = lists[place].next;
    lists[place] = {reader, next, 1};
  }
  return place;
}

/// Returns the readers together with this node. A new list has one user: the slot that is read.
uint32_t SlotTracker::withNode(uint32_t readers) {
  if (readers == NoEntry)
    return node;
  uint32_t others = isList(readers) ? readers & ~ListBit : entry(readers, NoEntry);
  return ListBit | entry(node, others);
}

void SlotTracker::read(uint32_t first, uint32_t count) {
  uint32_t before = NoEntry; // the readers of the previous slot, first without this node, then with it
  uint32_t after = node;
  for (uint32_t slot = first; slot != first + count; ++slot) {
    State &state = states[slot];
    if (state.writer != NoEntry)
      edges.add(state.writer, false);
    if (state.readers != before) {
      before = state.readers;
      after = withNode(before);
    } else if (isList(after)) { // the new list gains a slot, and the old list loses one
      ++lists[after & ~ListBit].users;
      if (isList(before))
        --lists[before & ~ListBit].users;
    }
    state.readers = after;
  }
}

/// Adds edges to the readers. Returns true if there are readers other than the node itself.
bool SlotTracker::addReaders(uint32_t readers) {
  bool others = false;
  auto add = [&](uint32_t reader) {
    if (reader == node)
      return;
    edges.add(reader, true);
    others = true;
  };
  if ((readers & ListBit) == 0)
    add(readers);
  else if (readers != NoEntry)
    for (uint32_t place = readers & ~ListBit; place != NoEntry; place = lists[place].next)
      add(lists[place].node);
  return others;
}

/// Drops one slot's reference to a list of readers. Frees the entries that nothing references.
void SlotTracker::release(uint32_t readers) {
  if (!isList(readers))
    return;
  for (uint32_t place = readers & ~ListBit; place != NoEntry && --lists[place].users == 0;) {
    uint32_t next = lists[place].next;
    lists[place].next = freeEntries;
    freeEntries = place;
    place = next;
  }
}

/// Compares the list of each slot with the list of the previous slot, which release() can have freed. The number of the
/// freed list cannot belong to another list, because the loop creates no list.
void SlotTracker::write(uint32_t first, uint32_t count) {
  uint32_t readers = NoEntry; // readers of the latest slot
  bool others = false;
  for (uint32_t slot = first; slot != first + count; ++slot) {
    State &state = states[slot];
    if (state.readers != readers) {
      readers = state.readers;
      others = addReaders(readers);
    }
    release(readers);
    if (!others && state.writer != NoEntry)
      edges.add(state.writer, true);
    state = {node, NoEntry};
  }
}
