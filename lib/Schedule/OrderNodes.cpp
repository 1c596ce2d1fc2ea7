// SPDX-License-Identifier: Apache-2.0
// One global order (GC3 section 4.4), by list scheduling: of all nodes that can run the one with the highest priority
// goes first. A node can run when its dependencies have, when the message that it receives is the oldest on its
// connection, and when a slot is free for the one that it sends.
//
// Nodes are numbered by priority, so a cursor that moves over them meets each when its turn comes; only nodes that
// could not run then, and can later, go through a heap.
//
// Two rules make sure that this never gets stuck, so that thread blocks which follow the order never deadlock:
// a message is sent only when every instruction that will pass it on, up to the receive that ends its segment, has all
// its other dependencies behind it (the segment is released); and when nothing can run all the same, a fused
// instruction is split: one that waits for a slot (it can then at least receive), or else, in the segment whose message
// comes first in the program, the last one up to which the message can travel. The message that comes first in the
// program can always be received: whatever it depends on comes earlier in the program, and that has run.
//
// Sends depend on little and come early, so a ring on which many chains begin is soon full: no message can be passed
// on, and splitting lets few of them move at a time. Where that happens the order is made anew, with the rule that
// networks know as bubble flow control: a message that will be passed on begins its way only if it leaves a slot free,
// or if nothing else can run. It is not the rule from the beginning, as trees don't need it and are slower with it.
//
// A slot of scratch that is used again holds a message back until what uses it before has run on all ranks of the
// message's way. It would be enough to stay behind that on every connection, but then a message must know the ways of
// others; programs that want more in flight take more scratch.
//
// Linear in nodes and edges, but for the heaps. A node that waits for a slot costs them a logarithm, a segment that is
// cut its length up to there. Where messages leave a slot free, each time that nothing else can run costs a look at the
// connections where messages were put off.
#include "SlotQueues.h"
#include "Stages.h"
#include "llvm/ADT/DenseMap.h"

using namespace gc3::ir;
using namespace gc3::schedule;

namespace {

class Orderer {
public:
  /// `spareSlot`: messages begin their way late, where they would fill the last slot.
  Orderer(Nodes &nodes, uint32_t connections, uint32_t fifoSlots, bool spareSlot)
      : nodes(nodes), mayReorder(!spareSlot && fifoSlots != 1), queues(nodes, connections, fifoSlots, spareSlot) {}

  /// Nothing, if `spareSlot` might help.
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
  void runOrPutOff(uint32_t node);
  bool unstick();
  void cutSegment(uint32_t head);
  uint32_t lastReachable(uint32_t head, std::vector<uint32_t> &prefix);
  void splitOff(uint32_t node);
  template <typename Visitor>
  void eachSuccessor(uint32_t node, Visitor visit) const;

  Nodes &nodes;
  bool mayReorder; // rather than split a node that waits for a slot
  std::vector<uint32_t> successorBegin, successors;
  std::vector<uint32_t> missing;   // by node: dependencies that have not run, and a message not at the head
  std::vector<uint32_t> segmentOf; // by node
  std::vector<uint32_t> outside;   // by segment: dependencies on other segments that have not run
  std::vector<uint32_t> headOf;    // by segment
  std::vector<uint8_t> done;       // by node
  SlotQueues queues;
  TurnHeap late;       // of those that can run and whose turn has passed
  uint32_t cursor = 0; // whose turn it is
  std::vector<uint32_t> order;
  uint32_t settled = 0; // every instruction before it that is local or receives has run
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

/// The nodes that depend on `node`. The second half of a split instruction holds back those that overwrite its data.
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

/// Queues a node that may have become able to run; if its turn is still to come, the cursor will find it.
void Orderer::offer(uint32_t node) {
  if (canRun(node) && nodes.turnOf(node) < cursor)
    late.push(nodes.turnOf(node));
}

/// The node with the highest priority of those that can run, but for a free slot; None if there is none.
uint32_t Orderer::next() {
  if (!late.empty())
    return nodes.nodeWithTurn(take(late));
  while (cursor != 2 * nodes.n) {
    uint32_t node = nodes.nodeWithTurn(cursor);
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

/// Counts one dependency as met. A segment that is released by it starts with its head: no other node of it can have
/// its message yet.
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
    late.push(nodes.turnOf(freed.waiter));
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

/// Undoes the fusion of a node that has not run: its second half and what must follow that get their counts.
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

/// Follows the message from `head` as far as instructions depend on nothing but what lies on the way.
/// Returns the receiving instruction where the way ends; `prefix` gets all nodes on it.
uint32_t Orderer::lastReachable(uint32_t head, std::vector<uint32_t> &prefix) {
  llvm::DenseMap<uint32_t, uint32_t> onTheWay; // dependencies of later nodes that the prefix satisfies
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

/// Cuts a segment that can't be released: the part that can run becomes a segment of its own.
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

/// Lets something run after all; false if another order might do without a split.
bool Orderer::unstick() {
  if (queues.open([&](uint32_t node) { finish(node); }))
    return true;
  // Of the fused nodes that wait for a slot, with their message at hand, the one that would go first.
  if (uint32_t node = queues.takeBlockedFused(); node != None) {
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

void Orderer::runOrPutOff(uint32_t node) {
  if (queues.isFull(node))
    queues.block(node);
  else if (queues.fillsLastSlot(node))
    queues.putOff(node);
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
      runOrPutOff(node);
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
