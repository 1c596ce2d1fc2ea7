// SPDX-License-Identifier: Apache-2.0
// The division of bounds among their shares, step by step. A bound over links of several ranks is no capacity of an
// arc. With a fixed division each share is one, so the network is a plain flow again. The minimum cut then shows which
// shares need more.
#pragma once

#include "StepGraph.h"

namespace gc3::flow {

class Shares {
public:
  /// Divides each bound evenly. A share that lost the remainder of one step gets it in a later step.
  Shares(const StepGraph &graph, const std::vector<uint32_t> &rounds);

  uint32_t of(uint32_t step, uint32_t share) const { return chunks[step][share]; }

  /// The state of a share in a step after a maximum flow.
  struct Use {
    bool isCrossing = false; ///< the share crosses the minimum cut
    uint32_t chunks = 0;     ///< flow over the share
  };

  /// Moves capacity to shares that cross the minimum cut from other shares of the same bounds: all that is unused, and
  /// at most `lacking` chunks that are in use. `uses` has all shares by step. Returns false if nothing can move.
  bool shift(const std::vector<std::vector<Use>> &uses, uint64_t lacking);

private:
  uint64_t move(uint32_t step, uint32_t bound, const std::vector<Use> &uses, bool onlyUnused, uint64_t most);

  const std::vector<uint32_t> rounds;
  std::vector<uint64_t> bandwidth;             ///< by share: of its arc, per round
  std::vector<std::vector<uint32_t>> sharesOf; ///< by divided bound
  std::vector<std::vector<uint32_t>> chunks;   ///< by step, by share
  size_t turn = 0;                             ///< where shift() begins, so that all steps lose capacity in use
};

} // namespace gc3::flow
