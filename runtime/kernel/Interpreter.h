// SPDX-License-Identifier: Apache-2.0
// The interpreter of GC3-IR (GC3 section 4.4). Each grid block runs one thread block: tiles in the outer loop, steps in
// the inner loop.
//
// A step has three phases, separated by block barriers: one lane of each warp polls dependencies, all threads move the
// data, the leader publishes completion. Publication is cumulative: a thread that acquires a value published by the
// leader also sees all writes of the block before the barrier.
//
// Counters live in device memory and persist across calls, so a launch can be replayed. Each counter has one writer.
//
// If the launch records times, the leader records the begin and end of each step in a ring, which keeps the latest
// steps.
#pragma once

#include "kernel/LL128.h"
#include "kernel/LowLatency.h"
#include "kernel/Simple.h"
#include "kernel/Switch.h"
#include "kernel/Wait.h"

#include <type_traits>

namespace gc3::kernel {

/// Number of steps that a block holds in shared memory. With these, 16 blocks fit on a multiprocessor of sm_80. Most
/// kernels use so many registers that no more fit, however few threads a block has.
inline constexpr uint32_t cachedSteps = 64;

/// Position in a connection. It stores the next slot, so that a step needs no division. The slot count is not a
/// constant, so a division would dominate the time of a short step.
struct ConnectionCursor {
  uint64_t messages = 0; ///< number of messages since the connection was created
  uint32_t next = 0;     ///< slot of the next message

  GC3_DEVICE void begin(uint32_t slots) {
    const bool isPower = (slots & (slots - 1)) == 0;
    next = static_cast<uint32_t>(isPower ? messages & (slots - 1) : messages % slots);
  }
  GC3_DEVICE void advance(uint32_t slots) {
    ++messages;
    if (++next == slots)
      next = 0;
  }
  GC3_DEVICE uint32_t previous(uint32_t slots) const { return next == 0 ? slots - 1 : next - 1; }
};

/// A step with what its execution needs. So a step with one run and one wait loads nothing from device memory except
/// data and counters, and divides nothing. Loads of device memory would miss the first-level cache after each acquire.
struct alignas(16) CachedStep {
  TileRun run; ///< the first run, in the current tile
  StepImage image;
  WaitImage wait; ///< its first wait, if it has any
  SlotRun first;  ///< the first run
};

/// The shared memory of a block.
struct BlockShared {
  CachedStep steps[cachedSteps];
  BlockImage block;
  uint64_t freed; ///< the last value of the outgoing connection's counter of free slots that a thread has polled
};

/// `Machine` abstracts a GPU (docs/gpu-internals.md): threads, barriers, and the loads and stores that the memory model
/// distinguishes. `Arithmetic` has `elementBytes` and `combine(op, word, word)`. `OverSwitch` is true in kernels for
/// calls over the switch, which run under Simple.
template <typename Machine, typename Arithmetic, Protocol P, bool OverSwitch = false>
class Interpreter {
public:
  GC3_DEVICE Interpreter(Machine &machine, BlockShared &shared, const KernelArgs &call)
      : machine(machine), shared(shared), call(call), image(shared.block),
        leads(machine.thread() == (machine.threads() - 1) / warpLanes * warpLanes),
        isTraced(leads && call.records != nullptr) {}

  GC3_DEVICE void run() {
    noteTime(&BlockTimes::begin);
    loadBlock();
    publishRunning(tilesBefore + 1);
    if (chooseSteps() && runTiles())
      storeCounters();
    noteTime(&BlockTimes::end);
    publishRunning(0);
  }

private:
  /// Most loads of each source in flight, so that no kernel spills registers. Kernels of protocols with flags also need
  /// registers for lines.
  static constexpr bool hasFewRegisters = P != Protocol::Simple || Machine::hasNetwork;
  static constexpr uint32_t loads = Arithmetic::elementBytes == 1   ? (hasFewRegisters ? 4 : 6)
                                    : hasFewRegisters               ? 6
                                    : Arithmetic::elementBytes == 8 ? 7
                                                                    : 8;
  static constexpr Reach reach = OverSwitch ? Reach::Switch : P == Protocol::Simple ? Reach::Direct : Reach::Slots;
  using Simply = Simple<Machine, Arithmetic, loads>;
  using Messages = std::conditional_t<
      P == Protocol::Simple, Simply,
      std::conditional_t<P == Protocol::LL, LowLatency<Machine, Arithmetic>, LL128<Machine, Arithmetic>>>;

