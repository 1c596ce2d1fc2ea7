// SPDX-License-Identifier: Apache-2.0
// One global order (GC3 section 4.4), by list scheduling: of all nodes that can run the one of least depth goes first,
// among those the one with the longest path to an end, then program order. A node can run when its dependencies have,
// when the message that it receives is the oldest on its connection, and when a slot is free for the one that it sends.
//
// Two rules make sure that this never gets stuck, so that thread blocks which follow the order never deadlock:
// a message is sent only when every instruction that will pass it on, up to the receive that ends its segment, has all
// its other dependencies behind it (the segment is released); and when nothing can run all the same, a fused
// instruction is split: one that waits for a slot (it can then at least receive), or else, in the segment whose message
// comes first in the program, the last one up to which the message can travel. The message that comes first in the
// program can always be received: whatever it depends on comes earlier in the program, and that has run.
//
// O(n log n) for n nodes and edges; each split costs the length of the segment that it cuts off.
#include "Stages.h"
#include <algorithm>

using namespace gc3::ir;
using namespace gc3::schedule;

namespace {

class Orderer {
public:
  Orderer(Nodes &nodes, const Channels &channels, uint32_t fifoSlots, std::vector<uint32_t> &segments)
      : nodes(nodes), edges(nodes.dag.edges), channels(channels), fifoSlots(fifoSlots), segmentOf(segments) {}

  std::vector<uint32_t> run();

private:
  struct Queue {          // one connection
    uint32_t head = None; // messages in flight, by receiving instruction, oldest first
    uint32_t tail = None;
    uint32_t inFlight = 0;
    std::vector<uint32_t> blocked; // heap of nodes that wait for a slot
  };

  void buildSuccessors();
  void measure();
  void buildSegments();
  void countDependencies();
  bool before(uint32_t a, uint32_t b) const;
  void push(std::vector<uint32_t> &heap, uint32_t node);
  uint32_t pop(std::vector<uint32_t> &heap);
  void offer(uint32_t node);
  void satisfy(uint32_t node);
  void finish(uint32_t node);
  void finishDependency(uint32_t node, uint32_t successor);
  void dequeue(uint32_t receiver);
  void enqueue(uint32_t receiver);
  void unstick();
  bool splitBlocked();
  void cutSegment(uint32_t head);
  uint32_t lastReachable(uint32_t head, std::vector<uint32_t> &prefix);
  void splitOff(uint32_t instruction);
  template <typename Visitor>
  void eachSuccessor(uint32_t node, Visitor visit) const;
  Queue &incoming(uint32_t node) { return queues[channels.connectionOf[node]]; }
  Queue &outgoing(uint32_t node) { return queues[channels.connectionOf[nodes.at(node).receiver]]; }

  Nodes &nodes;
  const Dependencies &edges;
  const Channels &channels;
  uint32_t fifoSlots;
  std::vector<uint32_t> &segmentOf;
  std::vector<uint32_t> successorBegin, successors;
  std::vector<uint32_t> depth, distance; // by instruction
  std::vector<uint32_t> missing;         // by node: dependencies that have not run, and a message not at the head
  std::vector<uint32_t> outside;         // by segment: dependencies on other segments that have not run
  std::vector<uint32_t> headOf;          // by segment
  std::vector<uint32_t> nextMessage;     // by receiving instruction: the next on its connection
  std::vector<uint8_t> done;             // by node
  std::vector<Queue> queues;
  std::vector<uint32_t> ready; // heap
  std::vector<uint32_t> order;
  uint32_t cursor = 0; // every instruction before it that is local or receives has run
};

} // namespace

void Orderer::buildSuccessors() {
  successorBegin.assign(nodes.n + 2, 0);
  for (Dependencies::Edge edge : edges.edges)
    ++successorBegin[edge.node() + 2];
  for (uint32_t node = 0; node != nodes.n; ++node)
    successorBegin[node + 2] += successorBegin[node + 1];
  successors.resize(edges.edges.size());
  for (uint32_t node = 0; node != nodes.n; ++node)
    for (uint32_t i = edges.begin[node]; i != edges.begin[node + 1]; ++i)
      successors[successorBegin[edges.edges[i].node() + 1]++] = node;
  successorBegin.pop_back();
}

