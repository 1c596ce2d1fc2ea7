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

bool MessageOrder::implies(uint32_t node, uint32_t edge) const {
  if (!nodes.receives(node) || nodes.dag.info->protocol != Protocol::Simple)
    return false;
  uint32_t dependency = nodes.dag.edges.edges[edge].node();
  bool earlierOnChain = nodes.sends(dependency) && segments[node] == segments[dependency];
  return earlierOnChain || acknowledged[edge];
}