  /// Writes the time for the host. The host uses the times of a block when neither is 0, so the writes need no order.
  GC3_DEVICE void noteTime(uint64_t BlockTimes::*moment) {
    if (call.times != nullptr && leads)
      machine.template store<sizeof(uint64_t)>(reinterpret_cast<std::byte *>(&(call.times[machine.block()].*moment)),
                                               machine.now());
  }

  /// Writes the number of the running call (0: none) for the watchdog. The kernel does this because no host code of gc3
  /// runs when a graph is replayed. The fence makes a stop report visible first.
  GC3_DEVICE void publishRunning(uint64_t number) {
    if (call.running == nullptr || !leads)
      return;
    machine.fence(Scope::System);
    machine.publish(call.running + machine.block(), number, Scope::System);
  }

  /// Runs all steps for all tiles. Returns false after a stop. The counters in memory are then stale, and the
  /// connections must not be used again.
  GC3_DEVICE bool runTiles() {
    for (; tile != call.tiles; ++tile)
      for (stepNumber = 0; stepNumber < image.stepCount; ++stepNumber) {
        const uint32_t cached = stepNumber % cachedSteps;
        if (cached == 0)
          prepareSteps();
        if (!runStep(shared.steps[cached]))
          return false;
      }
    return true;
  }

  /// Prepares the next steps, which begin at a multiple of cachedSteps, for the current tile.
  GC3_DEVICE void prepareSteps() {
    if (tile == 0 || image.stepCount > cachedSteps)
      loadSteps(stepNumber);
    else
      aimSteps();
    if (tile + stepNumber == 0)
      beginConnections();
  }

  /// Loads the block's record and its counters. Does not use the counters, so that their loads are in flight together
  /// with those of the first steps.
  GC3_DEVICE void loadBlock() {
    if (leads)
      shared.block = call.blocks[machine.block()];
    machine.barrier();
    tilesBefore = *image.tiles;
    if (image.out.sent)
      sent.messages = *image.out.sent;
    if (image.in.received)
      returned = received.messages = *image.in.received;
  }

  /// Compares the place of this rank's receive buffer with those of the peers, over both connections of the block, and
  /// chooses the version of the steps. If the places are equal, messages without slots go directly. Returns false after
  /// a stop.
  ///
  /// The receiver announces its place first. So a sender stores nothing into the receiver's buffer before the
  /// receiver's call has begun. The sender's announcement tells the receiver its place. It follows the receiver's, so
  /// no announcement can overwrite one that the peer has not read yet.
  ///
  /// A kernel that begins after a stop does nothing, because NCCL's abort can have unmapped the windows.
  GC3_DEVICE bool chooseSteps() {
    if (reach == Reach::Slots || call.place == Place::NotCompared || call.tiles == 0)
      return true;
    return !machine.barrierAny(leads && (machine.loadStopWord(call.stop) != 0 || !comparePlaces()));
  }

  GC3_DEVICE bool comparePlaces() {
    if (image.in.arrived)
      announce(image.in.freed, received.messages + 1);
    if (image.out.arrived) {
      if (!awaitPlace(image.out.freed, sent.messages + 1, Waiting::Receiver, sendsDirectly))
        return false;
      announce(image.out.arrived, sent.messages + 1);
    }
    if (image.in.arrived && !awaitPlace(image.in.arrived, received.messages + 1, Waiting::Sender, receivesDirectly))
      return false;
    if constexpr (OverSwitch)
      shared.block.steps += switchVersion * image.stepsOfVersion;
    return true;
  }

