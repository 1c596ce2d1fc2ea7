// SPDX-License-Identifier: Apache-2.0
// One connection: a ring of slots between one sending and one receiving thread block. Each side owns one counter and
// keeps the last value it saw of the other's, so that a side touches the other's cache line only when the ring looks
// full or empty.
#pragma once

#include "host/Memory.h"

#include <atomic>
#include <cstdint>

namespace gc3::host {

struct Fifo {
  // The sender's line.
  alignas(cacheLine) std::atomic<uint64_t> sent{0};
  uint64_t seenReceived = 0;
  uint32_t sendSlot = 0;

  // The receiver's line.
  alignas(cacheLine) std::atomic<uint64_t> received{0};
  uint64_t seenSent = 0;
  uint32_t receiveSlot = 0;

  // Constant.
  alignas(cacheLine) std::byte *data = nullptr;
  size_t slotBytes = 0;
  uint32_t slots = 0;

  void place(std::byte *memory, size_t bytesPerSlot, uint32_t slotCount) {
    data = memory, slotBytes = bytesPerSlot, slots = slotCount;
  }

  /// Sender: a slot is free.
  bool hasSlot() {
    uint64_t mine = sent.load(std::memory_order_relaxed);
    if (mine - seenReceived < slots)
      return true;
    seenReceived = received.load(std::memory_order_acquire); // pairs with finishReceive: the slot has been read
    return mine - seenReceived < slots;
  }

  /// Receiver: a message is there.
  bool hasMessage() {
    uint64_t mine = received.load(std::memory_order_relaxed);
    if (mine != seenSent)
      return true;
    seenSent = sent.load(std::memory_order_acquire); // pairs with finishSend: the slot has been filled
    return mine != seenSent;
  }

  /// Sender: every message so far has been received.
  bool allReceived() {
    uint64_t mine = sent.load(std::memory_order_relaxed);
    if (mine != seenReceived)
      seenReceived = received.load(std::memory_order_acquire); // pairs with finishReceive: nobody reads our memory now
    return mine == seenReceived;
  }

  std::byte *freeSlot() const { return data + sendSlot * slotBytes; }
  std::byte *message() const { return data + receiveSlot * slotBytes; }

  void finishSend() {
    sendSlot = sendSlot + 1 == slots ? 0 : sendSlot + 1;
    sent.store(sent.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  void finishReceive() {
    receiveSlot = receiveSlot + 1 == slots ? 0 : receiveSlot + 1;
    received.store(received.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
};

} // namespace gc3::host
