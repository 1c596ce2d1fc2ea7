// SPDX-License-Identifier: Apache-2.0
// State of the connections during ordering: the messages in flight on each, and the nodes that wait until a
// slot is free for their messages.
#pragma once

#include "Nodes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <queue>

namespace gc3::schedule {

/// Priorities of nodes (Nodes::priorityOf), the lowest number on top.
using PriorityHeap = std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>>;
/// Removes and returns the number on top.
uint32_t popFirst(PriorityHeap &heap);

class SlotQueues {
public:
  /// `spareSlot`: postpones messages that will be passed on and would fill the last slot of their first connection.
  SlotQueues(const Nodes &nodes, uint32_t connections, uint32_t fifoSlots, bool spareSlot)
      : nodes(nodes), fifoSlots(fifoSlots), spareSlot(spareSlot), queues(connections), nextMessage(nodes.n, ir::None) {}

  /// Adds a message to those in flight. Returns true if it is the oldest of its connection.
  bool enqueue(uint32_t receiver);

  /// The nodes that a receive affects. `receiver` receives the message that is now the oldest, and `waiter` no longer
  /// waits for a slot. Each can be None.
  struct Freed {
    uint32_t receiver;
    uint32_t waiter;
  };
  /// Removes the oldest message of a connection, which `receiver` receives.
  Freed dequeue(uint32_t receiver);

  /// Returns true if no slot is free for the message that the node sends.
  bool isFull(uint32_t node) const;
  /// Makes a node wait until its connection has a free slot.
  void block(uint32_t node);
  /// Returns the fused node with the highest priority that waits for a slot. The node then no longer waits. Returns
  /// None if no fused node waits.
  uint32_t unblockFused() { return unblockFirst(blockedFused); }

  /// Returns true for a send that begins a segment of several messages and would fill the last slot of its connection.
  /// Always returns false without `spareSlot`.
  bool fillsLastSlot(uint32_t node) const;
  /// Postpones such a send until startPostponed().
  void postpone(uint32_t node);
  /// Starts postponed sends by calling `begin`, which must enqueue their messages. On each connection, starts as many
  /// sends as leave a slot free. If there are none, starts a single send that fills the last slot of its connection.
  /// Returns false if no postponed send has a free slot.
  bool startPostponed(llvm::function_ref<void(uint32_t)> begin);

private:
  struct Queue {              // one connection
    uint32_t head = ir::None; // messages in flight, by receiving node, oldest first
    uint32_t tail = ir::None;
    uint32_t inFlight = 0;
    uint32_t blockedHeap = ir::None;    // index in `blocked`
    uint32_t postponedIndex = ir::None; // index in `postponed`
  };
  struct Postponed { // the postponed sends of one connection
    uint32_t connection;
    PriorityHeap heap; // priorities of these sends
  };
  uint32_t unblockFirst(PriorityHeap &heap);

  const Nodes &nodes;
  uint32_t fifoSlots;
  bool spareSlot;
  std::vector<Queue> queues;
  std::vector<uint32_t> nextMessage; // by receiving node: the next on its connection
  std::vector<PriorityHeap> blocked; // nodes that wait for a slot of a connection, and some that no longer do
  PriorityHeap blockedFused;         // the fused nodes of all heaps in `blocked`, and some that no longer wait
  std::vector<uint8_t> waits;        // by node: 1 if it waits for a slot; nodes past the end of the array do not wait
  std::vector<Postponed> postponed;
};

} // namespace gc3::schedule