  /// Announces this rank's place to the peer. `number` is that of the connection's next message. The peer acquires the
  /// number, and then knows that earlier kernels of this rank no longer access the receive buffer.
  GC3_DEVICE void announce(uint64_t *counter, uint64_t number) {
    machine.template store<sizeof(uint64_t)>(reinterpret_cast<std::byte *>(counter + placeWord),
                                             static_cast<uint64_t>(call.place));
    machine.fence(call.peers);
    machine.publish(counter + announcementWord, number, call.peers);
  }

  /// Waits for the peer's announcement. If its place is this rank's, adds `bit` to the version of the steps. Returns
  /// false after a stop.
  GC3_DEVICE bool awaitPlace(const uint64_t *counter, uint64_t number, Waiting what, uint32_t bit) {
    uint64_t value;
    if (!await(machine, {counter + announcementWord, number, what, call.peers, {}}, call.stop, value)) {
      reportStop(what);
      return false;
    }
    const auto place = static_cast<Place>(
        machine.template load<sizeof(uint64_t)>(reinterpret_cast<const std::byte *>(counter + placeWord)));
    const bool isSame = place == call.place && place != Place::Nowhere;
    if constexpr (OverSwitch)
      return isSame || awaitStop(Waiting::Place);
    if (isSame)
      shared.block.steps += bit * image.stepsOfVersion;
    return true;
  }

  /// Waits until the host requests a stop. Returns false.
  GC3_DEVICE bool awaitStop(Waiting what) {
    while (machine.loadStopWord(call.stop) == 0)
      machine.pause();
    reportStop(what);
    return false;
  }

  /// Finds the slots of the next messages.
  GC3_DEVICE void beginConnections() {
    sent.begin(call.slots);
    received.begin(call.slots);
  }

  GC3_DEVICE void storeCounters() {
    machine.barrier(); // all threads have read the old counters
    if (!leads)
      return;
    if (image.in.received && received.messages != returned) {
      machine.fence(call.peers);
      returnSlots();
    }
    if (!drainNetwork())
      return;
    *image.tiles = tilesBefore + call.tiles;
    if (image.out.sent)
      *image.out.sent = sent.messages;
    if (image.in.received)
      *image.in.received = received.messages;
  }

  /// Waits until all puts of this call have landed, because the host can free their source memory after the call. A put
  /// has landed when the receiver has returned its slot. Returns false after a stop.
  GC3_DEVICE bool drainNetwork() {
    if constexpr (Machine::hasNetwork)
      if (image.out.network && sent.messages != *image.out.sent) {
        stepNumber = image.stepCount - 1, --tile; // the report names the last step of the last tile
        uint64_t value;
        if (!await(machine, {nullptr, sent.messages, Waiting::Slot, Scope::System, image.out.network->freed}, call.stop,
                   value)) {
          reportStop(Waiting::Slot);
          return false;
        }
      }
    return true;
  }

  /// Caches the steps from `first` on. No thread uses cached steps after the barrier at the end of the last step.
  GC3_DEVICE void loadSteps(uint32_t first) {
    const uint32_t steps = image.stepCount - first < cachedSteps ? image.stepCount - first : cachedSteps;
    const TilePart part = tilePart(call, Arithmetic::elementBytes, tile);
    for (uint32_t i = machine.thread(); i < steps; i += machine.threads()) {
      const StepImage step = image.steps[first + i];
      const SlotRun run = slotRun<reach>(call, image.rank, Arithmetic::elementBytes, step, 0);
      shared.steps[i] = {inTile(run, part, 0), step, step.waitCount == 0 ? WaitImage{} : image.waits[step.firstWait],
                         run};
    }
    machine.barrier();
  }

