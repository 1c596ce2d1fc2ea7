// SPDX-License-Identifier: Apache-2.0
// The simulation: discrete events over flat arrays. Actors are the thread blocks, and after them the connections over a
// network, whose messages leave after their steps. An actor has at most one event and one transfer at a time.
//
// A thread block runs its steps tile by tile. Each step waits until all its conditions hold: steps of other thread
// blocks, its message, a free slot. If the time of a condition is not known yet, the thread block blocks on it, and the
// actor that determines the time wakes it.
#pragma once

#include "EventQueue.h"
#include "RecentEnds.h"
#include "Sharing.h"
#include "Workload.h"

namespace gc3::simulate {

class Engine {
public:
  /// All arguments must outlive this object. If `events` is null, records no events.
  /// If `isExact`, computes rates anew after each change, and not only after a short time (Sharing::patience).
  Engine(const Workload &workload, Events *events, bool isExact);

  /// Runs the call once. Returns false if the program deadlocks.
  bool run();

  double time() const { return endTime; }
  const std::vector<double> &bytesMoved() const { return sharing.bytesMoved(); }
  /// Returns a text about the first step that never ran. Call after run() has returned false.
  std::string describeDeadlock() const;

private:
  static constexpr uint32_t None = UINT32_MAX;

  /// Phase of a thread block. Blocked: it waits for a condition without a known time. Starting: its event is the begin
  /// of its step, which needs a processor. Stepping, Moving: its event is the end of the step's constant cost, or of
  /// its transfer. Draining: its transfer has ended before the end of its message.
  enum class Phase : uint8_t { Blocked, Starting, Stepping, Moving, Draining, Done };
  struct BlockState {
    Phase phase = Phase::Blocked;
    uint32_t step = 0;          ///< within the block
    uint32_t condition = 0;     ///< conditions before this one hold at time `ready`
    uint32_t nextWaiter = None; ///< the next block that waits for a step of the same block
    bool isListed = false;      ///< the block is in such a list
    uint64_t tile = 0;
    uint64_t sent = 0, received = 0, returned = 0;
    double ready = 0;
    uint32_t firstWaiter = None; ///< of the blocks that wait for a step of this block
  };

  /// The messages of a connection. A slot's message is the last one that used it. Times are those at which the other
  /// end notices. A message has begun when a receiver may begin to read it.
  struct ConnectionState {
    uint64_t begun = 0, ended = 0, freed = 0;
    uint64_t put = 0;       ///< messages whose put has ended
    uint64_t requested = 0; ///< messages for which the block has requested a put
    bool isPutting = false;
  };
  struct SlotTimes {
    double begin = 0, end = 0, freed = 0;
    double putBytes = 0;
    uint64_t sentBy = 0, freedBy = 0; ///< numbers of events
  };

  const Workload::Step &stepOf(uint32_t block) const {
    return work.steps[work.blocks[block].firstStep + states[block].step];
  }
  SlotTimes &slotOf(uint32_t connection, uint64_t message) {
    return slotTimes[static_cast<size_t>(connection) * work.slots + message % work.slots];
  }
  uint64_t eventOf(uint32_t block) const {
    return states[block].tile * work.steps.size() + work.blocks[block].firstStep + states[block].step;
  }
  Event *record(uint64_t event) { return events ? &events->all[event] : nullptr; }

  void handle(uint32_t actor, double now);
  void advance(uint32_t block);
  bool awaitSteps(uint32_t block, const Workload::Step &step);
  bool awaitMessage(uint32_t block, const Workload::Step &step);
  bool awaitSlot(uint32_t block, const Workload::Step &step);
  void atLeast(uint32_t block, double time, Cause cause, uint64_t causedBy);
  void startStep(uint32_t block, double now);
  void begin(uint32_t block, double now);
  void endTransfer(uint32_t block, double now);
  void drain(uint32_t block, double now);
  void complete(uint32_t block, double now);
  void publishMessage(uint32_t block, double now);
  void returnSlots(uint32_t block, double now, uint64_t event);
  void completeStep(uint32_t block, double now, const Workload::Step &step);
  void next(uint32_t block, double now);
  void finish(uint32_t block, double now);
  void noteEnd(double time, uint64_t event);
  void requestPut(uint32_t connection, double now, double bytes);
  void beginPut(uint32_t connection, double now);
  void endPut(uint32_t connection, double now);
  void wake(uint32_t block);
  void startTransfer(uint32_t actor, uint32_t uses, double limit, double bytes, double now);

  const Workload &work;
  Events *events;
  const bool isExact;
  EventQueue queue;
  Sharing sharing;
  std::vector<BlockState> states;
  std::vector<ConnectionState> connections;
  std::vector<SlotTimes> slotTimes;              ///< by connection, then slot
  std::vector<uint64_t> completed;               ///< by block: steps completed in all tiles
  RecentEnds stepEnds;                           ///< of awaited steps
  std::vector<bool> hasTransfer;                 ///< by actor
  std::vector<std::pair<uint32_t, double>> ends; ///< for Sharing::settle
  double endTime = 0;
  uint64_t running = 0; ///< thread blocks that have not ended
};

} // namespace gc3::simulate
