// SPDX-License-Identifier: Apache-2.0
// Fusion (GC3 section 4.3): a receive and one send of exactly the received slots become one instruction that keeps the
// data in registers. recv + send becomes rcs, and rrc + send becomes rrcs. The rrcs becomes rrs if no other instruction
// reads the stored value and the postcondition does not require it. If a receive has several such sends, it is fused
// with the send on the longest path. The send depends only on the receive. So fusion never closes a cycle, and the
// fused instruction can take the receive's place in the order.
//
// A chain is a message, together with the messages in which fused instructions pass it on. All of them share a channel,
// so directives along a chain must agree. Manual thread blocks must agree where a receive is fused with a send. Linear
// in instructions and edges.
#include "Stages.h"
#include "gc3/IR/SlotTracker.h"
#include <algorithm>
#include <utility>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::lower;

namespace {

class Fuser {
public:
  explicit Fuser(const Unfused &unfused) : unfused(unfused) {}

  InstructionDag run(bool enabled);

private:
  void findCandidates();
  void measureDistances();
  bool canFuse(uint32_t send, uint32_t writer) const;
  void noteReader(uint32_t node);
  bool storedValueUnused(uint32_t receive) const;
  uint32_t chooseSend(uint32_t receive, uint32_t candidates, ChainDemand &demand) const;
  uint32_t takeSend(uint32_t receive, uint32_t candidates, ChainDemand &demand);
  bool pinsAgree(uint32_t receive, uint32_t send) const;
  ChainDemand demandOf(uint32_t send) const;
  void emit(uint32_t node);
  Instruction make(uint32_t node) const;
  void openChain(uint32_t send, Instruction &instruction);
  void joinChain(uint32_t receive, uint32_t candidates, Instruction &instruction);
  void emitEdges(uint32_t node);

  const Unfused &unfused;
  std::vector<uint32_t> distance; // longest path to an end, by instruction; empty if no receive has several candidates
  std::vector<uint8_t> dataReaders; // by receive: number of true edges to its result, at most 2
  /// By instruction: its index in `result`. Until the index is known, `place` holds linked lists: `place[receive]` is
  /// the first send that can be fused with the receive, and `place[send]` is the next one.
  std::vector<uint32_t> place;
  uint32_t unfusedCount = 0; // instructions before fusion
  uint32_t fusible = 0;      // receives that can be fused with a send, if directives agree
  InstructionDag result;
  EdgeCollector edges;
};

} // namespace

void Fuser::noteReader(uint32_t node) {
  if (!Unfused::isReceiveNumber(node))
    return;
  uint8_t &readers = dataReaders[node / 2];
  readers = std::min<uint8_t>(readers + 1, 2);
}

/// Returns true if only the fused send needs the sum that `receive` stores. Then the fused instruction need not store
/// it.
bool Fuser::storedValueUnused(uint32_t receive) const {
  return dataReaders[receive / 2] == 1 && !unfused.isWanted(receive);
}

/// Returns true if `writer`, the only dependency of `send`, is a receive of exactly the slots that the send reads.
bool Fuser::canFuse(uint32_t send, uint32_t writer) const {
  return Unfused::isReceiveNumber(writer) && unfused.target(writer) == unfused.source(send);
}

/// Counts the readers of each receive's result, and lists the sends that can be fused with it.
void Fuser::findCandidates() {
  dataReaders.assign(unfused.size() / 2, 0);
  bool choice = false;
  for (uint32_t node = unfused.size(); node-- != 0;) {
    if (unfused.isGap(node))
      continue;
    ++unfusedCount;
    uint32_t dependencies = 0;
    uint32_t writer = None;
    unfused.eachDependency(node, [&](uint32_t on, bool isFalse) {
      if (!isFalse)
        noteReader(on);
      ++dependencies;
      writer = on;
    });
    if (dependencies != 1 || !unfused.isSend(node) || !canFuse(node, writer))
      continue;
    bool isFirst = place[writer] == None;
    choice |= !isFirst;
    fusible += isFirst;
    place[node] = place[writer];
    place[writer] = node;
  }
  if (choice)
    measureDistances();
}

/// Measures the longest path from each instruction to an end, over both kinds of edges. Proceeds from the last
/// instruction to the first.
void Fuser::measureDistances() {
  distance.assign(unfused.size(), 0);
  for (uint32_t node = unfused.size(); node-- != 0;) {
    if (unfused.isGap(node))
      continue;
    uint32_t next = distance[node] + 1;
    unfused.eachDependency(node, [&](uint32_t on, bool) { distance[on] = std::max(distance[on], next); });
    if (Unfused::isReceiveNumber(node))
      distance[node - 1] = std::max(distance[node - 1], next);
  }
}

ChainDemand Fuser::demandOf(uint32_t send) const {
  return ir::demandOf(unfused.directive(send), unfused.instance(send));
}

/// Returns true if no manual thread blocks prevent the fusion. Each parallel instance has its own copy of a block.
bool Fuser::pinsAgree(uint32_t receive, uint32_t send) const {
  int32_t in = unfused.directive(receive).recvThreadBlock;
  int32_t out = unfused.directive(send).sendThreadBlock;
  return in < 0 || out < 0 || (in == out && unfused.instance(receive) == unfused.instance(send));
}

