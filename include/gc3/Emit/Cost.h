// SPDX-License-Identifier: Apache-2.0
// GC3-IR → counts that determine the time of a program on any machine, and lower bounds for every program of the
// collective. Counts are in slots: in a call of n bytes, a slot has n / slotsOfCall bytes.
#pragma once

#include "gc3/IR/GC3IR.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace gc3::emit {

/// The work of one rank. Slots in and out are those of messages from and to other ranks.
struct RankCost {
  uint32_t threadBlocks = 0;
  uint64_t steps = 0;
  uint64_t messagesOut = 0;
  uint64_t slotsOut = 0;
  uint64_t messagesIn = 0;
  uint64_t slotsIn = 0;
  bool operator==(const RankCost &) const = default;
};

/// What every program of a collective needs, on every network.
struct CostBounds {
  uint32_t messages = 0;  ///< messages on the longest path: 1 if some output needs data of another rank, else 0
  uint64_t slotsSent = 0; ///< slots that all ranks send together
  std::vector<uint64_t> slotsOut, slotsIn; ///< by rank
};

struct Cost {
  uint64_t slotsOfCall = 0; ///< slots of the larger of one rank's input and output
  uint32_t channels = 0;    ///< number of channels with a message
  std::vector<RankCost> ranks;
  /// The longest chains of steps that depend on each other by order, waits and messages: the most messages on a chain,
  /// and the most steps. Free FIFO slots do not count.
  uint32_t pathMessages = 0;
  uint32_t pathSteps = 0;
  std::optional<CostBounds> bounds; ///< nothing if their computation would take too long

  uint64_t slotsSent() const;
};

/// Returns the costs of a program that Verify has accepted. Linear in its steps and waits, and in the contributions of
/// the postcondition.
Cost costOf(const ir::Program &program);

/// Returns lower bounds for the collective, with `subdivision` slots in a chunk. Returns nothing if the postcondition
/// has more than 2^26 contributions.
std::optional<CostBounds> costBounds(const ir::Collective &collective, uint32_t subdivision);

/// Writes the costs of programs as a table for each, or as one JSON object; docs/tuning.md describes both.
void writeCosts(llvm::raw_ostream &out, const std::vector<ir::Program> &programs);
void writeCostsAsJson(llvm::raw_ostream &out, const std::vector<ir::Program> &programs);

} // namespace gc3::emit
