// SPDX-License-Identifier: Apache-2.0
// Finds one global order (GC3 section 4.4) by list scheduling: the next node is the one with the highest priority among
// all nodes that can run. A node can run after its dependencies, when the message that it receives is the oldest on its
// connection, and when a slot is free for the message that it sends.
//
// Nodes are numbered by priority, so a cursor visits each node once. Only nodes that become able to run after the
// cursor has passed them go through a heap.
//
// A segment is a message with the fused instructions that pass it on, up to the receive that ends it. Two rules ensure
// progress, so that thread blocks that follow the order never deadlock. First, a message is sent only after its segment
// is released. A segment is released when all nodes outside it on which its instructions depend have run. Second, if no
// node can run, the scheduler splits a fused instruction. If a fused instruction waits for a slot, the scheduler splits
// this instruction, which can then at least receive. Otherwise, the scheduler considers the segment whose message comes
// first in the program, and splits the last instruction that its message can reach. This message can always be received
// there: everything that the receive depends on comes earlier in the program and has run.
//
// Sends depend on little and come early. So if many chains begin on a ring, its connections are soon full, and no
// message can be passed on. After splits, only few messages move at a time. In this case, the scheduler computes the
// order again with bubble flow control, a rule from networks. A message that will be passed on enters its first
// connection only if one more slot stays free there, or if no other node can run. The first attempt omits this rule,
// because trees do not need it and are slower with it.
//
// If a program reuses a scratch slot, a message waits until the earlier uses of the slot have run on all ranks of the
// message's route. It would suffice to order the message after these uses on each connection, but this would require
// the routes of other messages. Programs that need more messages in flight can use more scratch.
//
// Linear in nodes and edges, except for the heaps. A node that waits for a slot takes logarithmic time. Cutting a
// segment takes time linear in its length up to the cut. With bubble flow control, the scheduler passes over the
// connections with postponed messages each time that no other node can run.
#include "SlotQueues.h"
#include "Stages.h"
#include "llvm/ADT/DenseMap.h"

using namespace gc3::ir;
using namespace gc3::schedule;

namespace {

class Orderer {
public:
  /// `spareSlot`: postpones messages that will be passed on and would fill the last slot of their first connection.
  Orderer(Nodes &nodes, uint32_t connections, uint32_t fifoSlots, bool spareSlot)
      : nodes(nodes), mayReorder(!spareSlot && fifoSlots != 1), queues(nodes, connections, fifoSlots, spareSlot) {}

  /// Returns the order. Returns nothing if an order with `spareSlot` might avoid a split.
  std::optional<Order> run();

private:
  void buildSuccessors();
  void buildSegments();
  void countDependencies();
  bool canRun(uint32_t node) const {
    return missing[node] == 0 && (segmentOf[node] == None || outside[segmentOf[node]] == 0);
  }
  void offer(uint32_t node);
  uint32_t next();
  void satisfy(uint32_t node);
  void finish(uint32_t node);
  void finishDependency(uint32_t node, uint32_t successor);
  void receive(uint32_t node);
  void runOrPostpone(uint32_t node);
  bool unstick();
  void cutSegment(uint32_t head);
  uint32_t lastReachable(uint32_t head, std::vector<uint32_t> &prefix);
  void splitOff(uint32_t node);
  template <typename Visitor>
  void eachSuccessor(uint32_t node, Visitor visit) const;

  Nodes &nodes;
  bool mayReorder; // true: run() returns nothing instead of splitting a node that waits for a slot
  std::vector<uint32_t> successorBegin, successors;
  std::vector<uint32_t> missing;   // by node: number of dependencies that have not run, plus 1 if it receives a message
                                   // that is not the oldest
  std::vector<uint32_t> segmentOf; // by node
  std::vector<uint32_t> outside;   // by segment: number of dependencies on nodes outside that have not run
  std::vector<uint32_t> headOf;    // by segment: the node that sends its first message
  std::vector<uint8_t> done;       // by node
  SlotQueues queues;
  PriorityHeap late;   // priorities of nodes that can run and that the cursor has passed
  uint32_t cursor = 0; // the next priority to visit
  std::vector<uint32_t> order;
  uint32_t settled = 0; // all local and all receiving instructions before this one have run
};

} // namespace

