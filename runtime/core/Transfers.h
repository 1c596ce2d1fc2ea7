// SPDX-License-Identifier: Apache-2.0
// Determines which messages of a program can skip the FIFO slot between ranks that share memory, and which data a call
// need not copy first. Both follow from the order of steps in every execution (HappensBefore). They change neither
// results nor dependencies: a send still completes without its receiver.
#pragma once

#include "core/Accesses.h"
#include "core/HappensBefore.h"
#include "core/Program.h"
#include "core/Request.h"

#include <cstdint>
#include <span>
#include <vector>

namespace gc3::core {

/// The path of a message from the sender's memory to the receiver's.
enum class Transfer : uint8_t {
  Slot,  ///< the sender copies it into a FIFO slot, and the receiver reads it there
  Fetch, ///< the receiver reads it in the sender's buffer; nothing overwrites it before
  Store  ///< the sender writes it to the receiver's destination; nothing else accesses that in between
};

class Transfers {
public:
  /// Makes the result of no analysis: all messages go through slots.
  explicit Transfers(const Program &program) : allSteps(program.firstStep(program.ranks())) {}

  /// Analyses calls whose buffers overlap as the program's do, or not at all.
  static Transfers asWritten(const Program &program, const HappensBefore &order);
  /// Analyses calls in place of the collective `standard`, on ranks whose program has separate input and output.
  static Transfers inPlace(const Program &program, const HappensBefore &order,
                           const common::StandardCollective &standard);

  static constexpr uint32_t none = HappensBefore::none;

  /// One step of a rank and its messages.
  struct StepTransfer {
    Transfer out = Transfer::Slot; ///< of the message that this step sends; equal to `in` of the receiving step
    Transfer in = Transfer::Slot;
    uint32_t receiver = none; ///< the step that receives this step's message
    uint32_t sender = none;   ///< the step that sends the message that this step receives
    uint32_t staged = none;   ///< position of this step's source among the staged slots; none: the source is not staged
    bool initialSource = false; ///< reads its source before anything is written there
    bool initialTarget = false; ///< for a reduce: reads its target before anything else is written there
    bool lastWrite = false;     ///< no step reads the target after this step
    /// Whether the destination of a write is in a cache because a step of the rank has used it. Then the write should
    /// not bypass caches. `warmTarget` is for the step's target, `warmStore` for the destination of its stored message.
    /// `first` also counts reads of the caller's data; `second` counts only data that steps have written.
    struct Warm {
      bool first = false, second = false;
    } warmTarget, warmStore;
  };
  std::span<const StepTransfer> steps() const { return allSteps; }

  /// Returns whether any message can skip its slot.
  bool any() const { return anyDirect; }

  /// Returns whether each step of a rank reads either only the caller's data or only data written by steps. Then a call
  /// with two buffers need not copy one into the other. Always false if the rank's input does not lie in the output.
  bool separable(uint32_t rank) const { return rank < separableRank.size() && separableRank[rank]; }
  /// Returns the input slots of such a rank that no step writes.
  std::span<const SlotRange> untouched(uint32_t rank) const {
    return rank < untouchedSlots.size() ? untouchedSlots[rank] : std::span<const SlotRange>();
  }

  /// The input slots that, in calls in place, can be overwritten before a step reads them. The step needs an earlier
  /// copy.
  struct Staged {
    std::vector<SlotRange> runs; ///< ascending, disjoint
    uint32_t slots = 0;          ///< number in all runs
    uint32_t readers = 0;        ///< number of steps that read them
  };
  /// Returns null if calls in place must copy the whole input.
  const Staged *staged(uint32_t rank) const { return rank < stagedSlots.size() ? &stagedSlots[rank] : nullptr; }

private:
  friend class MessageAnalysis;
  friend class InputAnalysis;
  std::vector<StepTransfer> allSteps; ///< by step number (Program::firstStep)
  bool anyDirect = false;
  std::vector<bool> separableRank;
  std::vector<std::vector<SlotRange>> untouchedSlots;
  std::vector<Staged> stagedSlots;
};

} // namespace gc3::core
