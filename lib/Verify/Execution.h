// SPDX-License-Identifier: Apache-2.0
// Determines whether a program ends. Thread blocks run as far as they can, in any order, until all have ended or none
// can continue. The contents of slots do not matter for this (Contents.h).
#pragma once

#include "Connections.h"
#include "Order.h"
#include "llvm/ADT/DenseMap.h"

namespace gc3::verify {

/// The reason why a thread block can't continue.
enum class Blocked : uint8_t { No, OnWait, OnMessage, OnSlot, Ended };

class Execution {
public:
  Execution(const ir::Program &program, const Connections &connections, uint32_t fifoSlots);

  /// Runs to the end. Returns false if some thread blocks can't continue.
  bool run();

  /// Returns the order in which the steps ran. Must be called only once.
  Order takeOrder() {
    order.shrink_to_fit(); // the order stays in memory while values take the most memory
    return std::move(order);
  }

  /// After run() has returned false: return the reason why a thread block waits, the step at which it waits, and the
  /// wait if the reason is OnWait.
  Blocked blockedOn(uint32_t block) const { return states[block].blocked; }
  uint32_t stepOf(uint32_t block) const { return states[block].step; }
  ir::Wait pendingWait(uint32_t block) const;

private:
  /// The state that is needed when a thread block or its peer runs. Two states fit into a cache line.
  struct State {
    uint32_t step = 0;
    uint32_t stepCount;
    uint32_t firstStep;         // index in the program's steps
    uint32_t nextWait = 0;      // number of waits of the current step that are met
    uint32_t sender = ir::None; // thread block that sends the messages which this one receives
    uint32_t receiver = ir::None;
    uint32_t inFlight = 0; // messages that it has sent and the receiver has not received
    Blocked blocked = Blocked::No;
    bool queued = false;
    bool awaited = false; // `waiters` has an entry for it
  };
  /// A thread block, and the step that it waits for; a heap has the earliest step at its front.
  struct Waiter {
    uint32_t step;
    uint32_t block;
    bool operator<(const Waiter &other) const { return step > other.step; }
  };

  const ir::Step &currentStep(const State &state) const { return program.steps[state.firstStep + state.step]; }
  void runBlock(uint32_t block);
  Blocked obstacle(uint32_t block);
  bool meetWaits(uint32_t block, const ir::Step &step);
  void passMessages(State &state);
  void wake(uint32_t block, Blocked reason);
  void wakeWaiters(uint32_t block);

  const ir::Program &program;
  uint32_t fifoSlots;
  std::vector<State> states;
  llvm::DenseMap<uint32_t, std::vector<Waiter>> waiters; // by thread block: a heap of the thread blocks that wait for
                                                         // its steps
  std::vector<uint32_t> ready;
  Order order;
};

} // namespace gc3::verify