void Orderer::buildSuccessors() {
  successorBegin.assign(nodes.n + 2, 0);
  for (uint32_t dependency : nodes.dependencies)
    ++successorBegin[dependency + 2];
  for (uint32_t node = 0; node != nodes.n; ++node)
    successorBegin[node + 2] += successorBegin[node + 1];
  successors.resize(nodes.dependencies.size());
  for (uint32_t node = 0; node != nodes.n; ++node)
    for (uint32_t i = nodes.begin[node]; i != nodes.begin[node + 1]; ++i)
      successors[successorBegin[nodes.dependencies[i] + 1]++] = node;
  successorBegin.pop_back();
}

/// Visits the nodes that depend on `node`. The second half of a split instruction delays only nodes that overwrite the
/// data that it sends.
template <typename Visitor>
void Orderer::eachSuccessor(uint32_t node, Visitor visit) const {
  uint32_t first = nodes.first(node);
  for (uint32_t i = successorBegin[first]; i != successorBegin[first + 1]; ++i)
    if (!nodes.isSecondHalf(node) || nodes.overwrites(successors[i], first))
      visit(successors[i]);
  if (nodes.isSplit(node))
    visit(nodes.secondHalf(node));
}

void Orderer::buildSegments() {
  segmentOf.assign(nodes.total(), None);
  auto place = [&](uint32_t node) {
    if (!nodes.sends(node))
      return;
    if (!nodes.receives(node)) {
      segmentOf[node] = static_cast<uint32_t>(headOf.size());
      headOf.push_back(node);
    }
    segmentOf[nodes.receiver(node)] = segmentOf[node];
  };
  for (uint32_t node = 0; node != nodes.n; ++node) {
    place(node);
    if (nodes.isSplit(node))
      place(nodes.secondHalf(node));
  }
}

void Orderer::countDependencies() {
  missing.assign(nodes.total(), 0);
  outside.assign(headOf.size(), 0);
  for (uint32_t node = 0; node != nodes.total(); ++node) {
    eachSuccessor(node, [&](uint32_t successor) {
      ++missing[successor];
      if (segmentOf[successor] != None && segmentOf[successor] != segmentOf[node])
        ++outside[segmentOf[successor]];
    });
    missing[node] += nodes.receives(node);
  }
}

/// Queues a node that may have become able to run. If the cursor has not passed it, the cursor will find it.
void Orderer::offer(uint32_t node) {
  if (canRun(node) && nodes.priorityOf(node) < cursor)
    late.push(nodes.priorityOf(node));
}

/// Returns the node with the highest priority among all nodes that can run, even if no slot is free for its message.
/// Returns None if no node can run.
uint32_t Orderer::next() {
  if (!late.empty())
    return nodes.nodeWithPriority(popFirst(late));
  while (cursor != 2 * nodes.n) {
    uint32_t node = nodes.nodeWithPriority(cursor);
    cursor += nodes.isSplit(cursor / 2) ? 1 : 2;
    if (canRun(node))
      return node;
  }
  return None;
}

void Orderer::satisfy(uint32_t node) {
  if (--missing[node] == 0)
    offer(node);
}

/// Counts one dependency of `successor` as met. If this releases a segment, offers the segment's head. No other node of
/// the segment can have received its message yet.
void Orderer::finishDependency(uint32_t node, uint32_t successor) {
  uint32_t segment = segmentOf[successor];
  --missing[successor];
  bool crosses = segment != None && segment != segmentOf[node];
  if (crosses)
    --outside[segment];
  if (missing[successor] == 0)
    offer(successor);
  if (crosses && outside[segment] == 0 && headOf[segment] != successor)
    offer(headOf[segment]);
}

void Orderer::receive(uint32_t node) {
  SlotQueues::Freed freed = queues.dequeue(node);
  if (freed.receiver != None)
    satisfy(freed.receiver);
  if (freed.waiter != None)
    late.push(nodes.priorityOf(freed.waiter));
}

void Orderer::finish(uint32_t node) {
  order.push_back(node);
  done[node] = 1;
  if (nodes.receives(node))
    receive(node);
  if (nodes.sends(node) && queues.enqueue(nodes.receiver(node)))
    satisfy(nodes.receiver(node));
  eachSuccessor(node, [&](uint32_t successor) { finishDependency(node, successor); });
}

