// SPDX-License-Identifier: Apache-2.0
// The state of one running program: its thread blocks and its FIFOs. A thread block is a resumable state machine: the
// interpreter of GC3 section 4.4, with the tile loop outside and the instruction loop inside. A rank is the unit of
// scheduling. Only the thread that holds the rank may step its thread blocks, so all state except the FIFO counters is
// private to this thread. The caller decides the order of steps; see Executor and Adversary.
//
// FIFOs persist across calls, so that a rank can begin its next call while other ranks are in this one.
#pragma once

#include "core/Layout.h"
#include "core/Timeline.h"
#include "gc3/Common/Opcode.h"
#include "host/Fifo.h"
#include "host/Mover.h"
#include "host/Staging.h"

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gc3::host {

/// The reason why a thread block cannot step. Reader: the thread block has no more steps, but its peer still has to
/// fetch a message from its rank's memory. Staging: there is no space yet for the copies of its tile.
enum class Blocked : uint8_t { No, Staging, Wait, Message, Slot, Reader, Finished };

struct alignas(cacheLine) ThreadBlockState {
  const bundle::fbs::Instruction *instructions = nullptr;
  uint32_t instructionCount = 0;
  uint32_t firstStep = 0; ///< number of the thread block's first step (Program::firstStep)
  uint32_t rank = 0;
  uint32_t sends = 0; ///< messages per tile
  Fifo *incoming = nullptr;
  Fifo *outgoing = nullptr;
  uint64_t *sentBytes = nullptr; ///< by slot of `outgoing`: size of its message; null unless its receiver is elsewhere
  uint32_t step = 0;
  uint64_t tile = 0;
  std::atomic<uint64_t> finishedSteps{0}; ///< over all tiles; only the rank's holder accesses it and the other fields
};

class Run {
public:
  /// Returns the bytes of a program's Fifo objects. Their slots follow them in memory.
  static size_t fifoHeadBytes(const core::Program &program) { return program.connections().size() * sizeof(Fifo); }
  /// All arguments must outlive this object. `fifoMemory` has fifoHeadBytes() zeros, and Layout::fifoBytes for slots.
  /// `scratchMemory` has Layout::scratchBytes. Both are aligned to linePair.
  /// `processes` has the ids of the processes of ranks of other processes, by rank, and else 0. It is empty if all
  /// ranks are in this process, or if messages between processes use slots.
  Run(const core::LoadedProgram &program, const core::Layout &layout, ReduceKernel kernel, std::byte *fifoMemory,
      std::byte *scratchMemory, std::span<const int> processes = {}, const std::atomic<bool> *hasEnded = nullptr);

  const core::Program &program() const { return prog; }

  /// Tries to hold a rank, without waiting. Returns whether the calling thread now holds it. A holder sees all writes
  /// of earlier holders.
  bool tryHold(uint32_t rank) {
    std::atomic<bool> &held = ranks[rank].held;
    return !held.load(std::memory_order_relaxed) && !held.exchange(true, std::memory_order_acquire);
  }
  void release(uint32_t rank) { ranks[rank].held.store(false, std::memory_order_release); }

  /// Sets the thread blocks of a held rank to their first step, for buffers at `memory`. Records their steps in
  /// `recording` unless it is null.
  void start(uint32_t rank, const RankMemory &memory, core::Recording *recording = nullptr);
  /// Lets messages skip their slots until the next start(). All ranks must have started, and all must allow `sharing`.
  void shareMemory(uint32_t rank, Sharing sharing) {
    const Rules &rules = rulesFor(sharing);
    ranks[rank].shared = true;
    ranks[rank].allowed = hasAny(sharing, Sharing::AsWritten) ? &rules.asWritten : &rules.inPlace;
  }

  /// Notes where a rank of another process has its buffers, until the next call. No rank of this process may be
  /// running. The buffers' addresses are those of process `process`; 0: those of this process.
  void meet(uint32_t rank, const RankMemory &memory, int process, Sharing sharing);
  /// Returns the Fifo of a connection. Its address does not change.
  Fifo &fifo(uint32_t connection) { return fifos[connection]; }
  /// Writes the sizes of later messages of a connection to `bytes`, which has an element for each slot.
  void noteSizes(uint32_t connection, uint64_t *bytes) {
    blocks[prog.connections()[connection].sender].sentBytes = bytes;
  }
  /// Returns the address of the scratch buffers of a rank of this process.
  std::byte *scratchOf(uint32_t rank) const { return ranks[rank].scratch; }
  /// Returns whether the system has refused an access to another process. The step has not been made.
  bool hasFailed() const { return accessFailed.load(std::memory_order_relaxed); }

  /// Runs the thread blocks of a held rank until all are blocked. Returns whether any made a step.
  bool sweep(uint32_t rank);
  /// Runs the sends into FIFO slots that are the first steps of a held rank's thread blocks. A rank may run only such
  /// steps until it knows that all other ranks have made the same call. Omits messages that can skip their slots under
  /// any of `kinds`.
  void sendAhead(uint32_t rank, Sharing kinds);
  /// Prefetches the messages that other ranks have sent ahead to this held rank.
  void expectMessages(uint32_t rank) const;
  /// Returns whether all thread blocks of a held rank are finished.
  bool finished(uint32_t rank) const { return ranks[rank].activeCount == 0; }

  /// Query and step one thread block of a held rank.
  Blocked blocked(const ThreadBlockState &block) const;
  void step(ThreadBlockState &block);

  std::span<ThreadBlockState> threadBlocks() { return blocks; }
  /// Returns the bytes of the arrays that have an element for each step of the program.
  size_t memoryBytes() const {
    size_t steps = 0;
    for (const Rules *rules : {&plain, &mapped})
      steps += rules->asWritten.own.size() + rules->inPlace.own.size();
    return steps * sizeof(core::Transfers::StepTransfer);
  }

  /// Describes which thread block waits for which, if none can step. Lists the cycle first, then other thread blocks,
  /// in at most 16 lines. All ranks must be held.
  std::string explainDeadlock() const;
  /// Describes the thread blocks of `own` that wait for other ranks, in at most 16 lines. `describe` describes another
  /// rank. These ranks must be held.
  std::string explainWaiting(std::span<const uint32_t> own,
                             const std::function<std::string(uint32_t rank)> &describe) const;
  /// Returns the number of messages that all ranks have sent and received.
  uint64_t messagesMoved() const;

private:
  /// Arrays of a rank are allocated in whole cache lines, so that no two ranks write to the same line.
  struct alignas(cacheLine) OperandLine {
    Operand operands[cacheLine / sizeof(Operand)];
  };
  /// An unfinished thread block, and a counter that must reach `least` before the thread block can step; null: unknown.
  struct Pending {
    const std::atomic<uint64_t> *counter = nullptr;
    uint64_t least = 0;
    uint32_t block = 0;
    bool isUnmet() const { return counter && counter->load(std::memory_order_relaxed) < least; }
  };
  struct alignas(cacheLine) PendingLine {
    Pending pending[cacheLine / sizeof(Pending)];
  };
  /// The messages that can skip their slots with this layout, in calls of one kind of placement.
  struct Allowed {
    std::span<const core::Transfers::StepTransfer> steps;
    std::vector<core::Transfers::StepTransfer> own; ///< copy of Transfers::steps() with fewer messages that skip slots
    std::vector<bool> isFetchedFrom; ///< indexed by thread block: its peer fetches messages that it sends
  };
  struct Rules {
    Allowed asWritten, inPlace;
  };
  // NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): fields that other threads read have their own lines
  struct alignas(linePair) RankState {
    // Written by the holder of the rank during a run.
    std::atomic<bool> held{false};
    uint32_t activeCount = 0;
    uint64_t stagedTiles = 0; ///< number of tiles copied so far; `never` if nothing is to be copied

    // Constant during a call. Other ranks read these fields to fetch and store messages.
    alignas(linePair) bool shared = false;            ///< messages can skip their slots
    bool separate = false, streams = false;           ///< see RankMemory
    const Allowed *allowed = nullptr;                 ///< the rules for this call's placement
    const core::Transfers::Staged *toStage = nullptr; ///< slots that are copied tile by tile
    std::byte *staged = nullptr;                      ///< memory of the copies
    size_t stagedTileBytes = 0;
    Operand *operands = nullptr;  ///< input, output and scratch buffers, in the order of Layout::buffers
    std::byte *scratch = nullptr; ///< where the scratch buffers begin
    /// The caller's input if it is not at its place in the output. The first entry uses the input's slot numbers, and
    /// the second entry uses the output's.
    Operand initial[2];
    core::BufferLayout initialLayouts[2];
    Pending *active = nullptr;
    core::Recording *recording = nullptr; ///< null: does not record
    std::span<const bundle::fbs::Wait> waits;
    ThreadBlockState *blocks = nullptr;
  };

  static constexpr uint64_t never = UINT64_MAX;

  const Operand *operand(uint32_t rank, uint8_t buffer, bool initial) const {
    const RankState &state = ranks[rank];
    return initial && state.separate ? &state.initial[buffer] : &state.operands[buffer];
  }
  /// Whether steps record times. It is a template parameter of a whole sweep, so that a sweep without recording has no
  /// extra cost.
  enum class TimeRecording : bool { Off, On };
  template <TimeRecording R>
  bool sweepOnce(RankState &state);
  template <TimeRecording R>
  void stepAndRecord(ThreadBlockState &block);
  Pending pendingOn(const ThreadBlockState &block, Blocked why) const;
  bool isFetchedFrom(const ThreadBlockState &block) const {
    const RankState &rank = ranks[block.rank];
    return rank.shared && rank.allowed->isFetchedFrom[static_cast<size_t>(&block - blocks.data())];
  }
  void allow(const core::Transfers &transfers, bool isMapped, Allowed &allowed) const;
  const Rules &rulesFor(Sharing sharing) const {
    return hasAny(sharing, Sharing::Mapped) && !processes.empty() ? mapped : plain;
  }
  uint64_t messageBytes(const bundle::fbs::Instruction &inst) const;
  uint64_t messageBytes(const bundle::fbs::Instruction &inst, uint64_t tile) const;
  bool betterSentAhead(const core::Transfers::StepTransfer &step, const bundle::fbs::Instruction &inst) const;
  bool betterThroughSharedSlot(uint32_t sender, uint32_t receiver) const;
  bool sameLengths(uint32_t sender, uint32_t receiver) const;
  template <TimeRecording R>
  void move(ThreadBlockState &block, bool ahead);
  bool moveData(const Move &data);
  void setBuffers(uint32_t rank, const RankMemory &memory);
  void setScratch(uint32_t rank, std::byte *scratch);
  int processOf(uint32_t rank) const { return processes.empty() ? 0 : processes[rank]; }
  Side sourceOf(uint32_t step, uint64_t tile) const;
  Side sentFrom(uint32_t step, uint64_t tile) const;
  Side receivedAt(uint32_t step) const;
  std::byte *stagedTile(const RankState &state, uint64_t tile) const {
    return state.staged + tile % layout.stagedTiles() * state.stagedTileBytes;
  }
  bool setStaging(uint32_t rank, const RankMemory &memory);
  void startStaging(uint32_t rank, const RankMemory &memory);
  uint32_t stagingWaitsFor(const RankState &state) const;
  void stageTile(RankState &state);
  const bundle::fbs::Wait *unmetWait(const ThreadBlockState &block) const;
  uint32_t waitsFor(uint32_t block, Blocked reason) const;
  std::string describe(uint32_t block, Blocked reason) const;

  const core::LoadedProgram &loaded;
  const core::Program &prog;
  const core::Layout &layout;
  const std::span<const int> processes;
  const std::atomic<bool> *const ended;
  Mover mover;
  std::atomic<bool> accessFailed{false};
  std::vector<ThreadBlockState> blocks;
  std::span<Fifo> fifos; ///< by connection
  Rules plain, mapped;   ///< `mapped` is empty if all ranks are in this process
  std::unique_ptr<RankState[]> ranks;
  std::vector<OperandLine> operandLines;
  std::vector<PendingLine> activeLines;
};

} // namespace gc3::host
