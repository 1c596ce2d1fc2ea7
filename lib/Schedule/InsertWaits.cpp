// SPDX-License-Identifier: Apache-2.0
// Waits for dependencies between thread blocks of one rank (GC3 section 4.4), less those that are implied by
//  - the order inside a thread block, and what its earlier waits imply (clocks: per thread block, how many steps of
//    each other one of its rank are known to be finished),
//  - another wait of the same step,
//  - the message that the step receives (MessageOrder).
// Clocks change only at steps that wait, so one vector per such step is kept. O((edges + waits) × blocks of a rank).
#include "MessageOrder.h"
#include <algorithm>

using namespace gc3::ir;
using namespace gc3::schedule;

namespace {

class WaitInserter {
public:
  WaitInserter(const Nodes &nodes, const ThreadBlocks &blocks, const std::vector<uint32_t> &order,
               const std::vector<uint32_t> &segments, bool wholeMessages)
      : nodes(nodes), blocks(blocks), order(order), wholeMessages(wholeMessages), clockOf(2 * nodes.n, None),
        latestClock(blocks.blocks.size(), None), messages(nodes, blocks, order, segments) {}

  Waits run();

private:
  void collect(uint32_t node);
  void require(uint32_t node, uint32_t dependency);
  void dropImplied();
  void addWaits(uint32_t node);
  uint32_t known(uint32_t clock, uint32_t block) const { return clock == None ? 0 : clocks[clock + block]; }

  const Nodes &nodes;
  const ThreadBlocks &blocks;
  const std::vector<uint32_t> &order;
  bool wholeMessages;
  std::vector<uint32_t> clocks;      // vectors one behind the other: finished steps by thread block of the rank
  std::vector<uint32_t> clockOf;     // by node: what its thread block knows after it
  std::vector<uint32_t> latestClock; // by thread block
  struct Candidate {
    uint32_t block; // within the rank
    uint32_t node;
  };
  std::vector<Candidate> candidates;
  MessageOrder messages;
  Waits result;
};

} // namespace

void WaitInserter::require(uint32_t node, uint32_t dependency) {
  uint32_t block = blocks.blockOf[node];
  uint32_t other = blocks.blockOf[dependency];
  uint32_t local = other - blocks.rankBegin[nodes.at(node).rank];
  if (other == block || known(latestClock[block], local) > blocks.stepOf[dependency])
    return;
  for (Candidate &present : candidates)
    if (present.block == local) {
      if (blocks.stepOf[present.node] < blocks.stepOf[dependency])
        present.node = dependency;
      return;
    }
  candidates.push_back({local, dependency});
}

void WaitInserter::collect(uint32_t node) {
  candidates.clear();
  if (nodes.isSecondHalf(node)) {
    require(node, nodes.first(node));
    return;
  }
  const Dependencies &edges = nodes.dag.edges;
  for (uint32_t i = edges.begin[node]; i != edges.begin[node + 1]; ++i) {
    uint32_t dependency = edges.edges[i].node();
    if (!wholeMessages || !messages.implies(node, i))
      require(node, dependency);
    if (nodes.isSplit(dependency) && nodes.overwrites(node, dependency))
      require(node, nodes.secondHalf(dependency));
  }
}

/// Drops a candidate that the block of another candidate is known to have waited for.
void WaitInserter::dropImplied() {
  std::vector<Candidate> all = candidates;
  std::erase_if(candidates, [&](const Candidate &candidate) {
    return std::any_of(all.begin(), all.end(), [&](const Candidate &other) {
      return other.block != candidate.block &&
             known(clockOf[other.node], candidate.block) > blocks.stepOf[candidate.node];
    });
  });
}

void WaitInserter::addWaits(uint32_t node) {
  uint32_t block = blocks.blockOf[node];
  uint32_t rank = nodes.at(node).rank;
  uint32_t width = blocks.rankBegin[rank + 1] - blocks.rankBegin[rank];
  auto clock = static_cast<uint32_t>(clocks.size());
  clocks.resize(clocks.size() + width);
  for (uint32_t other = 0; other != width; ++other)
    clocks[clock + other] = known(latestClock[block], other);
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate &a, const Candidate &b) { return a.block < b.block; });
  for (const Candidate &candidate : candidates) {
    uint32_t step = blocks.stepOf[candidate.node];
    result.waits.push_back({candidate.block, step});
    for (uint32_t other = 0; other != width; ++other)
      clocks[clock + other] = std::max(clocks[clock + other], known(clockOf[candidate.node], other));
    clocks[clock + candidate.block] = std::max(clocks[clock + candidate.block], step + 1);
  }
  latestClock[block] = clock;
}

Waits WaitInserter::run() {
  result.begin.reserve(order.size() + 1);
  for (uint32_t node : order) {
    result.begin.push_back(static_cast<uint32_t>(result.waits.size()));
    collect(node);
    if (candidates.size() > 1)
      dropImplied();
    if (!candidates.empty())
      addWaits(node);
    clockOf[node] = latestClock[blocks.blockOf[node]];
    if (nodes.sends(node)) {
      uint32_t first = blocks.rankBegin[nodes.at(node).rank];
      messages.send(node, [&](uint32_t block) { return known(clockOf[node], block - first); });
    }
  }
  result.begin.push_back(static_cast<uint32_t>(result.waits.size()));
  return std::move(result);
}

Waits gc3::schedule::insertWaits(const Nodes &nodes, const ThreadBlocks &blocks, const std::vector<uint32_t> &order,
                                 const std::vector<uint32_t> &segments, bool wholeMessages) {
  return WaitInserter(nodes, blocks, order, segments, wholeMessages).run();
}
