// SPDX-License-Identifier: Apache-2.0
// One connection: a ring of slots between one sending and one receiving thread block. Each side owns one counter, alone
// in its cache line, and keeps the last value it saw of the other's, so that a side touches the other's line only when
// the ring looks full or empty.
#pragma once

#include "host/Memory.h"

#include <atomic>
#include <cstdint>

namespace gc3::host {

struct Fifo {
  // What the other side looks at.
  alignas(linePair) std::atomic<uint64_t> sent{0};
  alignas(linePair) std::atomic<uint64_t> received{0};

  // The sender's own.
  alignas(linePair) uint64_t sentBefore = 0; ///< as `sent`
  uint64_t seenReceived = 0;
  uint32_t sendSlot = 0;
  uint64_t sentInEarlierCalls = 0;

  // The receiver's own.
  alignas(linePair) uint64_t receivedBefore = 0; ///< as `received`
  uint64_t seenSent = 0;
  uint32_t receiveSlot = 0;

  // Constant.
  alignas(linePair) std::byte *data = nullptr;
  size_t slotBytes = 0;
  uint32_t slots = 0;

  void place(std::byte *memory, size_t bytesPerSlot, uint32_t slotCount) {
    data = memory, slotBytes = bytesPerSlot, slots = slotCount;
  }

  /// Sender: a slot is free.
  bool hasSlot() {
    if (sentBefore - seenReceived < slots)
      return true;
    seenReceived = received.load(std::memory_order_acquire); // pairs with finishReceive: the slot has been read
    return sentBefore - seenReceived < slots;
  }

  /// Receiver: a message is there.
  bool hasMessage() {
    if (receivedBefore != seenSent)
      return true;
    seenSent = sent.load(std::memory_order_acquire); // pairs with finishSend: the slot has been filled
    return receivedBefore != seenSent;
  }

  /// Receiver: a message of up to `bytes` is probably there, so have its lines come while others are waited for.
  void expectMessage(size_t bytes) const {
    __builtin_prefetch(&sent);
    for (size_t offset = 0; offset < bytes; offset += cacheLine)
      __builtin_prefetch(message() + offset);
  }

  /// Sender: the first `messages` of all calls have been received.
  bool hasReceived(uint64_t messages) {
    if (seenReceived < messages)
      seenReceived = received.load(std::memory_order_acquire); // pairs with finishReceive: nobody reads our memory now
    return seenReceived >= messages;
  }
  bool allReceived() { return hasReceived(sentBefore); }

  std::byte *freeSlot() const { return data + sendSlot * slotBytes; }
  std::byte *message() const { return data + receiveSlot * slotBytes; }

  void finishSend() {
    sendSlot = sendSlot + 1 == slots ? 0 : sendSlot + 1;
    sent.store(++sentBefore, std::memory_order_release);
  }

  void finishReceive() {
    receiveSlot = receiveSlot + 1 == slots ? 0 : receiveSlot + 1;
    received.store(++receivedBefore, std::memory_order_release);
  }
};

} // namespace gc3::host
