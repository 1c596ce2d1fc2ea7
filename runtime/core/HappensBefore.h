// SPDX-License-Identifier: Apache-2.0
// What happens before what in every execution of a program.
#pragma once

#include "core/Program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace gc3::core {

/// Runs the program once, without data, with as many slots as it likes, and gives every step a vector clock: how many
/// steps of each thread block are over when it is. What the clocks order is ordered in every execution, since they
/// follow only program order, waits and messages. Tiles of a slot are disjoint, so one tile speaks for all.
/// Steps are numbered as in Program::firstStep. O(steps x thread blocks) time and memory, with a limit.
class HappensBefore {
public:
  static constexpr uint32_t none = UINT32_MAX;

  /// The program has to stay.
  explicit HappensBefore(const Program &program);

  /// False where the program comes to a stop, or is too large to know: nothing else may be asked then.
  bool known() const { return isKnown; }

  /// The step that receives what this one sends, or sends what this one receives; or none.
  uint32_t receiver(uint32_t step) const { return receivers[step]; }
  uint32_t sender(uint32_t step) const { return senders[step]; }

  /// Whether `a` is over when `b` begins.
  bool before(uint32_t a, uint32_t b) const {
    return a != b && clocks[size_t{b} * blocks + places[a].threadBlock] > places[a].position;
  }
  /// Whether some step of `rank` is over when `b` begins.
  bool begunBefore(uint32_t rank, uint32_t b) const;

private:
  struct StepPosition {
    uint32_t threadBlock = 0, position = 0;
  };
  /// How far the one execution is.
  struct Progress {
    std::vector<uint32_t> next;                  ///< by thread block
    std::vector<std::vector<uint32_t>> inFlight; ///< by connection: all sending steps so far, in order
    std::vector<uint32_t> taken;                 ///< by connection: how many of them have been received
  };
  bool execute();
  bool executeStep(uint32_t rank, uint32_t threadBlock, Progress &progress);
  void join(uint32_t step, uint32_t earlier);

  const Program &program;
  const uint32_t blocks;
  bool isKnown = false;
  std::vector<uint32_t> clocks;     ///< by step, then thread block
  std::vector<StepPosition> places; ///< by step
  std::vector<uint32_t> receivers, senders;
};

} // namespace gc3::core
