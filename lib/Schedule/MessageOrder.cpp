// SPDX-License-Identifier: Apache-2.0
// Counts messages: the k-th message of a connection proves to its receiver that the sender's thread block has reached
// its k-th send. Linear in nodes and edges.
#include "MessageOrder.h"

using namespace gc3::ir;
using namespace gc3::schedule;

MessageOrder::MessageOrder(const Nodes &nodes, const ThreadBlocks &blocks, const Order &order, bool wholeMessages)
    : nodes(nodes), blocks(blocks), segments(order.segmentOf),
      releases(wholeMessages && nodes.dag.info->protocol == Protocol::Simple) {
  if (!releases)
    return;
  acknowledged.resize(nodes.dependencies.size());
  received.resize(nodes.total());
  departure.resize(nodes.total());
  counts.resize(blocks.blocks.size());
}

void MessageOrder::count(uint32_t node) {
  if (!releases)
    return;
  BlockStep place = blocks.placeOf[node];
  Count &count = counts[place.block];
  count.received += nodes.receives(node);
  count.sent += nodes.sends(node);
  received[blocks.blocks[place.block].firstStep + place.step] = count.received;
  departure[node] = count.sent + !nodes.sends(node);
}

bool MessageOrder::implies(uint32_t node, uint32_t edge) const {
  if (!releases || !nodes.receives(node))
    return false;
  uint32_t dependency = nodes.dependencies[edge];
  bool earlierOnChain = nodes.sends(dependency) && segments[node] == segments[dependency];
  return earlierOnChain || acknowledged[edge];
}
