// SPDX-License-Identifier: Apache-2.0
// If ranks share memory, some messages of a program can skip the FIFO slot, and a call need not copy all data of the
// caller. This file determines these messages and data, from the order of steps that holds in every execution
// (HappensBefore). Skipping slots and copies changes neither results nor dependencies: a send still completes without
// its receiver.
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
  Fetch, ///< the receiver reads it from the sender's buffer; no step overwrites it before that read
  Store  ///< the sender writes it to the receiver's destination; no step accesses the destination meanwhile
};

class Transfers {
public:
  /// Creates the result for a program that is not analysed: all messages use slots.
  explicit Transfers(const Program &program) : allSteps(program.firstStep(program.ranks())) {}

  /// Analyses calls whose buffers do not overlap, or overlap as the program's buffers do.
  static Transfers asWritten(const Program &program, const HappensBefore &order);
  /// Analyses calls in place of the collective `standard`, on ranks whose program has separate input and output.
  static Transfers inPlace(const Program &program, const HappensBefore &order,
                           const common::StandardCollective &standard);

  static constexpr uint32_t none = HappensBefore::none;

  /// The results for one step and its messages.
  struct StepTransfer {
    Transfer out = Transfer::Slot; ///< path of the message that this step sends; equal to `in` of the receiving step
    Transfer in = Transfer::Slot;  ///< path of the message that this step receives
    uint32_t receiver = none;      ///< the step that receives this step's message
    uint32_t sender = none;        ///< the step that sends the message that this step receives
    uint32_t staged = none; ///< position of this step's source among the staged slots; none: the source is not staged
    bool initialSource = false; ///< the step reads its source before any step writes there
    bool initialTarget = false; ///< for a reduce: the step reads its target before any other step writes there
    bool lastWrite = false;     ///< no step reads the target after this step
    /// Whether the destination of a write is in a cache, so that the write should not bypass the caches. `warmTarget`
    /// is for the step's target, `warmStore` for the destination of the message that the step stores. `first` is true
    /// if the rank has read the destination. `second` is true if a step has written it. `second` applies to calls that
    /// read the caller's data in a separate buffer (RankMemory::separate), because those reads do not load the
    /// destination into a cache.
    struct Warm {
      bool first = false, second = false;
    } warmTarget, warmStore;
  };
  std::span<const StepTransfer> steps() const { return allSteps; }

  /// Returns whether any message can skip its slot.
  bool any() const { return anyDirect; }

  /// Returns whether each step of a rank reads either only the caller's data or only data that steps have written. Then
  /// a call with two buffers need not copy the input into the output, except the slots of untouched(). Always false if
  /// the rank's input does not lie in the output.
  bool separable(uint32_t rank) const { return rank < separableRank.size() && separableRank[rank]; }
  /// Returns the input slots that no step writes. Returns no slots if separable(rank) is false.
  std::span<const SlotRange> untouched(uint32_t rank) const {
    return rank < untouchedSlots.size() ? untouchedSlots[rank] : std::span<const SlotRange>();
  }

  /// The input slots that a call in place can overwrite before a step reads them. The rank copies these slots first,
  /// and the step reads the copy.
  struct Staged {
    std::vector<SlotRange> runs; ///< ascending, disjoint
    uint32_t slots = 0;          ///< number of slots in all runs
    uint32_t readers = 0;        ///< number of steps that read them
  };
  /// Returns null if calls in place must copy the whole input.
  const Staged *staged(uint32_t rank) const { return rank < stagedSlots.size() ? &stagedSlots[rank] : nullptr; }

private:
  friend class MessageAnalysis;
  friend class InputAnalysis;
  std::vector<StepTransfer> allSteps; ///< indexed by step number (Program::firstStep)
  bool anyDirect = false;
  std::vector<bool> separableRank;
  std::vector<std::vector<SlotRange>> untouchedSlots;
  std::vector<Staged> stagedSlots;
};

} // namespace gc3::core
