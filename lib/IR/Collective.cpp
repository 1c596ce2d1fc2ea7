// SPDX-License-Identifier: Apache-2.0
// Queries on collectives.
#include "gc3/IR/Collective.h"

using namespace gc3::ir;

uint64_t Postcondition::contributions(uint32_t v) const {
  uint64_t sum = 0;
  for (uint32_t run = valueBegin[v]; run != valueBegin[v + 1]; ++run)
    sum += runs[run].length;
  return sum;
}

Location gc3::ir::canonical(const Collective &collective, Location location, uint32_t scale) {
  const RankAlias &alias = collective.aliases[location.rank];
  bool moves = (alias.kind == RankAlias::InputInOutput && location.buffer == InputBuffer) ||
               (alias.kind == RankAlias::OutputInInput && location.buffer == OutputBuffer);
  if (!moves)
    return location;
  BufferId container = location.buffer == InputBuffer ? OutputBuffer : InputBuffer;
  return {location.rank, container, location.index + alias.offset * scale};
}
