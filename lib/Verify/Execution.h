// SPDX-License-Identifier: Apache-2.0
// Symbolic execution: thread blocks run as far as they can, in any order, until all have ended or none can go on.
#pragma once

#include "Connections.h"
#include "Order.h"
#include "SlotLengths.h"
#include "gc3/IR/SlotTracker.h"

namespace gc3::verify {

/// Why a thread block can't go on.
enum class Blocked : uint8_t { No, OnWait, OnMessage, OnSlot, Ended };

template <typename Domain>
class Execution {
public:
  using Value = typename Domain::Value;
  /// What a slot or a message holds.
  struct Held {
    [[no_unique_address]] Value value = Domain::unset();
    uint32_t furthest = 0; ///< the largest SlotLengths::restingPlace that it, or a part of it, has been in
  };

  Execution(const ir::Program &program, const Connections &connections, uint32_t fifoSlots, Domain &domain);
  /// How many values its messages in flight can hold at once, for which there has to be memory.
  static uint64_t valuesInFlight(const ir::Program &program, const Connections &connections, uint32_t fifoSlots);

  /// Runs to the end. False: some thread blocks can't go on.
  bool run();

  /// The order in which the steps ran.
  const Order &order() const { return ranSteps; }

  /// After a run that got stuck: a thread block that waits, and for which thread block it does.
  Blocked blockedOn(uint32_t block) const { return states[block].blocked; }
  uint32_t stepOf(uint32_t block) const { return states[block].step; }
  ir::Wait pendingWait(uint32_t block) const;

  /// Values at the end, by SlotMap; unset where nothing was written.
  const std::vector<Held> &values() const { return memory; }
  const ir::SlotMap &slots() const { return map; }

  /// Reads of slots that nothing had written.
  struct UnsetRead {
    uint32_t block;
    uint32_t step;
    ir::BufferId buffer;
    uint32_t index;
  };
  const std::vector<UnsetRead> &unsetReads() const { return unset; }

private:
  struct State {
    uint32_t step = 0;
    uint32_t nextWait = 0; // waits of the current step that are met
    Blocked blocked = Blocked::No;
    bool queued = false;
  };
  /// A thread block, and the step that it waits for; the earliest step is at the front of a heap.
  struct Waiter {
    uint32_t step;
    uint32_t block;
    bool operator<(const Waiter &other) const { return step > other.step; }
  };
  /// The messages of one connection: a ring of places in `inFlight`, in which none is cut in two.
  struct Fifo {
    uint64_t first = 0; // of its places
    uint64_t capacity = 0;
    uint64_t sendAt = 0; // from `first`: where the latest message ends
    uint64_t receiveAt = 0;
    uint32_t messages = 0; // in flight
  };
  /// Moves past the next message, of `count` values, and returns where it begins. Send and receive go the same way.
  Held *advance(const Fifo &fifo, uint64_t &position, uint32_t count) {
    uint64_t begin = position + count > fifo.capacity ? 0 : position;
    position = begin + count;
    return inFlight.data() + fifo.first + begin;
  }

  void start();
  void layOutFifos();
  static uint64_t ringSize(const ir::Program &program, const ir::ThreadBlock &sender, uint32_t fifoSlots);
  void runBlock(uint32_t block);
  Blocked obstacle(uint32_t block);
  void execute(uint32_t block);
  Held combine(Held a, Held b) { return {domain.combine(a.value, b.value), std::max(a.furthest, b.furthest)}; }
  void moveValues(uint32_t block, const ir::Step &step);
  void wake(uint32_t block, Blocked reason);
  void finishStep(uint32_t block);
  void touch(uint32_t block, ir::BufferId buffer, uint32_t index, uint32_t count);

  const ir::Program &program;
  const Connections &connections;
  uint32_t fifoSlots;
  Domain &domain;
  ir::SlotMap map;
  SlotLengths lengths;
  std::vector<Held> memory;
  std::vector<State> states;
  std::vector<Fifo> fifos;
  std::vector<Held> inFlight;
  std::vector<std::vector<Waiter>> waiters; // by thread block: a heap of those that wait for one of its steps
  std::vector<uint32_t> ready;
  std::vector<UnsetRead> unset;
  Order ranSteps;
};

} // namespace gc3::verify
