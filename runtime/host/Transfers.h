// SPDX-License-Identifier: Apache-2.0
// Which messages of a program may skip the FIFO slot between ranks that share memory. Deduced from what happens before
// what in every execution of the program, so that it changes neither results nor what waits for what: a send still
// completes without its receiver.
#pragma once

#include "host/Program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace gc3::host {

/// How a message gets from the sender's memory to the receiver's.
enum class Transfer : uint8_t {
  Slot,  ///< the sender copies it into a FIFO slot, the receiver takes it from there
  Fetch, ///< the receiver reads it where the sender has it; nothing overwrites it there before
  Store  ///< the sender writes it where the receiver wants it; nothing is read or written there in between
};

class Transfers {
public:
  explicit Transfers(const Program &program);

  static constexpr uint32_t none = UINT32_MAX;

  /// One step of a rank, seen from its messages. Steps are numbered over all ranks.
  struct Step {
    Transfer out = Transfer::Slot; ///< of the message it sends; the receiving step has the same as `in`
    Transfer in = Transfer::Slot;
    uint32_t receiver = none;   ///< the step that receives what this one sends
    uint32_t sender = none;     ///< the step that sends what this one receives
    bool initialSource = false; ///< reads its source before anything is written there
    bool lastWrite = false;     ///< nobody reads its target after it
    /// Its rank has read its target before or in this step, or for a message to be stored: the place where it goes to.
    /// `first` counts what the caller brought there, `second` only what was written since.
    struct Warm {
      bool first = false, second = false;
    } warmTarget, warmStore;
    bool initialTarget = false; ///< a reduce: reads its destination before anything else is written there
  };
  std::span<const Step> steps() const { return allSteps; }
  /// Number of rank r's first step; r may be the number of ranks.
  uint32_t firstStep(uint32_t r) const { return first[r]; }
  /// The rank of a step.
  uint32_t rankOf(uint32_t number) const { return ranks[number]; }

  struct SlotRun {
    uint32_t begin, count;
  };
  /// For ranks whose input lies in the output: whether each step reads either what the caller brought or what was
  /// written since, so that a call with two buffers can do without copying the one into the other.
  bool separable(uint32_t rank) const { return separableRank[rank]; }
  /// Input slots of such a rank that nothing writes.
  const std::vector<SlotRun> &untouched(uint32_t rank) const { return untouchedSlots[rank]; }

  /// Whether any message may skip its slot.
  bool any() const { return anyDirect; }

private:
  friend class TransferAnalysis;
  std::vector<Step> allSteps;
  std::vector<uint32_t> first, ranks;
  std::vector<bool> separableRank;
  std::vector<std::vector<SlotRun>> untouchedSlots;
  bool anyDirect = false;
};

} // namespace gc3::host
