// SPDX-License-Identifier: Apache-2.0
// Renumbers instructions by priority, and derives the two halves of a split instruction.
#include "Nodes.h"

using namespace gc3::ir;
using namespace gc3::schedule;

Nodes::Nodes(const Instructions &instructions, std::vector<uint32_t> connectionOf, std::vector<uint32_t> priorities)
    : dag(instructions.dag), n(instructions.n), nodes(n), placeOf(std::move(priorities)) {
  for (uint32_t index = 0; index != n; ++index) {
    uint32_t receiver = instructions.at(index).receiver;
    Node &node = nodes[placeOf[index]];
    node = {index, connectionOf[index], None, None};
    if (receiver != None) {
      node.outgoing = connectionOf[receiver];
      node.receiver = placeOf[receiver];
    }
  }
  connectionOf = std::vector<uint32_t>(); // frees memory
  mapDependencies();
  for (uint32_t node = 0; node != n; ++node)
    if (instructions.isSplit(nodes[node].instruction))
      split(node);
}

void Nodes::mapDependencies() {
  begin.reserve(n + 1);
  begin.push_back(0);
  dependencies.reserve(dag.edges.edges.size());
  for (uint32_t node = 0; node != n; ++node) {
    uint32_t index = nodes[node].instruction;
    for (uint32_t i = dag.edges.begin[index]; i != dag.edges.begin[index + 1]; ++i)
      dependencies.push_back(placeOf[dag.edges.edges[i].node()]);
    begin.push_back(static_cast<uint32_t>(dependencies.size()));
  }
}

uint32_t Nodes::split(uint32_t node) {
  if (halfOf.empty())
    halfOf.assign(n, None);
  uint32_t half = total();
  nodes.push_back(nodes[node]);
  nodes[half].incoming = None;
  nodes[node].outgoing = None;
  nodes[node].receiver = None;
  halfOf[node] = half;
  firstOf.push_back(node);
  return half;
}

uint32_t Nodes::sender(uint32_t receiver) const {
  uint32_t node = placeOf[at(receiver).sender];
  return isSplit(node) ? secondHalf(node) : node;
}

Instruction Nodes::asScheduled(uint32_t node) const {
  Instruction result = at(node);
  if (isSecondHalf(node)) {
    result.srcBuffer = result.dstBuffer;
    result.srcIndex = result.dstIndex;
    result.opcode = Opcode::Send;
    result.dstBuffer = 0;
    result.dstIndex = 0;
    return result;
  }
  if (!isSplit(node))
    return result;
  result.opcode = result.opcode == Opcode::RecvCopySend ? Opcode::Recv : Opcode::RecvReduceCopy;
  return result;
}

/// A fused rrs counts as a writer of its spill place. A later writer of these slots depends only on the rrs, not on the
/// instructions on which the rrs depends.
bool Nodes::overwrites(uint32_t later, uint32_t first) const {
  const Instruction &writer = at(later);
  const Instruction &sent = at(first);
  return hasDst(writer.opcode) && !isSecondHalf(later) && writer.dstBuffer == sent.dstBuffer &&
         writer.dstIndex < sent.dstIndex + sent.count && sent.dstIndex < writer.dstIndex + writer.count;
}