/// Finds the candidates whose directives agree with the directives of the chain. Returns the one on the longest path,
/// or None, and merges its demand into `demand`.
uint32_t Fuser::chooseSend(uint32_t receive, uint32_t candidates, ChainDemand &demand) const {
  uint32_t best = None;
  ChainDemand bestDemand = demand;
  for (uint32_t send = candidates; send != None; send = place[send]) {
    if (best != None && distance[send] <= distance[best])
      continue;
    ChainDemand joined = demand;
    if (pinsAgree(receive, send) && joined.merge(demandOf(send))) {
      best = send;
      bestDemand = joined;
    }
  }
  demand = bestDemand;
  return best;
}

/// Like chooseSend(), but also sets `place`: to the receive's place for the chosen candidate, to None for the others.
uint32_t Fuser::takeSend(uint32_t receive, uint32_t candidates, ChainDemand &demand) {
  uint32_t best = chooseSend(receive, candidates, demand);
  for (uint32_t send = candidates; send != None;)
    send = std::exchange(place[send], send == best ? place[receive] : None);
  return best;
}

void Fuser::openChain(uint32_t send, Instruction &instruction) {
  instruction.chain = static_cast<uint32_t>(result.chains.size());
  result.chains.push_back(demandOf(send));
}

/// Links a receive to its sender, and fuses it with the best candidate, if there is one.
void Fuser::joinChain(uint32_t receive, uint32_t candidates, Instruction &instruction) {
  instruction.sender = place[receive - 1];
  Instruction &sender = result.instructions[instruction.sender];
  sender.receiver = place[receive];
  instruction.chain = sender.chain;
  uint32_t send = takeSend(receive, candidates, result.chains[instruction.chain]);
  if (send == None)
    return;
  instruction.sendDirective = unfused.operation(send).directive;
  if (instruction.opcode == Opcode::Recv) {
    instruction.opcode = Opcode::RecvCopySend;
  } else if (storedValueUnused(receive)) {
    instruction.opcode = Opcode::RecvReduceSend;
  } else {
    instruction.opcode = Opcode::RecvReduceCopySend;
  }
}

/// Turns dependencies on a fused send into dependencies on the instruction that contains it.
void Fuser::emitEdges(uint32_t node) {
  unfused.eachDependency(node, [&](uint32_t on, bool isFalse) { edges.add(place[on], isFalse); });
  edges.endNode();
}

/// Returns the instruction as it is before fusion, without its chain, sender and receiver.
Instruction Fuser::make(uint32_t node) const {
  const ChunkOp &op = unfused.operation(node);
  bool transfers = Unfused::isTransfer(op);
  bool receives = Unfused::isReceiveNumber(node);
  Instruction instruction{};
  instruction.sender = instruction.receiver = instruction.chain = None;
  instruction.instance = unfused.instance(node);
  instruction.directive = instruction.sendDirective = op.directive;
  instruction.site = op.site;
  instruction.rank = transfers && !receives ? op.srcRank : op.dstRank;
  const Slice target = unfused.target(node);
  instruction.count = target.count;
  if (receives)
    instruction.opcode = unfused.combines(node) ? Opcode::RecvReduceCopy : Opcode::Recv;
  else
    instruction.opcode = transfers ? Opcode::Send : op.kind == ChunkOpKind::Copy ? Opcode::Copy : Opcode::Reduce;
  if (readsSrc(instruction.opcode)) {
    const Slice read = receives ? unfused.operand(node) : unfused.source(node);
    instruction.srcBuffer = read.buffer;
    instruction.srcIndex = read.first;
  }
  if (writesDst(instruction.opcode)) {
    instruction.dstBuffer = target.buffer;
    instruction.dstIndex = target.first;
  }
  return instruction;
}

/// Adds the instruction with number `node`. Must be called in the order of numbers: when a message joins a chain, the
/// chain's demand must include all earlier messages.
void Fuser::emit(uint32_t node) {
  bool isFused = place[node] != None && !Unfused::isReceiveNumber(node); // a send that has the place of its receive
  if (isFused || unfused.isGap(node))
    return;
  uint32_t candidates = std::exchange(place[node], static_cast<uint32_t>(result.instructions.size()));
  Instruction instruction = make(node);
  if (instruction.opcode == Opcode::Send)
    openChain(node, instruction);
  else if (receives(instruction.opcode))
    joinChain(node, candidates, instruction);
  result.instructions.push_back(instruction);
  emitEdges(node);
}

InstructionDag Fuser::run(bool enabled) {
  result.info = unfused.chunks.info;
  result.subdivision = unfused.subdivision;
  result.bufferSizes = unfused.chunks.bufferSizes;
  for (uint32_t &size : result.bufferSizes)
    size *= unfused.subdivision;
  place.assign(unfused.size(), None);
  if (enabled)
    findCandidates();
  uint32_t expected = unfusedCount - fusible + fusible / 16;
  result.instructions.reserve(expected);
  edges.reserve(expected, unfused.edges.edges.size());
  for (uint32_t node = 0; node != unfused.size(); ++node)
    emit(node);
  result.edges = edges.take();
  return std::move(result);
}

InstructionDag gc3::lower::fuse(const Unfused &unfused, bool enabled) {
  return Fuser(unfused).run(enabled);
}
