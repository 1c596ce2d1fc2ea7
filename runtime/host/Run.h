// SPDX-License-Identifier: Apache-2.0
// The state of one program while it runs: its thread blocks as resumable state machines (GC3 section 4.4's interpreter:
// tile loop outside, instruction loop inside) and its FIFOs. A rank is the unit of scheduling: who holds the rank may
// step its thread blocks, which makes everything but the FIFO counters private to the holder. Whoever steps decides the
// order; see Executor and Adversary.
#pragma once

#include "bundle/Opcode.h"
#include "host/Fifo.h"
#include "host/Layout.h"
#include "host/Reduce.h"

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gc3::host {

/// Where one rank's buffers lie. With an alias both pointers are set: the inner one is ignored, its slots are those of
/// the outer.
struct RankMemory {
  std::byte *input = nullptr;
  std::byte *output = nullptr;
};

/// What the next step of a thread block waits for.
enum class Blocked : uint8_t { No, Wait, Message, Slot, Finished };

struct ThreadBlock {
  const bundle::fbs::Instruction *instructions = nullptr;
  uint32_t instructionCount = 0;
  uint32_t rank = 0;
  Fifo *incoming = nullptr;
  Fifo *outgoing = nullptr;
  uint32_t step = 0;
  uint64_t tile = 0;
  uint64_t finishedSteps = 0; ///< over all tiles
};

class Run {
public:
  explicit Run(const Program &program);

  /// Puts every thread block at its first step. `fifoMemory` and `scratchMemory` have the bytes that `layout` names;
  /// `memory` is by rank.
  void start(const Layout &layout, std::span<const RankMemory> memory, std::byte *fifoMemory, std::byte *scratchMemory,
             ReduceKernel kernel);

  const Program &program() const { return prog; }
  bool finished() const { return unfinished.load(std::memory_order_acquire) == 0; }

  /// Holding a rank: everything that earlier holders did is visible. tryHold never waits.
  bool tryHold(uint32_t rank) {
    std::atomic<bool> &held = ranks[rank].held;
    return !held.load(std::memory_order_relaxed) && !held.exchange(true, std::memory_order_acquire);
  }
  void release(uint32_t rank) { ranks[rank].held.store(false, std::memory_order_release); }

  /// Runs each thread block of a held rank until it blocks. Returns whether any made a step.
  bool sweep(uint32_t rank);

  /// One thread block of a held rank.
  Blocked blocked(const ThreadBlock &block) const;
  void step(ThreadBlock &block);

  std::span<ThreadBlock> threadBlocks() { return blocks; }

  /// Who waits for whom, where nothing can move: the cycle first, then further thread blocks, at most 16 lines. All
  /// ranks are held.
  std::string explainDeadlock() const;

private:
  struct alignas(cacheLine) RankState {
    std::atomic<bool> held{false};
    std::vector<uint32_t> active; ///< unfinished thread blocks
    std::span<const bundle::fbs::Wait> waits;
    ThreadBlock *blocks = nullptr;
  };
  struct Operand {
    const BufferLayout *layout;
    std::byte *base;
  };

  void move(const ThreadBlock &block, const bundle::fbs::Instruction &inst, const std::byte *in, std::byte *out);
  void moveRun(bundle::Opcode opcode, std::byte *dst, const std::byte *src, const std::byte *in, std::byte *out,
               uint64_t elements);
  const bundle::fbs::Wait *unmetWait(const ThreadBlock &block) const;
  uint32_t waitsFor(uint32_t block) const;
  std::string describe(uint32_t block) const;

  const Program &prog;
  std::vector<ThreadBlock> blocks;
  std::unique_ptr<Fifo[]> fifos;
  std::unique_ptr<RankState[]> ranks;
  std::vector<Operand> operands; ///< parallel to Layout::buffers
  const Layout *layout = nullptr;
  ReduceKernel reduce = nullptr;
  std::atomic<uint32_t> unfinished{0};
};

} // namespace gc3::host
