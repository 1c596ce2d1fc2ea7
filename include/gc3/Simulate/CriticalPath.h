// SPDX-License-Identifier: Apache-2.0
// Where the time of a simulated call goes: the chain of steps that determines the end of the call.
#pragma once

#include "gc3/Simulate/Simulate.h"

namespace gc3::simulate {

/// A part of the time on the critical path.
enum class PartKind : uint8_t {
  Launch,   ///< before the first step
  Step,     ///< the constant cost of steps
  Prepare,  ///< from a step to the next one of its thread block
  Wait,     ///< from a step to another thread block of its rank
  Latency,  ///< of messages
  Slot,     ///< until the sender notices a free slot
  Queue,    ///< until earlier messages of the connection have left over the network
  Block,    ///< transfers at the speed of a thread block
  Resource, ///< transfers at the speed of a resource
  End       ///< after the last step, until the network has returned all slots
};

struct PathStep {
  uint32_t step; ///< number in the program (core::Program::firstStep)
  uint64_t tile;
  Cause cause;
  double ready, begin, end; ///< microseconds
};

struct PathPart {
  PartKind kind;
  uint32_t resource; ///< of PartKind::Resource, else Fabric::None
  double time;       ///< microseconds
};

struct CriticalPath {
  std::vector<PathStep> steps; ///< in the order of time
  std::vector<PathPart> parts; ///< longest first; their times add up to the prediction's time
};

/// Returns the critical path of a prediction with recorded events. Linear in the events.
CriticalPath criticalPath(const Prediction &prediction);

} // namespace gc3::simulate