  /// Moves the runs of the cached steps on to the current tile. As in loadSteps(), no thread uses them.
  GC3_DEVICE void aimSteps() {
    const TilePart part = tilePart(call, Arithmetic::elementBytes, tile);
    for (uint32_t i = machine.thread(); i < image.stepCount; i += machine.threads())
      shared.steps[i].run = inTile(shared.steps[i].first, part, 0);
    machine.barrier();
  }

  /// Computes as much as possible before it waits, because the time of a short step is the time of the instructions
  /// after the wait. So it also counts the step's messages before it moves them.
  GC3_DEVICE bool runStep(const CachedStep &step) {
    const OpcodeFlags flags = step.image.flags;
    const Motion motion = motionOf(flags, dataOf<reach>(step.image));
    typename Simply::Sides sides{};
    if (P == Protocol::Simple || flags.isLocal())
      sides = Simply::sidesOf(machine, motion, step.run);
    const bool needsSlot = flags.sends() && sendable == 0;
    const bool hasOneRun = step.first.slots == step.image.count;
    countMessages(flags);
    const Publication due = publicationOf(step.image, flags);
    if (!awaitDependencies(step, flags, needsSlot))
      return false;
    recordBegin();
    const bool going = moveData(step, motion, sides, hasOneRun);
    if (!endData(going))
      return false;
    publish(due);
    return true;
  }

  GC3_DEVICE void countMessages(const OpcodeFlags &flags) {
    if (flags.sends())
      sent.advance(call.slots), --sendable;
    if (flags.receives())
      received.advance(call.slots);
  }

  /// Returns the parameters of a step with these signals and data. They differ only in calls over the switch.
  GC3_DEVICE Motion motionOf(const OpcodeFlags &flags, const OpcodeFlags &data) const {
    Motion motion{data, call.op, {}, call.stop};
    if (flags.receives())
      motion.message.in = image.in.slots + received.next * call.slotBytes,
      motion.message.inNumber = received.messages + 1;
    if (flags.sends())
      motion.message.out = image.out.slots + sent.next * call.slotBytes, motion.message.outNumber = sent.messages + 1;
    return motion;
  }

  GC3_DEVICE StepTimes &traceRecord() const {
    const uint64_t number = tile * image.stepCount + stepNumber;
    return call.records[uint64_t{machine.block()} * call.ringRecords + (number & (call.ringRecords - 1))];
  }
  GC3_DEVICE void recordBegin() {
    if (isTraced)
      traceRecord() = {stepNumber, tile, machine.now(), 0};
  }

  /// Moves the data of a step. `sides` are those of the first run. Returns false after a stop.
  GC3_DEVICE bool moveData(const CachedStep &step, const Motion &motion, typename Simply::Sides sides, bool hasOneRun) {
    if constexpr (P != Protocol::Simple)
      if (!motion.flags.isLocal())
        return moveMessage(step, motion);
    for (uint32_t done = step.first.slots;;) {
      moveRun(step, motion, sides);
      if (hasOneRun || done == step.image.count)
        return true;
      sides = Simply::sidesOf(machine, motion, runOf(step, done));
    }
  }

  GC3_DEVICE void moveRun([[maybe_unused]] const CachedStep &step, const Motion &motion,
                          const typename Simply::Sides &sides) {
    if constexpr (OverSwitch)
      if (step.image.switched != 0)
        return SwitchMotion<Machine, Arithmetic>::move(machine, motion, sides, step.image.switched);
    Simply::template move<P != Protocol::Simple>(machine, motion, sides);
  }

  GC3_DEVICE bool moveMessage(const CachedStep &step, const Motion &motion) {
    TileRun run = step.run;
    for (uint32_t done = step.first.slots;;) {
      if (!Messages::move(machine, motion, run))
        return false;
      if (done == step.image.count)
        break;
      run = runOf(step, done);
    }
    if constexpr (P == Protocol::LL)
      Messages::finish(machine, motion, call, step.image.count, run.nominalBytes);
    return true;
  }

