// SPDX-License-Identifier: Apache-2.0
// One connection: a ring of slots between one sending and one receiving thread block. Each side owns one counter, in a
// cache line of its own. It also keeps the last value that it has read of the other side's counter. So a side touches
// the other side's line only if the ring looks full or empty.
//
// A Fifo is made of zeros, and its fields do not depend on the address of the memory. So its two sides can be in
// different processes that map the same memory: both call place() with equal arguments, in zeroed memory.
#pragma once

#include "host/Memory.h"

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace gc3::host {

struct Fifo {
  // Counters that the other side reads.
  alignas(linePair) std::atomic<uint64_t> sent{0};
  alignas(linePair) std::atomic<uint64_t> received{0};

  // Used by the sender only.
  alignas(linePair) uint64_t sentBefore = 0; ///< copy of `sent`
  uint64_t seenReceived = 0;
  uint32_t sendSlot = 0;
  uint64_t sentInEarlierCalls = 0;

  // Used by the receiver only.
  alignas(linePair) uint64_t receivedBefore = 0; ///< copy of `received`
  uint64_t seenSent = 0;
  uint32_t receiveSlot = 0;

  // Constant after place().
  alignas(linePair) size_t firstSlot = 0; ///< bytes from the beginning of this object to the first slot
  size_t slotBytes = 0;
  uint32_t slots = 0;

  /// Sets the place of the slots, which follow this object in memory.
  void place(size_t bytesToSlots, size_t bytesPerSlot, uint32_t slotCount) {
    firstSlot = bytesToSlots, slotBytes = bytesPerSlot, slots = slotCount;
  }

  /// Called by the sender. Returns whether a slot is free.
  bool hasSlot() {
    if (sentBefore - seenReceived < slots)
      return true;
    seenReceived = received.load(std::memory_order_acquire); // pairs with finishReceive: the slot has been read
    return sentBefore - seenReceived < slots;
  }

  /// Called by the receiver. Returns whether a message has arrived.
  bool hasMessage() {
    if (receivedBefore != seenSent)
      return true;
    seenSent = sent.load(std::memory_order_acquire); // pairs with finishSend: the slot has been filled
    return receivedBefore != seenSent;
  }

  /// Called by the receiver when a message of up to `bytes` has probably arrived. Prefetches the message's cache lines,
  /// so that they arrive while the receiver waits for other messages.
  void expectMessage(size_t bytes) {
    __builtin_prefetch(&sent);
    for (size_t offset = 0; offset < bytes; offset += cacheLine)
      __builtin_prefetch(message() + offset);
  }

  /// Called by the sender. Returns whether the first `messages` messages since creation have been received.
  bool hasReceived(uint64_t messages) {
    if (seenReceived < messages)
      seenReceived = received.load(std::memory_order_acquire); // pairs with finishReceive: the memory has been read
    return seenReceived >= messages;
  }
  bool allReceived() { return hasReceived(sentBefore); }

  /// Returns the slot of a message, which is counted from the first since creation.
  std::byte *slotOf(uint64_t message) { return slot(static_cast<uint32_t>(message % slots)); }
  std::byte *freeSlot() { return slot(sendSlot); }
  std::byte *message() { return slot(receiveSlot); }

  void finishSend() {
    sendSlot = sendSlot + 1 == slots ? 0 : sendSlot + 1;
    sent.store(++sentBefore, std::memory_order_release);
  }

  void finishReceive() {
    receiveSlot = receiveSlot + 1 == slots ? 0 : receiveSlot + 1;
    received.store(++receivedBefore, std::memory_order_release);
  }

private:
  std::byte *slot(uint32_t number) { return reinterpret_cast<std::byte *>(this) + firstSlot + number * slotBytes; }
};

static_assert(std::is_trivially_destructible_v<Fifo> && std::atomic<uint64_t>::is_always_lock_free);

} // namespace gc3::host
