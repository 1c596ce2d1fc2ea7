// SPDX-License-Identifier: Apache-2.0
// The messages of all ranks, in memory that all ranks read, and what ranks know about each other's waits.
#pragma once

#include "select/Exchange.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace gc3::select {

class Board {
public:
  /// A message stays readable until the exchange that is `slotCount` later.
  Board(uint32_t ranks, size_t slotCount) : rankCount(ranks), slots(slotCount) {
    for (Slot &slot : slots) {
      slot.messages.resize(ranks);
      for (const Message &message : slot.messages)
        slot.pointers.push_back(&message);
    }
  }

  void send(uint64_t exchange, uint32_t rank, const Message &message) {
    Slot &slot = slots[exchange % slots.size()];
    slot.messages[rank] = message;
    if (++slot.sent % rankCount == 0)
      wakeAll();
  }
  bool haveAllSent(uint64_t exchange) const {
    const Slot &slot = slots[exchange % slots.size()];
    return slot.sent >= (exchange / slots.size() + 1) * rankCount;
  }
  std::span<const Message *const> messages(uint64_t exchange) const { return slots[exchange % slots.size()].pointers; }

  void abort() {
    aborted = true;
    wakeAll();
  }
  bool isAborted() const { return aborted; }

  /// Waits until `isOver()`. Returns false after an abort.
  template <typename Over>
  bool wait(Over isOver) {
    std::unique_lock lock(mutex);
    if (++waiting == rankCount)
      changed.notify_all();
    changed.wait(lock, [&] { return isOver() || aborted; });
    --waiting;
    return !aborted;
  }
  /// Waits until all ranks wait, stall or have left.
  void stall() {
    wait([this] { return waiting == rankCount; });
  }
  /// The rank makes no more calls.
  void leave() {
    const std::lock_guard lock(mutex);
    if (++waiting == rankCount)
      changed.notify_all();
  }

private:
  struct Slot {
    std::vector<Message> messages; ///< by rank
    std::vector<const Message *> pointers;
    std::atomic<uint64_t> sent = 0; ///< messages since the board was made
  };
  void wakeAll() {
    const std::lock_guard lock(mutex);
    changed.notify_all();
  }

  const uint32_t rankCount;
  std::vector<Slot> slots;
  std::mutex mutex;
  std::condition_variable changed;
  uint32_t waiting = 0; ///< guarded by the mutex
  std::atomic<bool> aborted = false;
};

} // namespace gc3::select