/// The nodes that depend on `node`. The second half of a split instruction holds back those that overwrite its data.
template <typename Visitor>
void Orderer::eachSuccessor(uint32_t node, Visitor visit) const {
  uint32_t instruction = nodes.first(node);
  for (uint32_t i = successorBegin[instruction]; i != successorBegin[instruction + 1]; ++i)
    if (!nodes.isSecondHalf(node) || nodes.overwrites(successors[i], instruction))
      visit(successors[i]);
  if (!nodes.isSecondHalf(node) && nodes.isSplit(instruction))
    visit(nodes.secondHalf(instruction));
}

void Orderer::measure() {
  depth.assign(nodes.n, 0);
  distance.assign(nodes.n, 0);
  for (uint32_t node = 0; node != nodes.n; ++node) {
    for (uint32_t i = edges.begin[node]; i != edges.begin[node + 1]; ++i)
      depth[node] = std::max(depth[node], depth[edges.edges[i].node()] + 1);
    if (uint32_t sender = nodes.dag.instructions[node].sender; sender != None)
      depth[node] = std::max(depth[node], depth[sender] + 1);
  }
  for (uint32_t node = nodes.n; node-- != 0;) {
    for (uint32_t i = edges.begin[node]; i != edges.begin[node + 1]; ++i)
      distance[edges.edges[i].node()] = std::max(distance[edges.edges[i].node()], distance[node] + 1);
    if (uint32_t sender = nodes.dag.instructions[node].sender; sender != None)
      distance[sender] = std::max(distance[sender], distance[node] + 1);
  }
}

void Orderer::buildSegments() {
  segmentOf.assign(2 * nodes.n, None);
  auto open = [&](uint32_t node) {
    segmentOf[node] = static_cast<uint32_t>(headOf.size());
    headOf.push_back(node);
  };
  for (uint32_t node = 0; node != nodes.n; ++node) {
    if (nodes.receives(node))
      segmentOf[node] = segmentOf[nodes.sender(node)];
    else if (nodes.sends(node))
      open(node);
    if (nodes.isSplit(node))
      open(nodes.secondHalf(node));
  }
}

void Orderer::countDependencies() {
  missing.assign(2 * nodes.n, 0);
  outside.assign(headOf.size(), 0);
  auto count = [&](uint32_t node) {
    eachSuccessor(node, [&](uint32_t successor) {
      ++missing[successor];
      if (segmentOf[successor] != None && segmentOf[successor] != segmentOf[node])
        ++outside[segmentOf[successor]];
    });
  };
  for (uint32_t node = 0; node != nodes.n; ++node) {
    count(node);
    if (nodes.isSplit(node))
      count(nodes.secondHalf(node));
    missing[node] += nodes.receives(node);
  }
}

/// Whether `a` goes before `b`.
bool Orderer::before(uint32_t a, uint32_t b) const {
  uint32_t i = nodes.first(a);
  uint32_t j = nodes.first(b);
  if (depth[i] != depth[j])
    return depth[i] < depth[j];
  if (distance[i] != distance[j])
    return distance[i] > distance[j];
  return i != j ? i < j : a < b;
}

void Orderer::push(std::vector<uint32_t> &heap, uint32_t node) {
  heap.push_back(node);
  std::push_heap(heap.begin(), heap.end(), [this](uint32_t a, uint32_t b) { return before(b, a); });
}

uint32_t Orderer::pop(std::vector<uint32_t> &heap) {
  std::pop_heap(heap.begin(), heap.end(), [this](uint32_t a, uint32_t b) { return before(b, a); });
  uint32_t node = heap.back();
  heap.pop_back();
  return node;
}

