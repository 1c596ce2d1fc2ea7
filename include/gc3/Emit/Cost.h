// SPDX-License-Identifier: Apache-2.0
// GC3-IR → counts that determine the time of a program on any machine, and lower bounds for every program of the
// collective. Counts are in slots: in a call of n bytes, a slot has n / slotsOfCall bytes.
#pragma once

#include "gc3/IR/GC3IR.h"
#include "llvm/ADT/STLFunctionalExtras.h"
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
  /// Nothing if their computation would take too long, or if the collective promises nothing, as in a file without a
  /// promise.
  std::optional<CostBounds> bounds;

  uint64_t slotsSent() const;
};

/// Returns the costs of a program that Verify has accepted. Linear in its steps and waits, and in the contributions of
/// the postcondition.
Cost costOf(const ir::Program &program);

/// Returns lower bounds for the collective, with `subdivision` slots in a chunk. Returns nothing if the postcondition
/// has more than 2^26 contributions.
std::optional<CostBounds> costBounds(const ir::Collective &collective, uint32_t subdivision);

/// The slots that the program sends from one rank to another.
struct Traffic {
  uint32_t from, to;
  uint64_t slots;
};
/// Returns the traffic of each thread block that sends. Several thread blocks can send between the same ranks.
std::vector<Traffic> trafficOf(const ir::Program &program);

/// Returns the largest sum of latencies over the messages of a chain of dependent steps. `latency` returns that of a
/// message between two ranks, and is called once for each thread block that receives.
double longestPath(const ir::Program &program, llvm::function_ref<double(uint32_t from, uint32_t to)> latency);

/// Times on a machine. The caller knows the machine and computes them.
struct MachineCost {
  std::string machine;
  ir::Protocol protocol = ir::Protocol::Simple; ///< under which the runtime runs the program on the machine
  std::string whySimple;                        ///< why this is not the program's own protocol; empty if it is
  double latency = 0;                           ///< microseconds of the longest path
  double perMegabyte = 0; ///< microseconds for a million bytes of the call, in the busiest part of the machine
  std::string busiest;    ///< name of this part; empty if no part limits the program
  std::optional<double> leastLatency, leastPerMegabyte; ///< bounds for every program; nothing if unknown
};
using MachineCosts = llvm::function_ref<MachineCost(const ir::Program &, const Cost &)>;

/// Writes the costs of programs as a table for each, or as one JSON object; docs/tuning.md describes both. `onMachine`
/// is null if the machine is unknown.
void writeCosts(llvm::raw_ostream &out, const std::vector<ir::Program> &programs, MachineCosts onMachine = nullptr);
void writeCostsAsJson(llvm::raw_ostream &out, const std::vector<ir::Program> &programs,
                      MachineCosts onMachine = nullptr);

} // namespace gc3::emit
