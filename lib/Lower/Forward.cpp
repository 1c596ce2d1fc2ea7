// SPDX-License-Identifier: Apache-2.0
// Copy forwarding: a local copy whose only reader is a send, or a receive that reduces into it, is left out, and the
// reader takes what the copy took. So a program that adds to a copy, to leave the original as it is, pays for no copy,
// and fusion sees through it. The reader may then do its read later than the copy would have done: nobody may overwrite
// the original before it, which is so when whatever waits for the copy stands behind the reader. That also keeps every
// edge pointing backwards. Linear in instructions and edges.
#include "Stages.h"
#include <span>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::lower;

namespace {

class Forwarder {
public:
  explicit Forwarder(Expanded &expanded) : dag(expanded.dag), wantedAtEnd(expanded.wantedAtEnd) {}

  void run();

private:
  using Edges = std::span<const Dependencies::Edge>;

  void findUsers();
  bool canForward(uint32_t copy) const;
  bool readsJustThis(uint32_t reader, uint32_t copy) const;
  void compact();
  Edges edges(uint32_t node) const {
    return Edges(dag.edges.edges).subspan(dag.edges.begin[node], dag.edges.begin[node + 1] - dag.edges.begin[node]);
  }
  bool forwarded(uint32_t node) const { return into[node] != None; }

  InstructionDag &dag;
  std::vector<uint8_t> &wantedAtEnd;
  std::vector<uint32_t> firstUser;   // by instruction: the first that has an edge to it
  std::vector<uint32_t> dataReaders; // by instruction: how many have a true edge to it
  std::vector<uint32_t> into;        // by copy that is left out: its reader
};

} // namespace

void Forwarder::findUsers() {
  firstUser.assign(dag.instructions.size(), None);
  dataReaders.assign(dag.instructions.size(), 0);
  for (uint32_t node = 0; node != dag.instructions.size(); ++node) {
    for (Dependencies::Edge edge : edges(node)) {
      if (firstUser[edge.node()] == None)
        firstUser[edge.node()] = node;
      dataReaders[edge.node()] += !edge.isFalse();
    }
  }
}

bool Forwarder::readsJustThis(uint32_t reader, uint32_t copy) const {
  const Instruction &user = dag.instructions[reader];
  const Instruction &source = dag.instructions[copy];
  if (user.opcode != Opcode::Send && user.opcode != Opcode::RecvReduceCopy)
    return false;
  if (user.srcBuffer != source.dstBuffer || user.srcIndex != source.dstIndex || user.count != source.count)
    return false;
  for (Dependencies::Edge edge : edges(reader))
    if (!edge.isFalse() && edge.node() != copy)
      return false;
  return true;
}

bool Forwarder::canForward(uint32_t copy) const {
  const Instruction &instruction = dag.instructions[copy];
  if (instruction.opcode != Opcode::Copy || wantedAtEnd[copy] || dataReaders[copy] != 1)
    return false;
  const Directive &directive = dag.info->directives[instruction.directive];
  if (directive.sendThreadBlock >= 0 || directive.recvThreadBlock >= 0)
    return false;
  return readsJustThis(firstUser[copy], copy);
}

/// Drops the forwarded copies and renumbers. A reader gets the edges of its copy, and what waited for the copy waits
/// for the reader.
void Forwarder::compact() {
  std::vector<uint32_t> place(dag.instructions.size());
  uint32_t kept = 0;
  for (uint32_t node = 0; node != dag.instructions.size(); ++node)
    if (!forwarded(node))
      place[node] = kept++;
  for (uint32_t node = 0; node != dag.instructions.size(); ++node)
    if (forwarded(node))
      place[node] = place[into[node]];

  Dependencies merged;
  std::vector<uint32_t> edgeTo(kept); // position + 1 of the latest edge to a node
  auto add = [&](uint32_t from, Dependencies::Edge edge) {
    uint32_t target = place[edge.node()];
    if (target == place[from])
      return;
    if (edgeTo[target] <= merged.begin.back()) {
      merged.edges.emplace_back(target, edge.isFalse());
      edgeTo[target] = static_cast<uint32_t>(merged.edges.size());
    } else if (!edge.isFalse()) {
      merged.edges[edgeTo[target] - 1].makeTrue();
    }
  };
  for (uint32_t node = 0; node != dag.instructions.size(); ++node) {
    if (forwarded(node))
      continue;
    for (Dependencies::Edge edge : edges(node)) {
      if (into[edge.node()] == node)
        for (Dependencies::Edge inherited : edges(edge.node()))
          add(node, inherited);
      add(node, edge);
    }
    merged.begin.push_back(static_cast<uint32_t>(merged.edges.size()));
  }
  for (uint32_t node = 0; node != dag.instructions.size(); ++node) {
    if (forwarded(node))
      continue;
    Instruction instruction = dag.instructions[node];
    if (instruction.sender != None)
      instruction.sender = place[instruction.sender];
    if (instruction.receiver != None)
      instruction.receiver = place[instruction.receiver];
    dag.instructions[place[node]] = instruction;
    wantedAtEnd[place[node]] = wantedAtEnd[node];
  }
  dag.instructions.resize(kept);
  wantedAtEnd.resize(kept);
  dag.edges = std::move(merged);
}

void Forwarder::run() {
  findUsers();
  into.assign(dag.instructions.size(), None);
  bool any = false;
  for (uint32_t node = 0; node != dag.instructions.size(); ++node) {
    if (!canForward(node))
      continue;
    any = true;
    into[node] = firstUser[node];
    Instruction &reader = dag.instructions[firstUser[node]];
    reader.srcBuffer = dag.instructions[node].srcBuffer;
    reader.srcIndex = dag.instructions[node].srcIndex;
  }
  if (any)
    compact();
}

void gc3::lower::forwardCopies(Expanded &expanded) {
  Forwarder(expanded).run();
}
