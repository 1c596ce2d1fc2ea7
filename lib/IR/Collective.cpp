// SPDX-License-Identifier: Apache-2.0
// Queries on collectives.
#include "gc3/IR/Collective.h"
#include "gc3/Common/StandardCollective.h"
#include <algorithm>

using namespace gc3::ir;

uint64_t Postcondition::contributions(uint32_t v) const {
  uint64_t sum = 0;
  for (uint32_t run = valueBegin[v]; run != valueBegin[v + 1]; ++run)
    sum += runs[run].length;
  return sum;
}

std::string gc3::ir::describeValue(const Postcondition &post, uint32_t value) {
  uint64_t count = post.contributions(value);
  std::string text = count == 1 ? "" : "the reduction of " + std::to_string(count) + " chunks: ";
  uint64_t shown = 0;
  for (uint32_t run = post.valueBegin[value]; run < post.valueBegin[value + 1]; ++run) {
    for (uint32_t i = 0; i < post.runs[run].length; ++i) {
      if (shown++ == 4)
        return text + ", ...";
      const Run &r = post.runs[run];
      text += (shown == 1 ? "input(" : ", input(") + std::to_string(r.rank + int64_t(i) * r.rankStride) + ", " +
              std::to_string(r.index + int64_t(i) * r.indexStride) + ")";
    }
  }
  return text;
}

bool Collective::inPlace() const {
  return std::any_of(aliases.begin(), aliases.end(),
                     [](const RankAlias &alias) { return alias.kind != RankAlias::None; });
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

std::optional<uint32_t> gc3::ir::rootOf(const common::StandardCollective &standard, const Collective &collective) {
  if (!standard.hasRoot())
    return std::nullopt;
  const std::vector<uint8_t> &owners = isOnRoot(standard.input) ? collective.hasInput : collective.hasOutput;
  auto owner = llvm::find(owners, 1);
  return owner == owners.end() ? std::nullopt : std::optional(static_cast<uint32_t>(owner - owners.begin()));
}
