// SPDX-License-Identifier: Apache-2.0
// The interpreter of GC3-IR (GC3 section 4.4): a block of the grid runs the instructions of one thread block, the loop
// over tiles outside, the loop over instructions inside.
//
// A step: some threads wait for what it needs, one for each thing; all move its data; one tells who waits for it. A
// barrier stands between these. What any thread of a block did before a barrier is visible to those who see what one
// thread of the block publishes behind it, as publishing is cumulative.
//
// Counters go on from call to call and live in device memory, so a launch can be replayed. Each has one writer.
//
// One thread notes when steps begin and end, if there is a place for it; the last steps stay.
#pragma once

#include "kernel/LL128.h"
#include "kernel/LowLatency.h"
#include "kernel/Simple.h"
#include "kernel/Wait.h"

#include <type_traits>

namespace gc3::kernel {

/// Steps that a block holds at once.
inline constexpr uint32_t windowSteps = 128;

/// How far a connection has come. The slot that is next is kept: to divide by the number of slots, which is no
/// constant, would take longer than all else that a short step does.
struct Progress {
  uint64_t messages = 0; ///< of all calls
  uint64_t laps = 0;     ///< messages that have used the next slot
  uint32_t next = 0;     ///< slot

  GC3_DEVICE void begin(uint64_t before, uint32_t slots) {
    messages = before;
    laps = before / slots;
    next = static_cast<uint32_t>(before - laps * slots);
  }
  GC3_DEVICE void advance(uint32_t slots) {
    ++messages;
    if (++next == slots)
      next = 0, ++laps;
  }
  GC3_DEVICE uint32_t last(uint32_t slots) const { return next == 0 ? slots - 1 : next - 1; }
};

/// Shared memory of a block.
struct Shared {
  RankImage rank; ///< loads of the original would miss the caches behind each wait
  StepImage window[windowSteps];
  uint32_t stoppedWaiting;
  uint32_t stoppedMoving[2]; ///< by turn: one may be written while slow threads still read the other
};

/// `Machine` is what a GPU offers (docs/gpu-internals.md): threads and barriers, loads and stores of the kinds that the
/// memory model tells apart. `Arithmetic` has `elementBytes` and `combine(op, word, word)`.
template <typename Machine, typename Arithmetic, Protocol P>
class Interpreter {
public:
  GC3_DEVICE Interpreter(Machine &machine, Shared &shared, const KernelArgs &call)
      : machine(machine), shared(shared), call(call), seat(call.seats[machine.block()]), rank(shared.rank),
        stepCount(call.ranks[seat.rank].blocks[seat.block].stepCount) {}

  GC3_DEVICE void run() {
    begin();
    noteRunning(tilesBefore + 1);
    if (runTiles())
      end();
    noteRunning(0);
  }

private:
  using Simply = Simple<Machine, Arithmetic>;
  using Messages = std::conditional_t<
      P == Protocol::Simple, Simply,
      std::conditional_t<P == Protocol::LL, LowLatency<Machine, Arithmetic>, LL128<Machine, Arithmetic>>>;

  GC3_DEVICE bool leads() const { return machine.thread() == 0; }

  /// For who watches, also where replays of a graph are launched by nobody that could tell. A report comes before.
  GC3_DEVICE void noteRunning(uint64_t number) {
    if (call.running == nullptr || !leads())
      return;
    machine.fence(Scope::System);
    machine.tell(call.running + machine.block(), number, Scope::System);
  }

  /// False: told to stop. Counters are what they were then: nobody may use them any more.
  GC3_DEVICE bool runTiles() {
    for (; tile != call.tiles; ++tile)
      for (uint32_t first = 0; first < stepCount; first += windowSteps) {
        if (tile == 0 || stepCount > windowSteps)
          loadWindow(first);
        const uint32_t end = first + windowSteps < stepCount ? first + windowSteps : stepCount;
        for (stepNumber = first; stepNumber != end; ++stepNumber)
          if (!runStep(shared.window[stepNumber - first]))
            return false;
      }
    return true;
  }

  /// What is written to shared memory here is read behind a barrier.
  GC3_DEVICE void begin() {
    const RankImage &original = call.ranks[seat.rank];
    const ThreadBlockImage block = original.blocks[seat.block];
    tilesBefore = original.tiles[seat.block];
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
    if (leads()) {
      shared.rank = original;
      shared.stoppedWaiting = shared.stoppedMoving[0] = shared.stoppedMoving[1] = 0;
    }
  }

