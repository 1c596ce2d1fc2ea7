// SPDX-License-Identifier: Apache-2.0
// Fusion (GC3 section 4.3): a receive and one send of just what it received become one instruction that keeps the data
// in registers. recv + send → rcs, rrc + send → rrcs, and rrcs → rrs when nobody reads the stored value afterwards and
// the postcondition does not want it. Of several such sends the one on the longest path is fused. The send's only
// dependency is the receive, so fusing never closes a cycle, and the receive's place in the order stays a legal place.
//
// A chain is a message with everything that passes it on; all its messages will share a channel, so directives along
// it must agree. Manual thread blocks must agree where they meet. Linear in instructions and edges.
#include "Stages.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::lower;

namespace {

class Fuser {
public:
  explicit Fuser(Expanded &&expanded) : dag(std::move(expanded.dag)), wantedAtEnd(std::move(expanded.wantedAtEnd)) {}

  InstructionDag run(bool enabled);

private:
  void measureDistances();
  void collectCandidates();
  void assignChains();
  void fuseBestSend(uint32_t receive);
  bool pinsAgree(const Instruction &receive, const Instruction &send) const;
  ChainDemand demand(const Instruction &message) const;
  bool storedValueUnused(uint32_t receive) const;
  InstructionDag compact();
  Instruction merged(uint32_t receive) const;

  InstructionDag dag;
  std::vector<uint8_t> wantedAtEnd;
  std::vector<uint32_t> distance;                      // longest path to an end, by instruction
  std::vector<uint32_t> dataReaders;                   // true edges into each instruction's result
  std::vector<uint32_t> firstCandidate, nextCandidate; // lists of sends by receive
  std::vector<uint32_t> fusedSend;                     // by receive: the send merged into it
  std::vector<uint32_t> fusedInto;                     // by send: the receive that it is merged into
};

} // namespace

/// Longest paths to the end over both kinds of edges, and how many instructions read each one's result.
void Fuser::measureDistances() {
  distance.assign(dag.instructions.size(), 0);
  dataReaders.assign(dag.instructions.size(), 0);
  for (uint32_t node = static_cast<uint32_t>(dag.instructions.size()); node-- != 0;) {
    uint32_t next = distance[node] + 1;
    for (uint32_t i = dag.edges.begin[node]; i != dag.edges.begin[node + 1]; ++i) {
      Dependencies::Edge edge = dag.edges.edges[i];
      distance[edge.node()] = std::max(distance[edge.node()], next);
      dataReaders[edge.node()] += !edge.isFalse();
    }
    if (uint32_t sender = dag.instructions[node].sender; sender != None)
      distance[sender] = std::max(distance[sender], next);
  }
}

/// A send can be fused with the instruction that wrote all it reads, if that is one receive of exactly these slots.
void Fuser::collectCandidates() {
  firstCandidate.assign(dag.instructions.size(), None);
  nextCandidate.assign(dag.instructions.size(), None);
  for (uint32_t node = static_cast<uint32_t>(dag.instructions.size()); node-- != 0;) {
    const Instruction &send = dag.instructions[node];
    if (send.opcode != Opcode::Send || dag.edges.begin[node + 1] - dag.edges.begin[node] != 1)
      continue;
    uint32_t writer = dag.edges.edges[dag.edges.begin[node]].node();
    const Instruction &receive = dag.instructions[writer];
    if (receives(receive.opcode) && receive.dstBuffer == send.srcBuffer && receive.dstIndex == send.srcIndex &&
        receive.count == send.count) {
      nextCandidate[node] = firstCandidate[writer];
      firstCandidate[writer] = node;
    }
  }
}

ChainDemand Fuser::demand(const Instruction &message) const {
  return demandOf(dag.info->directives[message.directive], message.instance);
}

bool Fuser::pinsAgree(const Instruction &receive, const Instruction &send) const {
  int32_t in = dag.info->directives[receive.directive].recvThreadBlock;
  int32_t out = dag.info->directives[send.directive].sendThreadBlock;
  return in < 0 || out < 0 || in == out;
}

