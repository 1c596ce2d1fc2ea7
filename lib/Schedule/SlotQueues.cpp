// SPDX-License-Identifier: Apache-2.0
// A waiting node is in the heap of its connection and, if it is fused, also in the heap of all fused nodes. A node that
// leaves through one heap stays in the other until it reaches the top there, and is then skipped.
#include "SlotQueues.h"
#include "llvm/ADT/STLExtras.h"

using namespace gc3::ir;
using namespace gc3::schedule;

uint32_t gc3::schedule::popFirst(PriorityHeap &heap) {
  uint32_t first = heap.top();
  heap.pop();
  return first;
}

bool SlotQueues::enqueue(uint32_t receiver) {
  Queue &queue = queues[nodes.incoming(receiver)];
  ++queue.inFlight;
  bool first = queue.head == None;
  (first ? queue.head : nextMessage[queue.tail]) = receiver;
  queue.tail = receiver;
  return first;
}

SlotQueues::Freed SlotQueues::dequeue(uint32_t receiver) {
  Queue &queue = queues[nodes.incoming(receiver)];
  --queue.inFlight;
  queue.head = nextMessage[receiver];
  return {queue.head, queue.blockedHeap == None ? None : unblockFirst(blocked[queue.blockedHeap])};
}

bool SlotQueues::isFull(uint32_t node) const {
  return nodes.sends(node) && queues[nodes.outgoing(node)].inFlight == fifoSlots;
}

void SlotQueues::block(uint32_t node) {
  Queue &queue = queues[nodes.outgoing(node)];
  if (queue.blockedHeap == None) {
    queue.blockedHeap = static_cast<uint32_t>(blocked.size());
    blocked.emplace_back();
  }
  blocked[queue.blockedHeap].push(nodes.priorityOf(node));
  if (nodes.fused(node))
    blockedFused.push(nodes.priorityOf(node));
  if (waits.size() < nodes.total())
    waits.resize(nodes.total());
  waits[node] = 1;
}

/// Removes nodes from the heap up to the first one that still waits. Returns this node, which then no longer waits, or
/// None if there is none.
uint32_t SlotQueues::unblockFirst(PriorityHeap &heap) {
  while (!heap.empty())
    if (uint32_t node = nodes.nodeWithPriority(popFirst(heap)); waits[node] != 0) {
      waits[node] = 0;
      return node;
    }
  return None;
}

bool SlotQueues::fillsLastSlot(uint32_t node) const {
  return spareSlot && nodes.sends(node) && !nodes.receives(node) && nodes.fused(nodes.receiver(node)) &&
         queues[nodes.outgoing(node)].inFlight + 1 == fifoSlots;
}

void SlotQueues::postpone(uint32_t node) {
  Queue &queue = queues[nodes.outgoing(node)];
  if (queue.postponedIndex == None) {
    queue.postponedIndex = static_cast<uint32_t>(postponed.size());
    postponed.push_back({nodes.outgoing(node), {}});
  }
  postponed[queue.postponedIndex].heap.push(nodes.priorityOf(node));
}

bool SlotQueues::startPostponed(llvm::function_ref<void(uint32_t)> begin) {
  bool opened = false;
  for (Postponed &sends : postponed)
    while (!sends.heap.empty() && queues[sends.connection].inFlight + 1 < fifoSlots) {
      begin(nodes.nodeWithPriority(popFirst(sends.heap)));
      opened = true;
    }
  if (opened)
    return true;
  auto single = llvm::find_if(postponed, [&](const Postponed &sends) {
    return !sends.heap.empty() && queues[sends.connection].inFlight != fifoSlots;
  });
  if (single == postponed.end())
    return false;
  begin(nodes.nodeWithPriority(popFirst(single->heap)));
  return true;
}
