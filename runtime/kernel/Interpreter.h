// SPDX-License-Identifier: Apache-2.0
// The interpreter of GC3-IR (GC3 section 4.4). Each grid block runs one thread block: tiles in the outer loop, steps in
// the inner loop.
//
// A step has three phases, separated by block barriers: one lane of each warp polls dependencies, all threads move the
// data, thread 0 publishes completion. Publication is cumulative: a thread that acquires a value published by thread 0
// also sees all writes of the block before the barrier.
//
// Counters live in device memory and persist across calls, so a launch can be replayed. Each counter has one writer.
//
// If the launch records times, thread 0 records the begin and end of each step in a ring, which keeps the latest steps.
#pragma once

#include "kernel/LL128.h"
#include "kernel/LowLatency.h"
#include "kernel/Simple.h"
#include "kernel/Wait.h"

#include <type_traits>

namespace gc3::kernel {

/// Number of steps that a block holds in shared memory.
inline constexpr uint32_t cachedSteps = 128;

/// Position in a connection. It stores the next slot, so that a step needs no division. The slot count is not a
/// constant, so a division would dominate the time of a short step.
struct ConnectionCursor {
  uint64_t messages = 0; ///< number of messages since the connection was created
  uint64_t slotUses = 0; ///< number of messages that have used slot `next`
  uint32_t next = 0;     ///< slot of the next message

  GC3_DEVICE void begin(uint64_t before, uint32_t slots) {
    messages = before;
    slotUses = before / slots;
    next = static_cast<uint32_t>(before - slotUses * slots);
  }
  GC3_DEVICE void advance(uint32_t slots) {
    ++messages;
    if (++next == slots)
      next = 0, ++slotUses;
  }
  GC3_DEVICE uint32_t previous(uint32_t slots) const { return next == 0 ? slots - 1 : next - 1; }
};

/// The shared memory of a block.
struct BlockShared {
  RankImage rank; ///< copy of the rank's image, because loads of the original would miss the caches after each acquire
  StepImage stepCache[cachedSteps];
  uint32_t pollStopped;
  uint32_t moveStopped[2]; ///< indexed by `parity`: slow threads can still read one word while the other is written
};

/// `Machine` abstracts a GPU (docs/gpu-internals.md): threads, barriers, and the loads and stores that the memory model
/// distinguishes. `Arithmetic` has `elementBytes` and `combine(op, word, word)`.
template <typename Machine, typename Arithmetic, Protocol P>
class Interpreter {
public:
  GC3_DEVICE Interpreter(Machine &machine, BlockShared &shared, const KernelArgs &call)
      : machine(machine), shared(shared), call(call), assignment(call.assignments[machine.block()]), rank(shared.rank),
        stepCount(call.ranks[assignment.rank].blocks[assignment.block].stepCount) {}

  GC3_DEVICE void run() {
    loadCounters();
    publishRunning(tilesBefore + 1);
    if (runTiles())
      storeCounters();
    publishRunning(0);
  }

private:
  using Simply = Simple<Machine, Arithmetic>;
  using Messages = std::conditional_t<
      P == Protocol::Simple, Simply,
      std::conditional_t<P == Protocol::LL, LowLatency<Machine, Arithmetic>, LL128<Machine, Arithmetic>>>;

  GC3_DEVICE bool isLeader() const { return machine.thread() == 0; }

  /// Writes the number of the running call (0: none) for the watchdog. The kernel does this because no host code of gc3
  /// runs when a graph is replayed. The fence makes a stop report visible first.
  GC3_DEVICE void publishRunning(uint64_t number) {
    if (call.running == nullptr || !isLeader())
      return;
    machine.fence(Scope::System);
    machine.publish(call.running + machine.block(), number, Scope::System);
  }

  /// Runs all steps for all tiles. Returns false after a stop. The counters in memory are then stale, and the
  /// connections must not be used again.
  GC3_DEVICE bool runTiles() {
    for (; tile != call.tiles; ++tile)
      for (uint32_t first = 0; first < stepCount; first += cachedSteps) {
        if (tile == 0 || stepCount > cachedSteps)
          loadSteps(first);
        const uint32_t end = first + cachedSteps < stepCount ? first + cachedSteps : stepCount;
        for (stepNumber = first; stepNumber != end; ++stepNumber)
          if (!runStep(shared.stepCache[stepNumber - first]))
            return false;
      }
    return true;
  }

  /// Loads the counters. The next barrier makes the shared memory that is written here visible to the block.
  GC3_DEVICE void loadCounters() {
    const RankImage &original = call.ranks[assignment.rank];
    const ThreadBlockImage block = original.blocks[assignment.block];
    tilesBefore = original.tiles[assignment.block];
    if (block.outgoing != none) {
      out = original.sends[block.outgoing];
      sent.begin(*out.sent, call.slots);
    }
    if (block.incoming != none) {
      in = original.receives[block.incoming];
      received.begin(*in.received, call.slots);
      if constexpr (Machine::hasNetwork)
        credited = in.network == none ? 0 : *original.networkReceives[in.network].credited;
    }
    if (isLeader()) {
      shared.rank = original;
      shared.pollStopped = shared.moveStopped[0] = shared.moveStopped[1] = 0;
    }
  }