  GC3_DEVICE void end() {
    machine.barrier(); // all threads have read what was there before
    const ThreadBlockImage block = rank.blocks[seat.block];
    if (!leads() || !leaveNetwork(block))
      return;
    rank.tiles[seat.block] = tilesBefore + call.tiles;
    if (block.outgoing != none)
      *rank.sends[block.outgoing].sent = sent.messages;
    if (block.incoming != none)
      *rank.receives[block.incoming].received = received.messages;
  }

  /// Behind a call nothing is on its way from memory that might be freed: what was put has landed when its slots have
  /// been given back. Ours go back first, as the peer may wait at the same place.
  GC3_DEVICE bool leaveNetwork(const ThreadBlockImage &block) {
    if constexpr (Machine::hasNetwork) {
      if (block.incoming != none && in.network != none) {
        giveBack(rank.networkReceives[in.network]);
        *rank.networkReceives[in.network].credited = credited;
      }
      if (block.outgoing != none && out.network != none && sent.messages != *rank.sends[block.outgoing].sent) {
        stepNumber = stepCount - 1, --tile; // for the report
        if (!await(machine,
                   {nullptr, sent.messages, Waiting::Slot, Scope::System, rank.networkSends[out.network].freed},
                   call.stop)) {
          stop(Waiting::Slot, shared.stoppedWaiting);
          return false;
        }
      }
    }
    return true;
  }

  GC3_DEVICE void loadWindow(uint32_t first) {
    machine.barrier(); // nobody is in a step of the last window
    const uint32_t firstStep = rank.blocks[seat.block].firstStep + first;
    const uint32_t steps = stepCount - first < windowSteps ? stepCount - first : windowSteps;
    for (uint32_t i = machine.thread(); i < steps; i += machine.threads())
      shared.window[i] = rank.steps[firstStep + i];
    machine.barrier();
  }

  GC3_DEVICE bool runStep(const StepImage &step) {
    const OpcodeFlags flags(step.opcode);
    if (!awaitAll(step, flags))
      return false;
    noteBegin();
    Motion motion{flags, call.op, {}, call.stop};
    if (flags.receives)
      motion.message.in = in.slots + received.next * call.slotBytes, motion.message.inNumber = received.messages + 1;
    if (flags.sends)
      motion.message.out = out.slots + sent.next * call.slotBytes, motion.message.outNumber = sent.messages + 1;
    if (!move(step, motion))
      stop(Waiting::Data, shared.stoppedMoving[turn]);
    machine.barrier();
    if (shared.stoppedMoving[turn] != 0)
      return false;
    noteEnd();
    turn ^= 1;
    if (flags.sends)
      sent.advance(call.slots);
    if (flags.receives)
      received.advance(call.slots);
    publish(step, flags);
    return true;
  }

  /// Of the step, if this thread keeps it.
  GC3_DEVICE StepTimes *record() const {
    if (call.records == nullptr || !leads())
      return nullptr;
    const uint64_t number = tile * stepCount + stepNumber;
    return call.records + uint64_t{machine.block()} * call.ringRecords + (number & (call.ringRecords - 1));
  }
  GC3_DEVICE void noteBegin() {
    if (StepTimes *kept = record())
      *kept = {stepNumber, tile, machine.now(), 0};
  }
  GC3_DEVICE void noteEnd() {
    if (StepTimes *kept = record())
      kept->end = machine.now();
  }

