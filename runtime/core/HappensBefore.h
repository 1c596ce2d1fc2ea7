// SPDX-License-Identifier: Apache-2.0
// The order of steps that holds in every execution of a program.
#pragma once

#include "core/Program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace gc3::core {

/// Runs the program once, without data and with unlimited FIFO slots, and gives every step a vector clock: the number
/// of steps of each thread block that have ended when the step ends. Clocks follow only program order, waits and
/// messages, so their order holds in every execution. Tiles of a slot are disjoint, so the order for one tile holds for
/// all. Steps are numbered as in Program::firstStep. O(steps x thread blocks) time and memory, with a limit.
class HappensBefore {
public:
  static constexpr uint32_t none = UINT32_MAX;

  /// `program` must outlive this object.
  explicit HappensBefore(const Program &program);

  /// Returns false if the program deadlocks or is too large to analyse. The other functions must not be called then.
  bool known() const { return isKnown; }

  /// Return the step that receives the message of `step`, or the step that sends the message that `step` receives; or
  /// none.
  uint32_t receiver(uint32_t step) const { return receivers[step]; }
  uint32_t sender(uint32_t step) const { return senders[step]; }

  /// Returns whether `a` ends before `b` begins.
  bool before(uint32_t a, uint32_t b) const {
    return a != b && clocks[size_t{b} * blocks + positions[a].threadBlock] > positions[a].position;
  }
  /// Returns whether some other step of `rank` ends before `b` begins.
  bool hasBegunBefore(uint32_t rank, uint32_t b) const;

private:
  struct StepPosition {
    uint32_t threadBlock = 0, position = 0;
  };
  /// The progress of the one execution.
  struct Progress {
    std::vector<uint32_t> next;                  ///< by thread block: its next step
    std::vector<std::vector<uint32_t>> inFlight; ///< by connection: all sending steps so far, in order
    std::vector<uint32_t> received;              ///< by connection: number of those messages that were received
  };
  bool execute();
  bool executeStep(uint32_t rank, uint32_t threadBlock, Progress &progress);
  void join(uint32_t step, uint32_t earlier);

  const Program &program;
  const uint32_t blocks;
  bool isKnown = false;
  std::vector<uint32_t> clocks;        ///< by step, then thread block
  std::vector<StepPosition> positions; ///< by step
  std::vector<uint32_t> receivers, senders;
};

} // namespace gc3::core
