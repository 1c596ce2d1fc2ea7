// SPDX-License-Identifier: Apache-2.0
// The order of steps that holds in every execution of a program.
#pragma once

#include "core/Program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace gc3::core {

/// Simulates one execution of the program, without data and with unlimited FIFO slots. Each step gets a vector clock:
/// for each thread block, the number of its steps that have ended when this step ends. The clocks depend only on
/// program order, waits and messages, so the order that they give holds in every execution. The simulation covers one
/// tile. This is enough, because tiles do not overlap: two accesses to the same data belong to the same tile. Steps are
/// numbered as in Program::firstStep. Takes O(steps x thread blocks) time and memory. Does not analyse programs that
/// exceed a limit.
class HappensBefore {
public:
  static constexpr uint32_t none = UINT32_MAX;

  /// `program` must outlive this object.
  explicit HappensBefore(const Program &program);

  /// Returns false if the program deadlocks or is too large to analyse. The other functions must not be called then.
  bool known() const { return isKnown; }

  /// receiver() returns the step that receives the message that `step` sends. sender() returns the step that sends the
  /// message that `step` receives. Both return `none` if there is no such message.
  uint32_t receiver(uint32_t step) const { return receivers[step]; }
  uint32_t sender(uint32_t step) const { return senders[step]; }

  /// Returns whether `a` ends before `b` begins in every execution.
  bool before(uint32_t a, uint32_t b) const {
    return a != b && clocks[size_t{b} * blocks + positions[a].threadBlock] > positions[a].position;
  }
  /// Returns all steps, in the order in which the simulated execution ran them.
  std::span<const uint32_t> sequence() const { return executed; }
  /// Returns whether another step of `rank` ends before `b` begins in every execution.
  bool hasBegunBefore(uint32_t rank, uint32_t b) const;

private:
  struct StepPosition {
    uint32_t threadBlock = 0, position = 0;
  };
  /// The state of the simulated execution.
  struct Progress {
    std::vector<uint32_t> next;                  ///< indexed by thread block: its next step
    std::vector<std::vector<uint32_t>> inFlight; ///< indexed by connection: all steps that have sent, in order
    std::vector<uint32_t> received;              ///< indexed by connection: number of messages received
  };
  bool execute();
  bool executeStep(uint32_t rank, uint32_t threadBlock, Progress &progress);
  void join(uint32_t step, uint32_t earlier);

  const Program &program;
  const uint32_t blocks;
  bool isKnown = false;
  std::vector<uint32_t> clocks;        ///< indexed by step, then thread block
  std::vector<StepPosition> positions; ///< indexed by step
  std::vector<uint32_t> receivers, senders;
  std::vector<uint32_t> executed;
};

} // namespace gc3::core
