// SPDX-License-Identifier: Apache-2.0
// The state of one program while it runs: its thread blocks as resumable state machines (GC3 section 4.4's interpreter:
// tile loop outside, instruction loop inside) and its FIFOs. A rank is the unit of scheduling: who holds the rank may
// step its thread blocks, which makes everything but the FIFO counters private to the holder. Whoever steps decides the
// order; see Executor and Adversary.
// FIFOs carry on from one call to the next, so that a rank may begin its next call while others are in this one.
#pragma once

#include "core/Layout.h"
#include "core/Timeline.h"
#include "gc3/Common/Opcode.h"
#include "host/Fifo.h"
#include "host/Mover.h"
#include "host/Staging.h"

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gc3::host {

/// What the next step of a thread block waits for. Reader: it has no more steps, but a message has still to be fetched
/// from its rank's memory. Staging: the copies of its tile have no room yet.
enum class Blocked : uint8_t { No, Staging, Wait, Message, Slot, Reader, Finished };

struct alignas(cacheLine) ThreadBlockState {
  const bundle::fbs::Instruction *instructions = nullptr;
  uint32_t instructionCount = 0;
  uint32_t firstStep = 0; ///< its number in Program
  uint32_t rank = 0;
  uint32_t sends = 0; ///< messages of a tile
  Fifo *incoming = nullptr;
  Fifo *outgoing = nullptr;
  uint32_t step = 0;
  uint64_t tile = 0;
  std::atomic<uint64_t> finishedSteps{0}; ///< over all tiles; its rank's, as all of this
};

class Run {
public:
  /// All of it has to stay. `fifoMemory` and `scratchMemory` have the bytes that `layout` names.
  Run(const core::LoadedProgram &program, const core::Layout &layout, ReduceKernel kernel, std::byte *fifoMemory,
      std::byte *scratchMemory);

  const core::Program &program() const { return prog; }

  /// Holding a rank: everything that earlier holders did is visible. tryHold never waits.
  bool tryHold(uint32_t rank) {
    std::atomic<bool> &held = ranks[rank].held;
    return !held.load(std::memory_order_relaxed) && !held.exchange(true, std::memory_order_acquire);
  }
  void release(uint32_t rank) { ranks[rank].held.store(false, std::memory_order_release); }

  /// Puts the thread blocks of a held rank at their first step, for buffers at `memory`. What they do is noted in
  /// `recording`, unless that is null.
  void start(uint32_t rank, const RankMemory &memory, core::Recording *recording = nullptr);
  /// From now on messages may skip their slots, until the next start: all ranks have started, and all allow `sharing`.
  void shareMemory(uint32_t rank, Sharing sharing) {
    ranks[rank].shared = true;
    ranks[rank].allowed = (sharing & Sharing::AsWritten) != Sharing::None ? &asWritten : &inPlace;
  }

  /// Runs the thread blocks of a held rank until all block. Returns whether any made a step.
  bool sweep(uint32_t rank);
  /// Only the sends that each thread block of a held rank begins with, into slots: all that may be done before it is
  /// known that the other ranks have made the same call. Where messages may come to skip their slots, as one of `kinds`
  /// has it, only those that never do.
  void sendAhead(uint32_t rank, Sharing kinds);
  /// The others have sent ahead to this held rank.
  void expectMessages(uint32_t rank) const;
  /// No thread block of a held rank has anything left to do.
  bool finished(uint32_t rank) const { return ranks[rank].activeCount == 0; }

  /// One thread block of a held rank.
  Blocked blocked(const ThreadBlockState &block) const;
  void step(ThreadBlockState &block);

  std::span<ThreadBlockState> threadBlocks() { return blocks; }
  /// Memory that grows with the program's steps.
  size_t memoryBytes() const {
    return (asWritten.own.size() + inPlace.own.size()) * sizeof(core::Transfers::StepTransfer);
  }

  /// Who waits for whom, where nothing can move: the cycle first, then further thread blocks, at most 16 lines. All
  /// ranks are held.
  std::string explainDeadlock() const;

private:
  /// Arrays that differ from rank to rank are cut from whole lines, so that no two ranks write to one.
  struct alignas(cacheLine) OperandLine {
    Operand operands[cacheLine / sizeof(Operand)];
  };
  /// An unfinished thread block, and a counter that has to come to `least` before it can do anything; null: unknown.
  struct Pending {
    const std::atomic<uint64_t> *counter = nullptr;
    uint64_t least = 0;
    uint32_t block = 0;
    bool stands() const { return counter && counter->load(std::memory_order_relaxed) < least; }
  };
  struct alignas(cacheLine) PendingLine {
    Pending pending[cacheLine / sizeof(Pending)];
  };
  /// What the steps of a call of one kind of placement may do with this layout.
  struct Allowed {
    std::span<const core::Transfers::StepTransfer> steps;
    std::vector<core::Transfers::StepTransfer> own; ///< less than Transfers allows
    std::vector<bool> lends;                        ///< by thread block: others fetch what it sends
  };
  // NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): what others look at is on lines of its own
  struct alignas(linePair) RankState {
    // What whoever holds the rank changes while it runs.
    std::atomic<bool> held{false};
    uint32_t activeCount = 0;
    uint64_t stagedTiles = 0; ///< so many tiles have been copied; `never` where there is nothing to copy

    // What stays during a call: others look at it for what they fetch and store.
    alignas(linePair) bool shared = false;            ///< messages may skip their slots
    bool separate = false, streams = false;           ///< see RankMemory
    const Allowed *allowed = nullptr;                 ///< what holds for this call
    const core::Transfers::Staged *toStage = nullptr; ///< what is copied tile by tile
    std::byte *staged = nullptr;                      ///< the copies
    size_t stagedTileBytes = 0;
    Operand *operands = nullptr; ///< input, output, scratch buffers, as in Layout::buffers
    /// What the caller brought, where it is not in its place in the output, as the input's slots are numbered and as
    /// the output's are.
    Operand initial[2];
    core::BufferLayout initialLayouts[2];
    Pending *active = nullptr;
    core::Recording *recording = nullptr; ///< null: nothing is recorded
    std::span<const bundle::fbs::Wait> waits;
    ThreadBlockState *blocks = nullptr;
  };

  static constexpr uint64_t never = UINT64_MAX;

  const Operand *operand(uint32_t rank, uint8_t buffer, bool initial) const {
    const RankState &state = ranks[rank];
    return initial && state.separate ? &state.initial[buffer] : &state.operands[buffer];
  }
  /// What steps do beside their work; chosen for a whole sweep, so that it costs nothing where nothing is recorded.
  enum class Noting : bool { Nothing, Times };
  template <Noting N>
  bool sweepOnce(RankState &state);
  template <Noting N>
  void stepNoting(ThreadBlockState &block);
  Pending pendingOn(const ThreadBlockState &block, Blocked why) const;
  bool lends(const ThreadBlockState &block) const {
    const RankState &rank = ranks[block.rank];
    return rank.shared && rank.allowed->lends[static_cast<size_t>(&block - blocks.data())];
  }
  void allow(const core::Transfers &transfers, Allowed &allowed) const;
  bool betterSentAhead(const core::Transfers::StepTransfer &step, const bundle::fbs::Instruction &inst) const;
  bool sameLengths(uint32_t sender, uint32_t receiver) const;
  template <Noting N>
  void move(ThreadBlockState &block, bool ahead);
  Side sourceOf(uint32_t step, uint64_t tile) const;
  Side sentFrom(uint32_t step, uint64_t tile) const;
  Side receivedAt(uint32_t step) const;
  std::byte *stagedTile(const RankState &state, uint64_t tile) const {
    return state.staged + tile % layout.stagedTiles() * state.stagedTileBytes;
  }
  void startStaging(uint32_t rank, const RankMemory &memory);
  uint32_t stagingWaitsFor(const RankState &state) const;
  void stageTile(RankState &state);
  const bundle::fbs::Wait *unmetWait(const ThreadBlockState &block) const;
  uint32_t waitsFor(uint32_t block) const;
  std::string describe(uint32_t block) const;

  const core::LoadedProgram &loaded;
  const core::Program &prog;
  const core::Layout &layout;
  Mover mover;
  std::vector<ThreadBlockState> blocks;
  Allowed asWritten, inPlace;
  std::unique_ptr<Fifo[]> fifos;
  std::unique_ptr<RankState[]> ranks;
  std::vector<OperandLine> operandLines;
  std::vector<PendingLine> activeLines;
};

} // namespace gc3::host
