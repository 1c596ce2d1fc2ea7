// SPDX-License-Identifier: Apache-2.0
// Connections while nodes are put in order: the messages in flight on each, and the nodes that were set aside until
// there is a slot for what they send.
#pragma once

#include "Nodes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <queue>

namespace gc3::schedule {

/// Turns of nodes, the first on top.
using TurnHeap = std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>>;
uint32_t take(TurnHeap &heap);

class SlotQueues {
public:
  /// `spareSlot`: messages that will be passed on begin their way late, where they would fill the last slot.
  SlotQueues(const Nodes &nodes, uint32_t connections, uint32_t fifoSlots, bool spareSlot)
      : nodes(nodes), fifoSlots(fifoSlots), spareSlot(spareSlot), queues(connections), nextMessage(nodes.n, ir::None) {}

  /// Adds a message to those in flight. True if it is the oldest of its connection.
  bool enqueue(uint32_t receiver);

  /// Two nodes, or None: the receiver of the message that is the oldest now, and a node that waits no more for a slot.
  struct Freed {
    uint32_t receiver;
    uint32_t waiter;
  };
  /// Takes the oldest message away, which `receiver` receives.
  Freed dequeue(uint32_t receiver);

  /// True if there is no slot for what the node sends.
  bool isFull(uint32_t node) const;
  /// Sets a node aside until its connection has a free slot.
  void block(uint32_t node);
  /// Of the fused nodes that wait for a slot the one whose turn is first, which now waits no more; None if there is
  /// none.
  uint32_t takeBlockedFused() { return takeBlocked(blockedFused); }

  /// True for a send that begins a segment of several messages, where it would leave no slot for those on their way.
  bool fillsLastSlot(uint32_t node) const;
  /// Sets such a send aside.
  void putOff(uint32_t node);
  /// Calls `begin`, which enqueues, with sends that were put off: on all connections with as many as leave a slot free,
  /// or else with a single one. False if there is none, or no slot for it.
  bool open(llvm::function_ref<void(uint32_t)> begin);

private:
  struct Queue {              // one connection
    uint32_t head = ir::None; // messages in flight, by receiving node, oldest first
    uint32_t tail = ir::None;
    uint32_t inFlight = 0;
    uint32_t blockedHeap = ir::None; // in `blocked`
    uint32_t openers = ir::None;     // in `openers`
  };
  struct Openers { // of one connection
    uint32_t connection;
    TurnHeap heap; // nodes that would begin a segment with the last slot
  };
  uint32_t takeBlocked(TurnHeap &heap);

  const Nodes &nodes;
  uint32_t fifoSlots;
  bool spareSlot;
  std::vector<Queue> queues;
  std::vector<uint32_t> nextMessage; // by receiving node: the next on its connection
  std::vector<TurnHeap> blocked;     // nodes that wait for a slot of a connection, and some that don't any more
  TurnHeap blockedFused;             // the fused ones in all of `blocked`, and some that don't wait any more
  std::vector<uint8_t> waits;        // by node: whether it waits for a slot; those past the end don't
  std::vector<Openers> openers;
};

} // namespace gc3::schedule
