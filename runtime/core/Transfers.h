// SPDX-License-Identifier: Apache-2.0
// Which messages of a program may skip the FIFO slot between ranks that share memory, and what a call does not have to
// copy first. Deduced from what happens before what in every execution of the program (HappensBefore), so that it
// changes neither results nor what waits for what: a send still completes without its receiver.
#pragma once

#include "core/Accesses.h"
#include "core/HappensBefore.h"
#include "core/Program.h"
#include "core/Request.h"

#include <cstdint>
#include <span>
#include <vector>

namespace gc3::core {

/// How a message gets from the sender's memory to the receiver's.
enum class Transfer : uint8_t {
  Slot,  ///< the sender copies it into a FIFO slot, the receiver takes it from there
  Fetch, ///< the receiver reads it where the sender has it; nothing overwrites it there before
  Store  ///< the sender writes it where the receiver wants it; nothing is read or written there in between
};

class Transfers {
public:
  /// Nothing known: all messages go through slots.
  explicit Transfers(const Program &program) : allSteps(program.firstStep(program.ranks())) {}

  /// For calls whose buffers lie as the program has them, or apart.
  static Transfers asWritten(const Program &program, const HappensBefore &order);
  /// For calls in place, where the collective is `standard`, of ranks whose input and output are two buffers to the
  /// program.
  static Transfers inPlace(const Program &program, const HappensBefore &order,
                           const common::StandardCollective &standard);

  static constexpr uint32_t none = HappensBefore::none;

  /// One step of a rank, seen from its messages.
  struct StepTransfer {
    Transfer out = Transfer::Slot; ///< of the message it sends; the receiving step has the same as `in`
    Transfer in = Transfer::Slot;
    uint32_t receiver = none;   ///< the step that receives what this one sends
    uint32_t sender = none;     ///< the step that sends what this one receives
    uint32_t staged = none;     ///< where among the staged slots it finds its source; none: where the source is
    bool initialSource = false; ///< reads its source before anything is written there
    bool initialTarget = false; ///< a reduce: reads its destination before anything else is written there
    bool lastWrite = false;     ///< nobody reads its target after it
    /// Its rank has read its target before or in this step, or for a message to be stored: the place where it goes to.
    /// `first` counts what the caller brought there, `second` only what was written since.
    struct Warm {
      bool first = false, second = false;
    } warmTarget, warmStore;
  };
  std::span<const StepTransfer> steps() const { return allSteps; }

  /// Whether any message may skip its slot.
  bool any() const { return anyDirect; }

  /// For ranks whose input lies in the output: whether each step reads either what the caller brought or what was
  /// written since, so that a call with two buffers can do without copying the one into the other.
  bool separable(uint32_t rank) const { return rank < separableRank.size() && separableRank[rank]; }
  /// Input slots of such a rank that nothing writes.
  std::span<const SlotRange> untouched(uint32_t rank) const {
    return rank < untouchedSlots.size() ? untouchedSlots[rank] : std::span<const SlotRange>();
  }

  /// In place: input slots that may be overwritten before a step reads them, so that it needs a copy from before.
  struct Staged {
    std::vector<SlotRange> runs; ///< ascending, disjoint
    uint32_t slots = 0;          ///< of all runs
    uint32_t readers = 0;        ///< steps that read them
  };
  /// Null where calls in place read a copy of the whole input.
  const Staged *staged(uint32_t rank) const { return rank < stagedSlots.size() ? &stagedSlots[rank] : nullptr; }

private:
  friend class MessageAnalysis;
  friend class InputAnalysis;
  std::vector<StepTransfer> allSteps; ///< as Program numbers them
  bool anyDirect = false;
  std::vector<bool> separableRank;
  std::vector<std::vector<SlotRange>> untouchedSlots;
  std::vector<Staged> stagedSlots;
};

} // namespace gc3::core
