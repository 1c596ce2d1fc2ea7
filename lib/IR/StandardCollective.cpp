// SPDX-License-Identifier: Apache-2.0
#include "gc3/IR/StandardCollective.h"

using namespace gc3;
using namespace gc3::ir;

using Buffer = StandardCollective::Buffer;

const StandardCollective *gc3::ir::findStandard(llvm::StringRef name) {
  static constexpr StandardCollective all[] = {{"allreduce", Buffer::Block, Buffer::Block},
                                               {"allgather", Buffer::Block, Buffer::BlockPerRank},
                                               {"reduce_scatter", Buffer::BlockPerRank, Buffer::Block},
                                               {"alltoall", Buffer::BlockPerRank, Buffer::BlockPerRank},
                                               {"broadcast", Buffer::BlockOnRoot, Buffer::Block},
                                               {"reduce", Buffer::Block, Buffer::BlockOnRoot},
                                               {"gather", Buffer::Block, Buffer::BlockPerRankOnRoot},
                                               {"scatter", Buffer::BlockPerRankOnRoot, Buffer::Block}};
  const auto *found = llvm::find_if(all, [&](const StandardCollective &one) { return one.name == name; });
  return found == std::end(all) ? nullptr : found;
}

std::optional<uint32_t> StandardCollective::rootOf(const Collective &collective) const {
  if (!hasRoot())
    return std::nullopt;
  const std::vector<uint8_t> &owners = isOnRoot(input) ? collective.hasInput : collective.hasOutput;
  auto owner = llvm::find(owners, 1);
  return owner == owners.end() ? std::nullopt : std::optional(static_cast<uint32_t>(owner - owners.begin()));
}