/// Queues a node whose dependencies have run, if its segment is released.
void Orderer::offer(uint32_t node) {
  if (missing[node] != 0 || (segmentOf[node] != None && outside[segmentOf[node]] != 0))
    return;
  if (nodes.sends(node) && outgoing(node).inFlight == fifoSlots)
    push(outgoing(node).blocked, node);
  else
    push(ready, node);
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

void Orderer::enqueue(uint32_t receiver) {
  Queue &queue = incoming(receiver);
  ++queue.inFlight;
  if (queue.head == None) {
    queue.head = queue.tail = receiver;
    satisfy(receiver);
    return;
  }
  nextMessage[queue.tail] = receiver;
  queue.tail = receiver;
}

void Orderer::dequeue(uint32_t receiver) {
  Queue &queue = incoming(receiver);
  --queue.inFlight;
  queue.head = nextMessage[receiver];
  if (queue.head != None)
    satisfy(queue.head);
  if (!queue.blocked.empty())
    push(ready, pop(queue.blocked));
}

void Orderer::finish(uint32_t node) {
  order.push_back(node);
  done[node] = 1;
  if (nodes.receives(node))
    dequeue(node);
  if (nodes.sends(node))
    enqueue(nodes.at(node).receiver);
  eachSuccessor(node, [&](uint32_t successor) { finishDependency(node, successor); });
}

/// Undoes the fusion of an instruction that has not run: its second half and what must follow that get their counts.
void Orderer::splitOff(uint32_t instruction) {
  nodes.split(instruction);
  uint32_t half = nodes.secondHalf(instruction);
  segmentOf[half] = segmentOf[instruction];
  missing[half] = 1;
  eachSuccessor(half, [&](uint32_t successor) {
    ++missing[successor];
    if (segmentOf[successor] != None && segmentOf[successor] != segmentOf[half])
      ++outside[segmentOf[successor]];
  });
}

/// Of the fused instructions that wait for a slot with their message at hand, splits the one that would go first.
bool Orderer::splitBlocked() {
  uint32_t best = None;
  Queue *where = nullptr;
  for (Queue &queue : queues)
    for (uint32_t node : queue.blocked)
      if (nodes.fused(node) && (best == None || before(node, best))) {
        best = node;
        where = &queue;
      }
  if (best == None)
    return false;
  where->blocked.erase(std::find(where->blocked.begin(), where->blocked.end(), best));
  std::make_heap(where->blocked.begin(), where->blocked.end(), [this](uint32_t a, uint32_t b) { return before(b, a); });
  splitOff(best);
  offer(best);
  return true;
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
  uint32_t receiver = nodes.at(head).receiver;
  walk(receiver);
  while (nodes.fused(receiver)) {
    uint32_t next = nodes.at(receiver).receiver;
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

void Orderer::unstick() {
  if (splitBlocked())
    return;
  auto settled = [&](uint32_t node) {
    bool counts = nodes.receives(node) || !nodes.sends(node);
    return !counts || done[node];
  };
  while (settled(cursor))
    ++cursor;
  assert(nodes.receives(cursor) && "a local instruction that comes first can run");
  cutSegment(nodes.sender(cursor));
}

std::vector<uint32_t> Orderer::run() {
  buildSuccessors();
  measure();
  buildSegments();
  countDependencies();
  nextMessage.assign(nodes.n, None);
  done.assign(2 * nodes.n, 0);
  queues.resize(channels.frames.connections().size());
  order.reserve(nodes.total());
  for (uint32_t node = 0; node != nodes.n; ++node)
    offer(node); // second halves always depend on first ones
  while (order.size() != nodes.total()) {
    if (ready.empty()) {
      unstick();
      continue;
    }
    uint32_t node = pop(ready);
    if (nodes.sends(node) && outgoing(node).inFlight == fifoSlots)
      push(outgoing(node).blocked, node);
    else
      finish(node);
  }
  return order;
}

std::vector<uint32_t> gc3::schedule::orderNodes(Nodes &nodes, const Channels &channels, uint32_t fifoSlots,
                                                std::vector<uint32_t> &segments) {
  return Orderer(nodes, channels, fifoSlots, segments).run();
}
