// SPDX-License-Identifier: Apache-2.0
#include "gc3/IR/InPlace.h"
#include "gc3/Common/StandardCollective.h"

using namespace gc3::ir;

std::optional<Misplaced> gc3::ir::firstMisplaced(const Collective &collective, const std::string &called) {
  if (!collective.inPlace())
    return std::nullopt;
  const common::StandardCollective *standard = common::findStandard(called);
  bool inParts = standard && standard->hasParts();
  for (uint32_t rank = 0; rank != collective.ranks; ++rank) {
    const RankAlias &alias = collective.aliases[rank];
    uint32_t input = collective.size(rank, InputBuffer), output = collective.size(rank, OutputBuffer);
    if (input == 0 || output == 0)
      continue;
    bool inputInside = alias.kind == RankAlias::None ? input <= output : alias.kind == RankAlias::InputInOutput;
    uint64_t begin = inParts ? uint64_t(rank) * std::min(input, output) : 0;
    if (alias.kind == RankAlias::None || alias.offset != begin)
      return Misplaced{rank, inputInside, begin};
  }
  return std::nullopt;
}

std::string gc3::ir::describePlacement(const Collective &collective, const Misplaced &misplaced) {
  const RankAlias &alias = collective.aliases[misplaced.rank];
  std::string outer = misplaced.inputInside ? "its output" : "its input";
  return alias.kind == RankAlias::None ? "apart from " + outer
                                       : "in " + outer + " from chunk " + std::to_string(alias.offset) + " on";
}
