// SPDX-License-Identifier: Apache-2.0
// A waiting node is in the heap of its connection and, if it is fused, also in the heap of all fused nodes. A node that
// leaves through one heap stays in the other until it reaches the top there, and is then skipped.
#include "SlotQueues.h"
#include "llvm/ADT/STLExtras.h"

using namespace gc3::ir;
using namespace gc3::schedule;

uint32_t gc3::schedule::take(TurnHeap &heap) {
  uint32_t turn = heap.top();
  heap.pop();
  return turn;
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
  return {queue.head, queue.blockedHeap == None ? None : takeBlocked(blocked[queue.blockedHeap])};
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
  blocked[queue.blockedHeap].push(nodes.turnOf(node));
  if (nodes.fused(node))
    blockedFused.push(nodes.turnOf(node));
  if (waits.size() < nodes.total())
    waits.resize(nodes.total());
  waits[node] = 1;
}

/// Removes and returns the first node of the heap that still waits, which then no longer waits; returns None if there
/// is none.
uint32_t SlotQueues::takeBlocked(TurnHeap &heap) {
  while (!heap.empty())
    if (uint32_t node = nodes.nodeWithTurn(take(heap)); waits[node] != 0) {
      waits[node] = 0;
      return node;
    }
  return None;
}

bool SlotQueues::fillsLastSlot(uint32_t node) const {
  return spareSlot && nodes.sends(node) && !nodes.receives(node) && nodes.fused(nodes.receiver(node)) &&
         queues[nodes.outgoing(node)].inFlight + 1 == fifoSlots;
}

void SlotQueues::putOff(uint32_t node) {
  Queue &queue = queues[nodes.outgoing(node)];
  if (queue.openers == None) {
    queue.openers = static_cast<uint32_t>(openers.size());
    openers.push_back({nodes.outgoing(node), {}});
  }
  openers[queue.openers].heap.push(nodes.turnOf(node));
}

bool SlotQueues::open(llvm::function_ref<void(uint32_t)> begin) {
  bool opened = false;
  for (Openers &put : openers)
    while (!put.heap.empty() && queues[put.connection].inFlight + 1 < fifoSlots) {
      begin(nodes.nodeWithTurn(take(put.heap)));
      opened = true;
    }
  if (opened)
    return true;
  auto one = llvm::find_if(
      openers, [&](const Openers &put) { return !put.heap.empty() && queues[put.connection].inFlight != fifoSlots; });
  if (one == openers.end())
    return false;
  begin(nodes.nodeWithTurn(take(one->heap)));
  return true;
}
