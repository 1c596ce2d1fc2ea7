// SPDX-License-Identifier: Apache-2.0
#include "Scopes.h"

#include <cstdlib>
#include <set>

namespace gc3::test {

using kernel::Scope;

Scopes::Scopes(const kernel::KernelArgs &call, uint32_t blocks) : fences(blocks) {
  std::set<const std::byte *> sent, received; // FIFOs whose sending or receiving end is in this launch
  for (uint32_t b = 0; b < blocks; ++b) {
    const kernel::BlockImage &block = call.blocks[b];
    sent.insert(block.out.slots);
    received.insert(block.in.slots);
    hasNetwork |= block.out.network || block.in.network;
  }
  const auto ofPeer = [&](bool isHere) { return isHere && !hasNetwork ? Scope::Gpu : Scope::System; };
  for (uint32_t b = 0; b < blocks; ++b) {
    const kernel::BlockImage &block = call.blocks[b];
    scopes[block.progress + block.block] = Scope::Gpu;
    if (call.running)
      scopes[call.running + b] = Scope::System;
    if (block.out.sent)
      scopes[block.out.arrived] = scopes[block.out.freed] = ofPeer(received.contains(block.out.slots));
    if (block.in.received)
      scopes[block.in.arrived] = scopes[block.in.freed] = ofPeer(sent.contains(block.in.slots));
  }
}

void Scopes::require(const uint64_t *counter, Scope scope) const {
  const auto known = scopes.find(counter);
  if (known == scopes.end() || known->second != scope)
    std::abort(); // an unknown counter, or a scope that is too narrow or too wide
}

void Scopes::requireUsed(uint32_t block) const {
  if (fences[block] == Fence::SystemUnused)
    std::abort(); // the last fence was wider than necessary
}

void Scopes::passed(uint32_t block) {
  requireUsed(block);
  fences[block] = Fence::None;
}

void Scopes::fenced(uint32_t block, Scope scope) {
  requireUsed(block);
  fences[block] = scope == Scope::System ? Fence::SystemUnused : Fence::Gpu;
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
