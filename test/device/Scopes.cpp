// SPDX-License-Identifier: Apache-2.0
#include "Scopes.h"

#include <cstdlib>
#include <set>

namespace gc3::test {

using kernel::Scope;

Scopes::Scopes(const kernel::KernelArgs &call, uint32_t blocks) : fences(blocks), returnsBatches(blocks) {
  std::set<const std::byte *> sent, received; // FIFOs whose sending or receiving end is in this launch
  const auto each = [&](auto visit) {
    for (uint32_t b = 0; b < blocks; ++b) {
      const kernel::RankImage &rank = call.ranks[call.assignments[b].rank];
      visit(b, rank, rank.blocks[call.assignments[b].block]);
    }
  };
  each([&](uint32_t b, const kernel::RankImage &rank, const kernel::ThreadBlockImage &block) {
    if (block.outgoing != kernel::none) {
      sent.insert(rank.sends[block.outgoing].slots);
      hasNetwork |= rank.sends[block.outgoing].network != kernel::none;
    }
    if (block.incoming != kernel::none) {
      received.insert(rank.receives[block.incoming].slots);
      returnsBatches[b] = rank.receives[block.incoming].network != kernel::none;
      hasNetwork |= returnsBatches[b];
    }
  });
  const auto ofPeer = [&](bool isHere) { return isHere && !hasNetwork ? Scope::Gpu : Scope::System; };
  each([&](uint32_t b, const kernel::RankImage &rank, const kernel::ThreadBlockImage &block) {
    scopes[rank.progress + call.assignments[b].block] = Scope::Gpu;
    if (call.running)
      scopes[call.running + b] = Scope::System;
    if (block.outgoing != kernel::none) {
      const kernel::SendEnd &end = rank.sends[block.outgoing];
      scopes[end.arrived] = scopes[end.freed] = ofPeer(received.contains(end.slots));
    }
    if (block.incoming != kernel::none) {
      const kernel::ReceiveEnd &end = rank.receives[block.incoming];
      scopes[end.arrived] = scopes[end.freed] = ofPeer(sent.contains(end.slots));
    }
  });
}

void Scopes::require(const uint64_t *counter, Scope scope) const {
  const auto known = scopes.find(counter);
  if (known == scopes.end() || known->second != scope)
    std::abort(); // an unknown counter, or a scope that is too narrow or too wide
}

void Scopes::requireUsed(uint32_t block) const {
  if (fences[block] == Fence::SystemUnused && !returnsBatches[block])
    std::abort(); // the last fence was wider than necessary
}

/// If a block returns slots in batches, its fence stays valid after the barrier. At the end of a call, the block
/// returns the last batch without a further fence.
void Scopes::passed(uint32_t block) {
  requireUsed(block);
  if (!returnsBatches[block])
    fences[block] = Fence::None;
}

void Scopes::fenced(uint32_t block, Scope scope) {
  requireUsed(block);
  if (scope == Scope::System)
    fences[block] = Fence::SystemUnused;
  else if (!returnsBatches[block] || fences[block] == Fence::None)
    fences[block] = Fence::Gpu; // otherwise the batch still needs the earlier fence, which can have system scope
}

void Scopes::use(uint32_t block, Scope scope) {
  Fence &fence = fences[block];
  if (fence == Fence::None || (scope == Scope::System && fence == Fence::Gpu))
    std::abort(); // another thread could see the published value before the data
  if (scope == Scope::System)
    fence = Fence::System;
}

void Scopes::published(uint32_t block, const uint64_t *counter, Scope scope) {
  require(counter, scope);
  use(block, scope);
}

void Scopes::put(uint32_t block) {
  use(block, Scope::System);
}

} // namespace gc3::test