  GC3_DEVICE void storeCounters() {
    machine.barrier(); // all threads have read the old counters
    const ThreadBlockImage block = rank.blocks[assignment.block];
    if (!isLeader() || !drainNetwork(block))
      return;
    rank.tiles[assignment.block] = tilesBefore + call.tiles;
    if (block.outgoing != none)
      *rank.sends[block.outgoing].sent = sent.messages;
    if (block.incoming != none)
      *rank.receives[block.incoming].received = received.messages;
  }

  /// Waits until all puts of this call have landed, because the host can free their source memory after the call. A put
  /// has landed when the receiver has returned its slot. Returns the slots of this rank's receives first, because the
  /// peer can be waiting for them at the same place. Returns false after a stop.
  GC3_DEVICE bool drainNetwork(const ThreadBlockImage &block) {
    if constexpr (Machine::hasNetwork) {
      if (block.incoming != none && in.network != none) {
        returnCredits(rank.networkReceives[in.network]);
        *rank.networkReceives[in.network].credited = credited;
      }
      if (block.outgoing != none && out.network != none && sent.messages != *rank.sends[block.outgoing].sent) {
        stepNumber = stepCount - 1, --tile; // the report names the last step of the last tile
        if (!await(machine,
                   {nullptr, sent.messages, Waiting::Slot, Scope::System, rank.networkSends[out.network].freed},
                   call.stop)) {
          reportStop(Waiting::Slot, shared.pollStopped);
          return false;
        }
      }
    }
    return true;
  }

  GC3_DEVICE void loadSteps(uint32_t first) {
    machine.barrier(); // no thread still uses the cached steps
    const uint32_t firstStep = rank.blocks[assignment.block].firstStep + first;
    const uint32_t steps = stepCount - first < cachedSteps ? stepCount - first : cachedSteps;
    for (uint32_t i = machine.thread(); i < steps; i += machine.threads())
      shared.stepCache[i] = rank.steps[firstStep + i];
    machine.barrier();
  }

  GC3_DEVICE bool runStep(const StepImage &step) {
    const OpcodeFlags flags(step.opcode);
    if (!awaitDependencies(step, flags))
      return false;
    recordBegin();
    Motion motion{flags, call.op, {}, call.stop};
    if (flags.receives)
      motion.message.in = in.slots + received.next * call.slotBytes, motion.message.inNumber = received.messages + 1;
    if (flags.sends)
      motion.message.out = out.slots + sent.next * call.slotBytes, motion.message.outNumber = sent.messages + 1;
    if (!moveData(step, motion))
      reportStop(Waiting::Data, shared.moveStopped[parity]);
    machine.barrier();
    if (shared.moveStopped[parity] != 0)
      return false;
    recordEnd();
    parity ^= 1;
    if (flags.sends)
      sent.advance(call.slots);
    if (flags.receives)
      received.advance(call.slots);
    publish(step, flags);
    return true;
  }

  /// Returns the record of the current step, or null if this thread does not record.
  GC3_DEVICE StepTimes *traceRecord() const {
    if (call.records == nullptr || !isLeader())
      return nullptr;
    const uint64_t number = tile * stepCount + stepNumber;
    return call.records + uint64_t{machine.block()} * call.ringRecords + (number & (call.ringRecords - 1));
  }
  GC3_DEVICE void recordBegin() {
    if (StepTimes *record = traceRecord())
      *record = {stepNumber, tile, machine.now(), 0};
  }
  GC3_DEVICE void recordEnd() {
    if (StepTimes *record = traceRecord())
      record->end = machine.now();
  }

  GC3_DEVICE bool moveData(const StepImage &step, const Motion &motion) {
    bool going = true;
    uint64_t nominal = 0;
    forEachRun<Arithmetic::elementBytes>(call, call.memory[assignment.rank], step, tile, [&](const TileRun &run) {
      nominal = run.nominalBytes;
      if (motion.flags.isLocal())
        Simply::move(machine, motion, run);
      else if (going)
        going = Messages::move(machine, motion, run);
    });
    if constexpr (P == Protocol::LL)
      if (going)
        Messages::finish(machine, motion, call, step.count, nominal);
    return going;
  }

  /// Returns dependency `number` of a step: first its waits, then the message's arrival (Simple only), then a free
  /// slot.
  GC3_DEVICE WaitCondition dependency(const StepImage &step, uint32_t number) const {
    if (number < step.waitCount) {
      const WaitImage wait = rank.waits[step.firstWait + number];
      return {rank.progress + wait.block,
              (tilesBefore + tile) * wait.stepCount + wait.step + 1,
              Waiting::Step,
              Scope::Gpu,
              {}};
    }
    if (number == step.waitCount && Messages::countsArrivals && OpcodeFlags(step.opcode).receives)
      return messageArrival();
    return slotAvailable();
  }