/// Undoes the fusion of a node that has not run. Updates the counts of the second half and of the nodes that must
/// follow it.
void Orderer::splitOff(uint32_t node) {
  uint32_t half = nodes.split(node);
  segmentOf.push_back(segmentOf[node]);
  missing.push_back(1);
  done.push_back(0);
  eachSuccessor(half, [&](uint32_t successor) {
    ++missing[successor];
    if (segmentOf[successor] != None && segmentOf[successor] != segmentOf[half])
      ++outside[segmentOf[successor]];
  });
}

/// Follows the message from `head` as long as all unmet dependencies of the next instruction are on the path. Returns
/// the receiving instruction at the end of the path, and appends all nodes on the path to `prefix`.
uint32_t Orderer::lastReachable(uint32_t head, std::vector<uint32_t> &prefix) {
  llvm::DenseMap<uint32_t, uint32_t> onTheWay; // by later node: number of its dependencies that are in the prefix
  uint32_t segment = segmentOf[head];
  auto walk = [&](uint32_t node) {
    prefix.push_back(node);
    eachSuccessor(node, [&](uint32_t successor) {
      if (segmentOf[successor] == segment)
        ++onTheWay[successor];
    });
  };
  walk(head);
  uint32_t receiver = nodes.receiver(head);
  walk(receiver);
  while (nodes.fused(receiver)) {
    uint32_t next = nodes.receiver(receiver);
    if (missing[next] - 1 != onTheWay.lookup(next))
      break;
    receiver = next;
    walk(receiver);
  }
  return receiver;
}

/// Cuts a segment that can't be released: the part that can run becomes a separate segment.
void Orderer::cutSegment(uint32_t head) {
  std::vector<uint32_t> prefix;
  uint32_t last = lastReachable(head, prefix);
  assert(nodes.fused(last) && "a segment whose instructions are all reachable would have been released");
  uint32_t rest = segmentOf[head];
  splitOff(last);
  headOf[rest] = nodes.secondHalf(last);
  auto own = static_cast<uint32_t>(headOf.size());
  headOf.push_back(head);
  outside.push_back(0);
  for (uint32_t node : prefix)
    segmentOf[node] = own;
  for (uint32_t node : prefix)
    eachSuccessor(node, [&](uint32_t successor) { outside[rest] += segmentOf[successor] == rest; });
  offer(head);
}

/// Makes progress if no node can run. Returns false if another order might avoid a split.
bool Orderer::unstick() {
  if (queues.startPostponed([&](uint32_t node) { finish(node); }))
    return true;
  // Splits the fused node with the highest priority that has its message and waits for a slot.
  if (uint32_t node = queues.unblockFused(); node != None) {
    if (mayReorder)
      return false;
    splitOff(node);
    offer(node);
    return true;
  }
  auto hasSettled = [&](uint32_t node) {
    bool counts = nodes.receives(node) || !nodes.sends(node);
    return !counts || done[node];
  };
  while (hasSettled(nodes.nodeOf(settled)))
    ++settled;
  uint32_t earliest = nodes.nodeOf(settled);
  assert(nodes.receives(earliest) && "a local instruction that comes first can run");
  cutSegment(nodes.sender(earliest));
  return true;
}

void Orderer::runOrPostpone(uint32_t node) {
  if (queues.isFull(node))
    queues.block(node);
  else if (queues.fillsLastSlot(node))
    queues.postpone(node);
  else
    finish(node);
}

std::optional<Order> Orderer::run() {
  buildSuccessors();
  buildSegments();
  countDependencies();
  done.assign(nodes.total(), 0);
  order.reserve(nodes.total());
  while (order.size() != nodes.total()) {
    uint32_t node = next();
    if (node != None)
      runOrPostpone(node);
    else if (!unstick())
      return std::nullopt;
  }
  return Order{std::move(order), std::move(segmentOf)};
}

Order gc3::schedule::orderNodes(Nodes &nodes, uint32_t connections, uint32_t fifoSlots) {
  std::optional<Order> order = Orderer(nodes, connections, fifoSlots, false).run();
  if (!order)
    order = Orderer(nodes, connections, fifoSlots, true).run();
  return std::move(*order);
}
