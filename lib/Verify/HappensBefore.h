// SPDX-License-Identifier: Apache-2.0
// What is over when a step begins, in every execution: what comes before it in its thread block, what is waited for,
// what was over when the message that it receives was sent (under Simple only), and so on backwards.
#pragma once

#include "Connections.h"
#include "Order.h"
#include "gc3/Support/Clocks.h"
#include "gc3/Support/PackedKey.h"
#include "llvm/ADT/DenseMap.h"

namespace gc3::verify {

/// A step of a thread block: an index in Program::threadBlocks, and a number within it.
struct StepOfBlock {
  uint32_t block;
  uint32_t step;
};

/// Answers come from clocks of what each thread block knows of the others of its rank. What only messages tell is
/// looked for backwards along them, since clocks of all ranks' thread blocks would take space for every pair of them.
/// What messages are used for in practice is found in a step or two:
///  - an answer: the sender of the message knew that one which left after `earlier` had arrived;
///  - a message that comes back to a rank through which it has passed.
///
/// A free slot says nothing here: that a receiver has made room is not known to order what it did before (and how many
/// slots there are is decided when a job starts). Nor do tiles: each has elements of its own, of every slot.
///
/// Under LL and LL128 a message orders nothing but its own data, so only waits count (docs/gc3-ir.md).
class HappensBefore {
public:
  /// All searches together look at `budget` places at most.
  HappensBefore(const ir::Program &program, const Connections &connections, const RankOrders &orders, uint64_t budget);

  enum Answer : uint8_t { Unordered, Ordered, OutOfBudget };
  /// Whether step `earlier` is over before `later` begins, in every execution; both are of one rank, in different
  /// thread blocks. Logarithmic in a rank's thread blocks, but for searches, which share the budget.
  Answer ask(StepOfBlock earlier, StepOfBlock later);

private:
  void makeClocks(const RankOrders &orders);
  void makeMessages();
  void makeVisits();
  Clocks::Clock toldBefore(uint32_t rank, uint32_t step);
  ir::Opcode opcode(StepOfBlock place) const { return program.steps[number(place)].opcode; }
  uint32_t number(StepOfBlock place) const { return program.threadBlocks[place.block].firstStep + place.step; }
  /// The number of steps of `block`, of the same rank, that are over when the step begins.
  uint32_t known(StepOfBlock step, uint32_t block) const {
    return clocks.known(clockAt[number(step)], block - firstBlockOf(step.block));
  }
  uint32_t firstBlockOf(uint32_t block) const { return program.rankBegin[program.threadBlocks[block].rank]; }
  bool sameRank(uint32_t a, uint32_t b) const { return program.threadBlocks[a].rank == program.threadBlocks[b].rank; }
  StepOfBlock placeOf(uint32_t rank, uint32_t number) const;
  StepOfBlock receiveUpTo(StepOfBlock step) const;
  StepOfBlock senderUpTo(StepOfBlock step) const;
  uint32_t impliedBy(StepOfBlock finished, uint32_t block) const;
  bool cameBack(StepOfBlock earlier, StepOfBlock receive);
  Answer search(StepOfBlock earlier, StepOfBlock later);

  const ir::Program &program;
  const Connections &connections;
  Clocks clocks;                      // entries by thread block within its rank
  std::vector<Clocks::Clock> clockAt; // by step: what its waits and those before it tell
  /// By step: so many steps of the thread block that it receives from are over, by the messages up to and with it.
  std::vector<uint32_t> sentBefore;
  /// Of a message to a rank.
  struct Visit {
    uint32_t before = ir::None;           // the step of the rank that passed the same message on last
    Clocks::Clock told = Clocks::Nothing; // of the rank, when it came to that step, by the visits before
  };
  std::vector<Visit> visits;           // by step
  std::vector<uint32_t> latestReceive; // by step: the one of its thread block that received last, up to and with it
  /// What a search found out about another thread block: from step `since` on, so many of its steps are over.
  struct Learned {
    uint32_t since;
    uint32_t over;
  };
  llvm::DenseMap<uint64_t, Learned, PackedKeyInfo> learned; // by asking and asked-about thread block
  uint64_t budget;                                          // places that searches may still look at
};

} // namespace gc3::verify
