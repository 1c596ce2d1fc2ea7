// SPDX-License-Identifier: Apache-2.0
// Inserts waits for dependencies between thread blocks of one rank (GC3 section 4.4), except waits implied by
//  - the order inside a thread block, and its earlier waits (a thread block's clock holds, for each other block of its
//    rank, the number of steps known to be finished),
//  - another wait of the same step,
//  - the message that the step receives (MessageOrder).
// A thread block's clock changes only at steps that wait. Takes time linear in dependencies, times the logarithm of a
// rank's number of blocks. Also takes time linear in the number of entries in which joined clocks differ.
#include "MessageOrder.h"
#include "gc3/Support/Clocks.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::schedule;

namespace {

class WaitInserter {
public:
  WaitInserter(const Nodes &nodes, const ThreadBlocks &blocks, const Order &order, bool wholeMessages);

  Waits run();

private:
  void collect(uint32_t node);
  void require(BlockStep place, uint32_t dependency);
  Clocks::Clock joinedClock(uint32_t block);
  void addWaits(BlockStep place);

  const Nodes &nodes;
  const ThreadBlocks &blocks;
  const std::vector<uint32_t> &order;
  Clocks clocks;                      // entries by thread block within its rank
  std::vector<Clocks::Clock> clockOf; // by node: the clock of its thread block after the node has run
  struct Latest {
    Clocks::Clock clock = Clocks::Nothing;
    uint32_t since = 0; // the step at which the clock changed last
  };
  std::vector<Latest> latest; // by thread block
  struct Candidate {
    uint32_t block; // index within the rank
    uint32_t node;
  };
  std::vector<Candidate> candidates;
  std::vector<uint32_t> candidateOf; // by thread block within the rank: index of the candidate in this thread block, or
                                     // None
  MessageOrder messages;
  Waits result;
};

} // namespace

/// Returns the largest number of thread blocks on a rank.
static uint32_t mostBlocks(const ThreadBlocks &blocks) {
  uint32_t most = 0;
  for (size_t rank = 0; rank + 1 < blocks.rankBegin.size(); ++rank)
    most = std::max(most, blocks.rankBegin[rank + 1] - blocks.rankBegin[rank]);
  return most;
}

WaitInserter::WaitInserter(const Nodes &nodes, const ThreadBlocks &blocks, const Order &order, bool wholeMessages)
    : nodes(nodes), blocks(blocks), order(order.nodes), clocks(mostBlocks(blocks)), clockOf(nodes.total()),
      latest(blocks.blocks.size()), candidateOf(mostBlocks(blocks), None),
      messages(nodes, blocks, order, wholeMessages) {}

/// Makes the dependency a candidate, unless the clock of the thread block at `place` shows that the dependency has run.
/// Keeps only the latest candidate in each thread block.
void WaitInserter::require(BlockStep place, uint32_t dependency) {
  BlockStep other = blocks.placeOf[dependency];
  if (other.block == place.block)
    return;
  uint32_t local = other.block - blocks.rankBegin[blocks.blocks[place.block].rank];
  if (clocks.known(latest[place.block].clock, local) > other.step)
    return;
  uint32_t &present = candidateOf[local];
  if (present == None) {
    present = static_cast<uint32_t>(candidates.size());
    candidates.push_back({local, dependency});
  } else if (blocks.placeOf[candidates[present].node].step < other.step) {
    candidates[present].node = dependency;
  }
}

void WaitInserter::collect(uint32_t node) {
  BlockStep place = blocks.placeOf[node];
  if (nodes.isSecondHalf(node)) {
    require(place, nodes.first(node));
    return;
  }
  for (uint32_t i = nodes.begin[node]; i != nodes.begin[node + 1]; ++i) {
    uint32_t dependency = nodes.dependencies[i];
    if (!messages.implies(node, i))
      require(place, dependency);
    if (nodes.isSplit(dependency) && nodes.overwrites(node, dependency))
      require(place, nodes.secondHalf(dependency));
  }
}

/// Returns the clock of a thread block, joined with the clocks of all candidates.
Clocks::Clock WaitInserter::joinedClock(uint32_t block) {
  Clocks::Draft draft{latest[block].clock, block - blocks.rankBegin[blocks.blocks[block].rank], latest[block].since};
  for (const Candidate &candidate : candidates)
    clocks.join(draft, candidate.block, blocks.placeOf[candidate.node].step, clockOf[candidate.node]);
  return draft.clock;
}

/// Adds waits for the candidates, except for those that the clock of another candidate implies.
void WaitInserter::addWaits(BlockStep place) {
  clocks.start();
  Clocks::Clock clock = joinedClock(place.block);
  for (const Candidate &candidate : candidates)
    candidateOf[candidate.block] = None;
  std::erase_if(candidates, [&](const Candidate &candidate) {
    return clocks.known(clock, candidate.block) > blocks.placeOf[candidate.node].step;
  });
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate &a, const Candidate &b) { return a.block < b.block; });
  for (const Candidate &candidate : candidates) {
    uint32_t step = blocks.placeOf[candidate.node].step;
    result.waits.push_back({candidate.block, step});
    clock = clocks.with(clock, candidate.block, step + 1);
  }
  candidates.clear();
  latest[place.block] = {clock, place.step};
}

Waits WaitInserter::run() {
  result.begin.reserve(order.size() + 1);
  for (uint32_t node : order) {
    result.begin.push_back(static_cast<uint32_t>(result.waits.size()));
    messages.count(node);
    collect(node);
    BlockStep place = blocks.placeOf[node];
    if (!candidates.empty())
      addWaits(place);
    clockOf[node] = latest[place.block].clock;
    if (nodes.sends(node)) {
      uint32_t first = blocks.rankBegin[blocks.blocks[place.block].rank];
      messages.send(node, [&](uint32_t peer) { return clocks.known(clockOf[node], peer - first); });
    }
  }
  result.begin.push_back(static_cast<uint32_t>(result.waits.size()));
  return std::move(result);
}

Waits gc3::schedule::insertWaits(const Nodes &nodes, const ThreadBlocks &blocks, const Order &order,
                                 bool wholeMessages) {
  return WaitInserter(nodes, blocks, order, wholeMessages).run();
}
