// SPDX-License-Identifier: Apache-2.0
// Counting messages: the k-th message of a connection tells its receiver that the sender's thread block has come to its
// k-th send. Linear in nodes and edges.
#include "MessageOrder.h"

using namespace gc3::ir;
using namespace gc3::schedule;

MessageOrder::MessageOrder(const Nodes &nodes, const ThreadBlocks &blocks, const std::vector<uint32_t> &order,
                           const std::vector<uint32_t> &segments)
    : nodes(nodes), blocks(blocks), segments(segments), acknowledged(nodes.dag.edges.edges.size()),
      received(order.size()), sent(2 * size_t(nodes.n)) {
  std::vector<uint32_t> receivedBy(blocks.blocks.size());
  std::vector<uint32_t> sentBy(blocks.blocks.size());
  for (uint32_t node : order) {
    uint32_t block = blocks.blockOf[node];
    receivedBy[block] += nodes.receives(node);
    sentBy[block] += nodes.sends(node);
    received[blocks.blocks[block].firstStep + blocks.stepOf[node]] = receivedBy[block];
    sent[node] = sentBy[block];
  }
}

/// The number of the first message that its thread block sends when the node is done.
uint32_t MessageOrder::departure(uint32_t node) const {
  return sent[node] + !nodes.sends(node);
}

static bool overlaps(const Instruction &writer, BufferId buffer, uint32_t index, uint32_t count) {
  return writer.dstBuffer == buffer && writer.dstIndex < index + count && index < writer.dstIndex + writer.count;
}

/// Whether "it was over before the message left" is enough for `node` to go on.
bool MessageOrder::carriesOver(uint32_t node, uint32_t dependency) const {
  if (nodes.dag.info->protocol == Protocol::Simple)
    return true;
  Instruction early = nodes.asScheduled(dependency);
  Instruction late = nodes.asScheduled(node);
  if (!writesDst(early.opcode))
    return true;
  bool reads = readsSrc(late.opcode) && overlaps(early, late.srcBuffer, late.srcIndex, late.count);
  bool writes = writesDst(late.opcode) && overlaps(early, late.dstBuffer, late.dstIndex, late.count);
  return !reads && !writes;
}

bool MessageOrder::implies(uint32_t node, uint32_t edge) const {
  if (!nodes.receives(node))
    return false;
  uint32_t dependency = nodes.dag.edges.edges[edge].node();
  bool earlierOnChain = nodes.sends(dependency) && segments[node] == segments[dependency];
  return (earlierOnChain || acknowledged[edge]) && carriesOver(node, dependency);
}
