// SPDX-License-Identifier: Apache-2.0
// Determines which steps are over, in every execution, when a step begins. These are the earlier steps of its thread
// block, the steps that it waits for, and the steps that were over when its message was sent (only under Simple). The
// rule also applies to each of these steps in turn.
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

/// Clocks hold what each thread block knows about the other thread blocks of its rank. If only messages prove an order,
/// a search follows the messages backwards, because clocks over the thread blocks of all ranks would take space for
/// every pair of blocks. Most programs use two patterns, which the search finds in one or two steps:
///  - a reply: the sender of the message knew that its own rank had received a message that the thread block of
///    `earlier` sends at or after `earlier`;
/// - a message that returns to a rank through which it has passed before.
///
/// A free slot orders nothing here, for two reasons. A runtime need not order the receiver's earlier accesses before it
/// frees a slot. The runtime also chooses the number of slots, and a program must be free of races with any number.
/// Tiles order nothing either, because each tile has its own elements of every slot.
///
/// Under LL and LL128 a message orders only its own data, so only waits count (docs/gc3-ir.md).
class HappensBefore {
public:
  /// `budget`: the number of places that all searches together may visit.
  HappensBefore(const ir::Program &program, const Connections &connections, const RankOrders &orders, uint64_t budget);

  enum Answer : uint8_t { Unordered, Ordered, OutOfBudget };
  /// Returns whether step `earlier` is over before `later` begins, in every execution. Both must be on one rank, in
  /// different thread blocks. Takes logarithmic time in a rank's thread blocks, except for searches, which share the
  /// budget.
  Answer order(StepOfBlock earlier, StepOfBlock later);

private:
  void makeClocks(const RankOrders &orders);
  Clocks::Clock clockAfterWaits(StepOfBlock place, Clocks::Clock own, uint32_t since);
  void makeMessages();
  void makeVisits();
  Clocks::Clock knowledgeAfter(uint32_t rank, uint32_t step);
  ir::Opcode opcode(StepOfBlock place) const { return program.steps[number(place)].opcode; }
  uint32_t number(StepOfBlock place) const { return program.threadBlocks[place.block].firstStep + place.step; }
  /// Returns the number of steps of `block`, on the same rank, that waits prove to be over when `step` begins.
  uint32_t known(StepOfBlock step, uint32_t block) const {
    return clocks.known(clockAt[number(step)], block - firstBlockOf(step.block));
  }
  uint32_t firstBlockOf(uint32_t block) const { return program.rankBegin[program.threadBlocks[block].rank]; }
  bool sameRank(uint32_t a, uint32_t b) const { return program.threadBlocks[a].rank == program.threadBlocks[b].rank; }
  StepOfBlock placeOf(uint32_t rank, uint32_t number) const;
  StepOfBlock receiveUpTo(StepOfBlock step) const;
  StepOfBlock senderUpTo(StepOfBlock step) const;
  uint32_t impliedBy(StepOfBlock finished, uint32_t block) const;
  bool passedAfter(StepOfBlock earlier, StepOfBlock receive);
  Answer search(StepOfBlock earlier, StepOfBlock later);

  const ir::Program &program;
  const Connections &connections;
  Clocks clocks;                      // entries by thread block within its rank
  std::vector<Clocks::Clock> clockAt; // by step: the steps of its rank that waits prove to be over when it begins
  /// By step: the number of steps of the sending thread block that are over, as proved by messages received up to and
  /// including this step.
  std::vector<uint32_t> sentBefore;
  /// A visit of a message to a rank.
  struct Visit {
    uint32_t before = ir::None;                // the last earlier step of the rank that passed on the same message
    Clocks::Clock knowledge = Clocks::Nothing; // steps of the rank known to be over when the message reached `before`
  };
  std::vector<Visit> visits;           // by step
  std::vector<uint32_t> latestReceive; // by step: the latest receive of its thread block, up to and including it
  /// A result of search(): when step `since` of the thread block of `later` begins, `over` steps of the thread block of
  /// `earlier` are over.
  struct Learned {
    uint32_t since;
    uint32_t over;
  };
  llvm::DenseMap<uint64_t, Learned, PackedKeyInfo>
      learned;     // by thread block of `later` << 32 | thread block of `earlier`
  uint64_t budget; // places that searches may still visit
};

} // namespace gc3::verify
