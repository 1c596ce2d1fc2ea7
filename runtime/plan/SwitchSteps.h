// SPDX-License-Identifier: Apache-2.0
// The steps of a program that a switch can execute (docs/direct.md). A switch accesses the outputs of all ranks of a
// team at once. It can load the reduction of a slot, and store a slot to all of them.
//
// The program, its waits and its messages stay the same. But a chain of steps that reduces a slot of all outputs
// becomes one load in the chain's last step. If the ranks then store the result in one slot of all outputs, this
// becomes one store in the same step. All messages that only served the chain or the stores carry no data, and remain
// as signals.
#pragma once

#include "core/HappensBefore.h"
#include "kernel/OpcodeFlags.h"

#include <span>
#include <vector>

namespace gc3::plan {

class SwitchSteps {
public:
  /// No step uses the switch.
  SwitchSteps() = default;

  /// Analyses a program whose ranks each have a launch. `teams` has the team of each rank. No step uses the switch if a
  /// rank's output lies in its input, or if the analysis would be too expensive.
  static SwitchSteps find(const core::Program &program, const core::HappensBefore &order,
                          std::span<const uint32_t> teams);

  /// How a step moves its data.
  enum class Data : uint8_t {
    Ordinary, ///< as without a switch
    Nothing,  ///< the step moves no data
    Arrived,  ///< the switch has stored the step's value in its target; if the step sends data, it sends it from there
    Reduced,  ///< the step's value is the reduction of a slot of all outputs, which the switch loads
    Shared    ///< like Reduced, and the step stores the value over the switch in its target of all outputs
  };
  struct Step {
    Data data = Data::Ordinary;
    bool sendsData = true; ///< if the step sends: the message carries data
    uint32_t from = 0;     ///< for Reduced and Shared: the first slot of the outputs that the switch loads
  };

  /// Returns true if a step uses the switch.
  bool any() const { return !steps.empty(); }
  const Step &of(uint32_t step) const { return steps[step]; }

private:
  friend class SwitchAnalysis;
  std::vector<Step> steps; ///< indexed by step; empty if no step uses the switch
};

} // namespace gc3::plan
