// SPDX-License-Identifier: Apache-2.0
// Uses clocks within a rank, and searches along messages between ranks.
#include "HappensBefore.h"
#include "llvm/ADT/DenseMap.h"
#include <algorithm>
#include <deque>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::verify;

/// Returns the largest number of thread blocks on a rank.
static uint32_t mostBlocks(const Program &program) {
  uint32_t most = 0;
  for (uint32_t rank = 0; rank != program.ranks(); ++rank)
    most = std::max(most, program.rankBegin[rank + 1] - program.rankBegin[rank]);
  return most;
}

HappensBefore::HappensBefore(const Program &program, const Connections &connections, const RankOrders &orders,
                             uint64_t budget)
    : program(program), connections(connections), clocks(mostBlocks(program)), clockAt(program.steps.size()),
      budget(budget) {
  makeClocks(orders);
}

void HappensBefore::makeClocks(const RankOrders &orders) {
  struct Latest {
    Clocks::Clock clock = Clocks::Nothing;
    uint32_t since = 0; // the step at which the clock changed last
  };
  std::vector<Latest> latest(program.threadBlocks.size());
  for (uint32_t rank = 0; rank != program.ranks(); ++rank) {
    orders.forEachStep(rank, [&](uint32_t block, uint32_t stepNumber) {
      StepOfBlock place{block, stepNumber};
      const Step &step = program.steps[number(place)];
      Latest &own = latest[block];
      if (step.waitCount != 0)
        own = {clockAfterWaits(place, own.clock, own.since), stepNumber};
      clockAt[number(place)] = own.clock;
    });
  }
}

/// Returns the clock of a thread block at `place`, after all waits of this step. Before, the clock is `own`, which has
/// not changed since step `since`.
Clocks::Clock HappensBefore::clockAfterWaits(StepOfBlock place, Clocks::Clock own, uint32_t since) {
  const Step &step = program.steps[number(place)];
  uint32_t firstBlock = firstBlockOf(place.block);
  Clocks::Draft draft{own, place.block - firstBlock, since};
  clocks.start();
  for (uint32_t i = 0; i != step.waitCount; ++i) {
    const Wait &wait = program.waits[step.waitBegin + i];
    clocks.join(draft, wait.threadBlock, wait.step, clockAt[number({firstBlock + wait.threadBlock, wait.step})]);
    draft.clock = clocks.with(draft.clock, wait.threadBlock, wait.step + 1);
  }
  return draft.clock;
}

/// Matches the k-th send of each connection with its k-th receive.
void HappensBefore::makeMessages() {
  sentBefore.resize(program.steps.size());
  latestReceive.resize(program.steps.size(), None);
  for (const Connection &connection : connections.all) {
    const ThreadBlock &sender = program.threadBlocks[connection.sender];
    const ThreadBlock &receiver = program.threadBlocks[connection.receiver];
    uint32_t send = 0;
    uint32_t latest = None;
    for (uint32_t step = 0; step != receiver.stepCount; ++step) {
      if (receives(program.steps[receiver.firstStep + step].opcode)) {
        while (!sends(program.steps[sender.firstStep + send].opcode))
          ++send;
        ++send;
        latest = step;
      }
      sentBefore[receiver.firstStep + step] = send;
      latestReceive[receiver.firstStep + step] = latest;
    }
  }
}

/// Follows each message from its last step back to its first step, then forward along its route to record its visits.
void HappensBefore::makeVisits() {
  struct Latest {
    uint32_t message = None; // number of the message's last step
    uint32_t step;
  };
  visits.resize(program.steps.size());
  std::vector<Latest> latest(program.ranks()); // by rank: the latest message that visited it, and the step
  std::vector<StepOfBlock> route;
  for (uint32_t block = 0; block != program.threadBlocks.size(); ++block) {
    for (uint32_t step = 0; step != program.threadBlocks[block].stepCount; ++step) {
      if (!receives(opcode({block, step})) || sends(opcode({block, step})))
        continue;
      for (route.assign(1, {block, step}); receives(opcode(route.back()));)
        route.push_back(senderUpTo(route.back()));
      for (uint32_t message = number({block, step}); !route.empty(); route.pop_back()) {
        uint32_t rank = program.threadBlocks[route.back().block].rank;
        if (latest[rank].message == message)
          visits[number(route.back())] = {latest[rank].step, knowledgeAfter(rank, latest[rank].step)};
        latest[rank] = {message, number(route.back())};
      }
    }
  }
}

/// Returns a clock of the steps of `rank` that are known to be over when a message reaches `step`. The message's
/// earlier visits to the rank prove this.
Clocks::Clock HappensBefore::knowledgeAfter(uint32_t rank, uint32_t step) {
  const Visit &visit = visits[step];
  if (visit.before == None)
    return Clocks::Nothing;
  StepOfBlock before = placeOf(rank, visit.before);
  clocks.start(); // starts from the later clock, which contains most of the other
  Clocks::Clock own = clocks.with(clockAt[visit.before], before.block - firstBlockOf(before.block), before.step + 1);
  return clocks.join(own, visit.knowledge);
}

