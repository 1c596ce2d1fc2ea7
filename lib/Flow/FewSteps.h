// SPDX-License-Identifier: Apache-2.0
// Looks for the fewest steps with a given number of rounds in all.
#pragma once

#include "Layers.h"
#include <functional>

namespace gc3::flow {

/// Steps that bring all chunks to the root.
struct Plan {
  std::vector<uint32_t> rounds;
  std::vector<std::vector<Load>> loads; ///< by step
};

struct FewSteps {
  std::optional<Plan> plan;
  uint32_t least = 0; ///< no plan with this number of rounds has fewer steps
};

/// Tries numbers of steps from `least` to `most`. Each number has a limit on attempts, so the plan can have more steps
/// than necessary; it has the fewest if its number of steps is `least` of the result. Returns no plan if none is found.
/// `stops` is called before each attempt.
FewSteps fewSteps(Layers &layers, uint32_t rounds, uint32_t least, uint32_t most, const std::function<bool()> &stops);

} // namespace gc3::flow