void Fuser::fuseBestSend(uint32_t receive) {
  const Instruction &first = dag.instructions[receive];
  uint32_t best = None;
  ChainDemand bestDemand;
  for (uint32_t send = firstCandidate[receive]; send != None; send = nextCandidate[send]) {
    if (best != None && distance[send] <= distance[best])
      continue;
    ChainDemand joined = dag.chains[first.chain];
    if (pinsAgree(first, dag.instructions[send]) && joined.merge(demand(dag.instructions[send]))) {
      best = send;
      bestDemand = joined;
    }
  }
  if (best == None)
    return;
  dag.chains[first.chain] = bestDemand;
  fusedSend[receive] = best;
  fusedInto[best] = receive;
}

/// One pass in order: whatever a chain's head looks like is settled when its next message is reached.
void Fuser::assignChains() {
  fusedSend.assign(dag.instructions.size(), None);
  fusedInto.assign(dag.instructions.size(), None);
  for (uint32_t node = 0; node != dag.instructions.size(); ++node) {
    Instruction &instruction = dag.instructions[node];
    if (instruction.opcode == Opcode::Send) {
      if (fusedInto[node] != None) {
        instruction.chain = dag.instructions[fusedInto[node]].chain;
        continue;
      }
      instruction.chain = static_cast<uint32_t>(dag.chains.size());
      dag.chains.push_back(demand(instruction));
    } else if (instruction.sender != None) {
      instruction.chain = dag.instructions[instruction.sender].chain;
      if (!firstCandidate.empty())
        fuseBestSend(node);
    }
  }
}

bool Fuser::storedValueUnused(uint32_t receive) const {
  return dataReaders[receive] == 1 && !wantedAtEnd[receive];
}

Instruction Fuser::merged(uint32_t receive) const {
  Instruction result = dag.instructions[receive];
  uint32_t send = fusedSend[receive];
  if (send == None)
    return result;
  result.sendDirective = dag.instructions[send].directive;
  result.receiver = dag.instructions[send].receiver;
  if (result.opcode == Opcode::Recv)
    result.opcode = Opcode::RecvCopySend;
  else if (storedValueUnused(receive)) {
    result.opcode = Opcode::RecvReduceSend;
    result.dstBuffer = 0;
    result.dstIndex = 0;
  } else
    result.opcode = Opcode::RecvReduceCopySend;
  return result;
}

/// Drops the fused sends and renumbers; what depended on a fused send depends on the instruction that it became part
/// of.
InstructionDag Fuser::compact() {
  InstructionDag result;
  result.info = dag.info;
  result.subdivision = dag.subdivision;
  result.bufferSizes = std::move(dag.bufferSizes);
  result.chains = std::move(dag.chains);
  std::vector<uint32_t> place(dag.instructions.size());
  uint32_t kept = 0;
  for (uint32_t node = 0; node != dag.instructions.size(); ++node)
    place[node] = fusedInto[node] != None ? place[fusedInto[node]] : kept++;

  result.instructions.reserve(kept);
  result.edges.begin.reserve(kept + 1);
  std::vector<uint32_t> edgeTo(kept); // position + 1 of the latest edge to a node
  for (uint32_t node = 0; node != dag.instructions.size(); ++node) {
    if (fusedInto[node] != None)
      continue;
    Instruction &instruction = result.instructions.emplace_back(merged(node));
    if (instruction.sender != None)
      instruction.sender = place[instruction.sender];
    if (instruction.receiver != None)
      instruction.receiver = place[instruction.receiver];
    for (uint32_t i = dag.edges.begin[node]; i != dag.edges.begin[node + 1]; ++i) {
      Dependencies::Edge edge = dag.edges.edges[i];
      uint32_t target = place[edge.node()];
      if (edgeTo[target] > result.edges.begin.back()) {
        if (!edge.isFalse())
          result.edges.edges[edgeTo[target] - 1].makeTrue();
        continue;
      }
      result.edges.edges.emplace_back(target, edge.isFalse());
      edgeTo[target] = static_cast<uint32_t>(result.edges.edges.size());
    }
    result.edges.begin.push_back(static_cast<uint32_t>(result.edges.edges.size()));
  }
  return result;
}

InstructionDag Fuser::run(bool enabled) {
  if (!enabled) {
    assignChains();
    return std::move(dag);
  }
  measureDistances();
  collectCandidates();
  assignChains();
  return compact();
}

InstructionDag gc3::lower::fuse(Expanded &&expanded, bool enabled) {
  return Fuser(std::move(expanded)).run(enabled);
}