  /// Returns the run that begins at slot `done` of a step, in the current tile. Adds the run's slots to `done`.
  GC3_DEVICE TileRun runOf(const CachedStep &step, uint32_t &done) const {
    return runAt<Arithmetic::elementBytes, reach>(call, image.rank, step.image, tile, done);
  }

  /// Waits until all threads have moved the data of a step. Returns false after a stop.
  GC3_DEVICE bool endData([[maybe_unused]] bool going) {
    if constexpr (P == Protocol::Simple) {
      machine.barrier();
      return true;
    } else {
      if (!going)
        reportStop(Waiting::Data);
      return !machine.barrierAny(!going);
    }
  }

  /// Returns dependency `number` of a step, whose messages are counted: first its waits, then the message's arrival
  /// (Simple only), then a free slot.
  GC3_DEVICE WaitCondition dependency(const CachedStep &step, uint32_t number) const {
    if (number < step.image.waitCount) {
      const WaitImage wait = number == 0 ? step.wait : image.waits[step.image.firstWait + number];
      return {image.progress + wait.block,
              (tilesBefore + tile) * wait.stepCount + wait.step + 1,
              Waiting::Step,
              Scope::Gpu,
              {}};
    }
    if (number == step.image.waitCount && Messages::countsArrivals && step.image.flags.receives())
      return messageArrival();
    return slotAvailable();
  }

  GC3_DEVICE WaitCondition messageArrival() const {
    if constexpr (Machine::hasNetwork)
      if (image.in.network)
        return {nullptr, (received.messages - 1) / call.slots + 1, Waiting::Message, Scope::System,
                signalOfSlot(image.in.network->arrived, received.previous(call.slots))};
    return {image.in.arrived, received.messages, Waiting::Message, call.peers, {}};
  }

  GC3_DEVICE WaitCondition slotAvailable() const {
    const uint64_t least = sent.messages > call.slots ? sent.messages - call.slots : 0;
    if constexpr (Machine::hasNetwork)
      if (image.out.network)
        return {nullptr, least, Waiting::Slot, Scope::System, image.out.network->freed};
    return {image.out.freed, least, Waiting::Slot, call.peers, {}};
  }

  static GC3_DEVICE Signal signalOfSlot(const Signal &first, uint32_t slot) { return {first.context, first.id + slot}; }

  /// Waits for all dependencies of a step. Lane 0 of each warp polls. Dependencies are assigned to warps round-robin.
  /// Does not poll for a free slot if an earlier poll has seen one. Returns false after a stop.
  GC3_DEVICE bool awaitDependencies(const CachedStep &step, const OpcodeFlags &flags, bool needsSlot) {
    const uint32_t dependencies = step.image.waitCount + (Messages::countsArrivals && flags.receives()) + needsSlot;
    if (dependencies == 0)
      return true;
    bool going = true;
    const uint32_t warp = machine.thread() / warpLanes;
    if (machine.thread() % warpLanes == 0 && warp < dependencies)
      going = poll(step, warp, dependencies);
    if (machine.barrierAny(!going))
      return false;
    if (needsSlot)
      sendable = static_cast<uint32_t>(shared.freed + call.slots - sent.messages);
    return true;
  }

  /// Waits for the dependencies of one warp. Returns false after a stop.
  GC3_DEVICE bool poll(const CachedStep &step, uint32_t warp, uint32_t dependencies) {
    const uint32_t warps = (machine.threads() + warpLanes - 1) / warpLanes;
    for (uint32_t number = warp; number < dependencies; number += warps) {
      uint64_t value;
      const WaitCondition needed = dependency(step, number);
      if (!await(machine, needed, call.stop, value)) {
        reportStop(needed.what);
        return false;
      }
      if (needed.what == Waiting::Slot)
        shared.freed = value;
    }
    return true;
  }

