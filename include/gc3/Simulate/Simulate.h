// SPDX-License-Identifier: Apache-2.0
// Predicts the time of a call of a program on a topology (docs/simulation.md).
#pragma once

#include "gc3/Simulate/Fabric.h"
#include "plan/Geometry.h"

#include <string>
#include <vector>

namespace gc3::simulate {

/// A call of a program. `program` must outlive the simulation.
struct Call {
  const core::Program &program;
  plan::SlotSizes slots;
  uint64_t count = 0; ///< elements per block
  uint32_t elementBytes = 4;
};

/// What a step waited for last before it began.
enum class Cause : uint8_t {
  Launch,  ///< the call began
  Order,   ///< the earlier step of its thread block
  Wait,    ///< a step of another thread block of its rank
  Message, ///< the step that sent its message
  Slot     ///< the step that received an earlier message and freed a slot
};

/// One step in one tile. Times are microseconds since the call began.
struct Event {
  static constexpr uint64_t NoEvent = UINT64_MAX;

  double ready = 0; ///< all that the step waits for has happened
  double begin = 0; ///< the step begins to move data
  double end = 0;
  uint64_t causedBy = 0;     ///< Events number of the step that it waited for; not used for Cause::Launch
  uint64_t sentBy = NoEvent; ///< event of the step that sent its message
  Cause cause = Cause::Launch;
  bool awaitsEnd = false; ///< LL, LL128: its message ended after its own transfer; the step ends with the message
  uint32_t limiter = Fabric::None;    ///< resource that restricted its transfer longest; None: the thread block itself
  double putBegin = 0, putEnd = 0;    ///< of the transfer of its message over a network; 0: none
  uint32_t putLimiter = Fabric::None; ///< like `limiter`, for that transfer
};

/// The steps of all tiles. Event number tile * steps + s belongs to step s of the program (core::Program::firstStep).
struct Events {
  uint64_t steps = 0, tiles = 0;
  std::vector<Event> all;
  uint64_t last = 0; ///< the call ends with this event, or with its message over a network
};

struct Prediction {
  double time = 0; ///< microseconds from the launch to the end of the last thread block
  uint64_t tiles = 0;
  uint64_t instructions = 0;      ///< steps of all ranks * tiles
  uint32_t threadBlocks = 0;      ///< of all ranks
  uint32_t simulatedBlocks = 0;   ///< thread blocks that were simulated; each stands for all with equal histories
  std::vector<double> bytesMoved; ///< by resource of the fabric
  Events events;                  ///< empty unless requested
};

struct Options {
  /// Thread blocks with equal histories are simulated once, unless events are recorded.
  bool useSymmetry = true;
  /// Computes all rates anew after each change. Otherwise, changes that reach many transfers may take effect a little
  /// later. With equal histories simulated once, few changes reach many transfers.
  bool isExact = false;
  bool recordEvents = false;
  /// If events are recorded, the largest number of steps in all tiles. An event takes 72 bytes.
  uint64_t mostEvents = uint64_t(64) << 20;
};

/// Simulates the call. Returns an empty string, or the reason why there is no prediction: no link leads from a sender
/// to its receiver, the program has another number of ranks than the topology, a buffer exceeds the address space, the
/// program deadlocks, the time is not a finite number, or there are more events than `options` permits.
std::string simulate(const Call &call, const Fabric &fabric, const Options &options, Prediction &prediction);

} // namespace gc3::simulate