  GC3_DEVICE WaitCondition messageArrival() const {
    if constexpr (Machine::hasNetwork)
      if (in.network != none) {
        const Signal first = rank.networkReceives[in.network].arrived;
        return {nullptr, received.slotUses + 1, Waiting::Message, Scope::System, signalOfSlot(first, received.next)};
      }
    return {in.arrived, received.messages + 1, Waiting::Message, call.peers, {}};
  }

  GC3_DEVICE WaitCondition slotAvailable() const {
    const uint64_t least = sent.messages + 1 > call.slots ? sent.messages + 1 - call.slots : 0;
    if constexpr (Machine::hasNetwork)
      if (out.network != none)
        return {nullptr, least, Waiting::Slot, Scope::System, rank.networkSends[out.network].freed};
    return {out.freed, least, Waiting::Slot, call.peers, {}};
  }

  static GC3_DEVICE Signal signalOfSlot(const Signal &first, uint32_t slot) { return {first.context, first.id + slot}; }

  /// Waits for all dependencies of a step. Lane 0 of each warp polls. Dependencies are assigned to warps round-robin.
  /// Returns false after a stop.
  GC3_DEVICE bool awaitDependencies(const StepImage &step, const OpcodeFlags &flags) {
    const uint32_t dependencies = step.waitCount + (Messages::countsArrivals && flags.receives) + flags.sends;
    if (dependencies == 0)
      return true;
    const uint32_t warps = (machine.threads() + warpLanes - 1) / warpLanes;
    if (machine.thread() % warpLanes == 0)
      for (uint32_t number = machine.thread() / warpLanes; number < dependencies; number += warps)
        if (WaitCondition needed = dependency(step, number); !await(machine, needed, call.stop)) {
          reportStop(needed.what, shared.pollStopped);
          break;
        }
    machine.barrier();
    return shared.pollStopped == 0;
  }

  /// Publishes the message's arrival (Simple only: in LL and LL128 the message itself has flags), the free slot, and
  /// the step. The fence completes all reads of a slot before the slot is returned.
  GC3_DEVICE void publish(const StepImage &step, const OpcodeFlags &flags) {
    const bool signalsArrival = Messages::countsArrivals && flags.sends;
    if (!isLeader() || !(signalsArrival || flags.receives || step.awaited != 0))
      return;
    machine.fence(signalsArrival || flags.receives ? call.peers : Scope::Gpu);
    if (signalsArrival)
      signalArrival(step);
    if (flags.receives)
      signalSlotFree();
    if (step.awaited != 0)
      machine.publish(rank.progress + assignment.block, (tilesBefore + tile) * stepCount + stepNumber + 1, Scope::Gpu);
  }

  /// Signals that the last message is written. The caller must have executed a fence.
  GC3_DEVICE void signalArrival(const StepImage &step) {
    if constexpr (Machine::hasNetwork)
      if (out.network != none) {
        const NetworkSend &network = rank.networkSends[out.network];
        const uint32_t last = sent.previous(call.slots);
        const uint64_t slot = last * call.slotBytes;
        machine.put(network.peer, network.window, network.to + slot, network.from + slot, step.count * call.tileStride,
                    signalOfSlot(network.arrived, last));
        return;
      }
    machine.publish(out.arrived, sent.messages, call.peers);
  }

  /// Returns the slot of the last received message. The caller must have executed a fence.
  GC3_DEVICE void signalSlotFree() {
    if constexpr (Machine::hasNetwork)
      if (in.network != none) {
        const NetworkReceive &network = rank.networkReceives[in.network];
        if (received.messages - credited >= network.batch)
          returnCredits(network);
        return;
      }
    machine.publish(in.freed, received.messages, call.peers);
  }

  GC3_DEVICE void returnCredits(const NetworkReceive &network) {
    if (received.messages != credited)
      machine.signal(network.peer, network.freed, received.messages - credited);
    credited = received.messages;
  }

  GC3_DEVICE void reportStop(Waiting what, uint32_t &flag) {
    flag = 1;
    rank.reports[assignment.block] = {what, stepNumber, tile};
  }

  Machine &machine;
  BlockShared &shared;
  const KernelArgs &call;
  const BlockAssignment assignment;
  const RankImage &rank;
  const uint32_t stepCount; ///< steps of the thread block
  SendEnd out{};
  ReceiveEnd in{};
  uint64_t tilesBefore = 0;
  ConnectionCursor sent, received;
  uint64_t credited = 0; ///< over a network, in thread 0 only: number of slots returned
  uint64_t tile = 0;
  uint32_t stepNumber = 0; ///< number of the current step within the thread block
  uint32_t parity = 0;     ///< number of completed steps, modulo 2
};

} // namespace gc3::kernel