  /// What the leader does after a step, as bits: it records the step's end, and publishes the message's arrival (Simple
  /// only: in LL and LL128 the message itself has flags), free slots, and the step. Slots are returned in batches,
  /// because each return costs a fence, which completes all reads of the slots.
  ///
  /// If the fence has system scope, `bits` has `systemFence`. The other fields are loaded before the step waits,
  /// because after the barrier other threads can already load the next steps.
  struct Publication {
    uint32_t bits;
    uint32_t count;    ///< slots of the message
    uint64_t *arrived; ///< SendEnd::arrived
  };
  static constexpr uint32_t arrivalDue = 1, slotsDue = 2, stepDue = 4, recordDue = 8, systemFence = 16;

  /// Returns what is due after a step, whose messages are counted.
  GC3_DEVICE Publication publicationOf(const StepImage &step, const OpcodeFlags &flags) const {
    if (!leads)
      return {};
    const uint32_t messages = (Messages::countsArrivals && flags.sends() ? arrivalDue : 0) |
                              (flags.receives() && received.messages - returned >= image.in.batch ? slotsDue : 0);
    return {messages | (messages != 0 && call.peers == Scope::System ? systemFence : 0) |
                (step.isAwaited ? stepDue : 0) | (isTraced ? recordDue : 0),
            step.count, image.out.arrived};
  }

  GC3_DEVICE void publish(const Publication &due) {
    if (due.bits == 0)
      return;
    if (due.bits & recordDue)
      traceRecord().end = machine.now();
    if (due.bits == recordDue)
      return;
    machine.fence(due.bits & systemFence ? Scope::System : Scope::Gpu);
    if (due.bits & arrivalDue)
      signalArrival(due);
    if (due.bits & slotsDue)
      returnSlots();
    if (due.bits & stepDue)
      machine.publish(image.progress + image.block, (tilesBefore + tile) * image.stepCount + stepNumber + 1,
                      Scope::Gpu);
  }

  /// Signals that the last message is written. The caller must have executed a fence.
  GC3_DEVICE void signalArrival(const Publication &due) {
    if constexpr (Machine::hasNetwork)
      if (image.out.network) {
        const NetworkSend &network = *image.out.network;
        const uint32_t last = sent.previous(call.slots);
        const uint64_t slot = last * call.slotBytes;
        machine.put(network.peer, network.window, network.to + slot, network.from + slot, due.count * call.tileStride,
                    signalOfSlot(network.arrived, last));
        return;
      }
    machine.publish(due.arrived, sent.messages, call.peers);
  }

  /// Returns the slots of all received messages. The caller must have executed a fence.
  GC3_DEVICE void returnSlots() {
    const uint64_t before = returned;
    returned = received.messages;
    if constexpr (Machine::hasNetwork)
      if (image.in.network) {
        machine.signal(image.in.network->peer, image.in.network->freed, returned - before);
        return;
      }
    machine.publish(image.in.freed, returned, call.peers);
  }

  GC3_DEVICE void reportStop(Waiting what) { *image.report = {what, stepNumber, tile}; }

  Machine &machine;
  BlockShared &shared;
  const KernelArgs &call;
  const BlockImage &image;
  /// Whether this thread publishes. The leader is in the last warp. In a block of many warps, this warp polls only if a
  /// step has many dependencies, so the other warps can poll for the next step while the leader's fence waits.
  const bool leads;
  const bool isTraced; ///< whether this thread records the times of steps
  uint64_t tilesBefore = 0;
  ConnectionCursor sent, received;
  uint32_t sendable = 0; ///< number of messages for which a poll has seen free slots
  uint64_t returned = 0; ///< in the leader: number of received messages whose slots it has returned
  uint64_t tile = 0;
  uint32_t stepNumber = 0; ///< number of the current step within the thread block
};

} // namespace gc3::kernel