  GC3_DEVICE bool move(const StepImage &step, const Motion &motion) {
    bool going = true;
    uint64_t nominal = 0;
    forEachRun<Arithmetic::elementBytes>(call, call.memory[seat.rank], step, tile, [&](const TileRun &run) {
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

  /// What a step needs, by number: its waits, then a message, then a slot.
  GC3_DEVICE Watch watch(const StepImage &step, uint32_t number) const {
    if (number < step.waitCount) {
      const WaitImage wait = rank.waits[step.firstWait + number];
      return {rank.progress + wait.block,
              (tilesBefore + tile) * wait.stepCount + wait.step + 1,
              Waiting::Step,
              Scope::Gpu,
              {}};
    }
    if (number == step.waitCount && Messages::countsArrivals && OpcodeFlags(step.opcode).receives)
      return arrival();
    return freeSlot();
  }

  GC3_DEVICE Watch arrival() const {
    if constexpr (Machine::hasNetwork)
      if (in.network != none) {
        const Signal first = rank.networkReceives[in.network].arrived;
        return {nullptr, received.laps + 1, Waiting::Message, Scope::System, slotOf(first, received.next)};
      }
    return {in.arrived, received.messages + 1, Waiting::Message, call.peers, {}};
  }

  GC3_DEVICE Watch freeSlot() const {
    const uint64_t least = sent.messages + 1 > call.slots ? sent.messages + 1 - call.slots : 0;
    if constexpr (Machine::hasNetwork)
      if (out.network != none)
        return {nullptr, least, Waiting::Slot, Scope::System, rank.networkSends[out.network].freed};
    return {out.freed, least, Waiting::Slot, call.peers, {}};
  }

  /// The signal of a slot.
  static GC3_DEVICE Signal slotOf(const Signal &first, uint32_t slot) { return {first.context, first.id + slot}; }

  /// The first lane of each warp waits for one thing, or for several.
  GC3_DEVICE bool awaitAll(const StepImage &step, const OpcodeFlags &flags) {
    const uint32_t watches = step.waitCount + (Messages::countsArrivals && flags.receives) + flags.sends;
    if (watches == 0)
      return true;
    const uint32_t warps = (machine.threads() + warpLanes - 1) / warpLanes;
    if (machine.thread() % warpLanes == 0)
      for (uint32_t number = machine.thread() / warpLanes; number < watches; number += warps)
        if (Watch needed = watch(step, number); !await(machine, needed, call.stop)) {
          stop(needed.what, shared.stoppedWaiting);
          break;
        }
    machine.barrier();
    return shared.stoppedWaiting == 0;
  }

  /// Under LL and LL128 a message itself says that it is there. A slot is given back behind a fence, since what was
  /// read of it must have been read before.
  GC3_DEVICE void publish(const StepImage &step, const OpcodeFlags &flags) {
    const bool tellsArrival = Messages::countsArrivals && flags.sends;
    if (!leads() || !(tellsArrival || flags.receives || step.awaited != 0))
      return;
    machine.fence(tellsArrival || flags.receives ? call.peers : Scope::Gpu);
    if (tellsArrival)
      tellArrival(step);
    if (flags.receives)
      tellFree();
    if (step.awaited != 0)
      machine.tell(rank.progress + seat.block, (tilesBefore + tile) * stepCount + stepNumber + 1, Scope::Gpu);
  }

  /// Behind a fence: the message that was written last is there.
  GC3_DEVICE void tellArrival(const StepImage &step) {
    if constexpr (Machine::hasNetwork)
      if (out.network != none) {
        const NetworkSend &network = rank.networkSends[out.network];
        const uint32_t last = sent.last(call.slots);
        const uint64_t slot = last * call.slotBytes;
        machine.put(network.peer, network.window, network.to + slot, network.from + slot, step.count * call.pieceStride,
                    slotOf(network.arrived, last));
        return;
      }
    machine.tell(out.arrived, sent.messages, call.peers);
  }

  /// Behind a fence: the slot of the message that was read last may be used again.
  GC3_DEVICE void tellFree() {
    if constexpr (Machine::hasNetwork)
      if (in.network != none) {
        const NetworkReceive &network = rank.networkReceives[in.network];
        if (received.messages - credited >= network.batch)
          giveBack(network);
        return;
      }
    machine.tell(in.freed, received.messages, call.peers);
  }

  GC3_DEVICE void giveBack(const NetworkReceive &network) {
    if (received.messages != credited)
      machine.signal(network.peer, network.freed, received.messages - credited);
    credited = received.messages;
  }

  GC3_DEVICE void stop(Waiting what, uint32_t &flag) {
    flag = 1;
    rank.reports[seat.block] = {what, stepNumber, tile};
  }

  Machine &machine;
  Shared &shared;
  const KernelArgs &call;
  const Seat seat;
  const RankImage &rank;
  const uint32_t stepCount; ///< of the thread block
  SendEnd out{};
  ReceiveEnd in{};
  uint64_t tilesBefore = 0;
  Progress sent, received;
  uint64_t credited = 0; ///< over a network, the leader's: slots given back
  uint64_t tile = 0;
  uint32_t stepNumber = 0; ///< within the thread block
  uint32_t turn = 0;       ///< steps done, modulo 2
};

} // namespace gc3::kernel