StepOfBlock HappensBefore::placeOf(uint32_t rank, uint32_t number) const {
  auto begin = program.threadBlocks.begin();
  auto after = std::upper_bound(begin + program.rankBegin[rank], begin + program.rankBegin[rank + 1], number,
                                [](uint32_t n, const ThreadBlock &block) { return n < block.firstStep; });
  auto block = static_cast<uint32_t>(after - begin) - 1;
  return {block, number - program.threadBlocks[block].firstStep};
}

/// Returns the latest receive in the thread block up to and including this step; its step is None if there is none.
StepOfBlock HappensBefore::receiveUpTo(StepOfBlock place) const {
  return {place.block, latestReceive[number(place)]};
}

/// Returns the send of the message that the thread block received last, up to and including this step. There must be
/// one.
StepOfBlock HappensBefore::senderUpTo(StepOfBlock place) const {
  return {connections.all[connections.recvOf[place.block]].sender, sentBefore[number(place)] - 1};
}

/// Returns the number of steps of `block` that are known to be over when step `finished`, of any rank, is over. These
/// are the steps up to `finished`, the steps that its thread block waited for, or the steps before a send of `block`
/// whose message has arrived.
uint32_t HappensBefore::impliedBy(StepOfBlock finished, uint32_t block) const {
  if (finished.block == block)
    return finished.step + 1;
  if (sameRank(finished.block, block))
    return known(finished, block);
  uint32_t connection = connections.sendOf[block];
  if (connection == None)
    return 0;
  uint32_t peer = connections.all[connection].receiver;
  if (!sameRank(finished.block, peer))
    return 0;
  uint32_t steps = finished.block == peer ? finished.step + 1 : known(finished, peer);
  return steps == 0 ? 0 : sentBefore[number({peer, steps - 1})];
}

/// Returns true if an earlier step of this rank passed on the message of `receive`, and `earlier` was over when that
/// step ended.
bool HappensBefore::passedAfter(StepOfBlock earlier, StepOfBlock receive) {
  if (visits.empty())
    makeVisits();
  const Visit &visit = visits[number(receive)];
  if (visit.before == None)
    return false;
  StepOfBlock before = placeOf(program.threadBlocks[receive.block].rank, visit.before);
  return impliedBy(before, earlier.block) > earlier.step ||
         clocks.known(visit.knowledge, earlier.block - firstBlockOf(earlier.block)) > earlier.step;
}

/// Searches all steps that are over when `later` begins. In each thread block, these are the steps up to the last one
/// known to be over. Visits steps that are few messages away first. The result is usually near, and a full search may
/// cover the whole program.
HappensBefore::Answer HappensBefore::search(StepOfBlock earlier, StepOfBlock later) {
  llvm::DenseMap<uint32_t, uint32_t> searched; // by thread block: number of steps that the search has reached
  std::deque<StepOfBlock> open;
  auto add = [&](StepOfBlock finished) {
    uint32_t &steps = searched[finished.block];
    if (steps > finished.step)
      return;
    steps = finished.step + 1;
    open.push_back(finished);
  };
  auto expand = [&](StepOfBlock begun) {
    uint32_t firstBlock = firstBlockOf(begun.block);
    clocks.forEach(clockAt[number(begun)], [&](uint32_t block, uint32_t steps) {
      add({firstBlock + block, steps - 1});
    });
    if (sentBefore[number(begun)] != 0)
      add(senderUpTo(begun));
  };
  expand(later);
  for (; !open.empty(); --budget) {
    if (budget == 0)
      return OutOfBudget;
    StepOfBlock place = open.front();
    open.pop_front();
    uint32_t over = impliedBy(place, earlier.block);
    if (over > earlier.step) {
      learned[uint64_t(later.block) << 32 | earlier.block] = {later.step, over};
      return Ordered;
    }
    expand(place);
  }
  return Unordered;
}

HappensBefore::Answer HappensBefore::order(StepOfBlock earlier, StepOfBlock later) {
  if (known(later, earlier.block) > earlier.step)
    return Ordered;
  if (program.info->protocol != Protocol::Simple)
    return Unordered;
  if (sentBefore.empty())
    makeMessages();
  auto before = learned.find(uint64_t(later.block) << 32 | earlier.block);
  if (before != learned.end() && before->second.since <= later.step && before->second.over > earlier.step)
    return Ordered;
  StepOfBlock receive = receiveUpTo(later);
  if (receive.step != None &&
      (impliedBy(senderUpTo(later), earlier.block) > earlier.step || passedAfter(earlier, receive)))
    return Ordered;
  return search(earlier, later);
}
