// SPDX-License-Identifier: Apache-2.0
#include "Scopes.h"

#include <algorithm>
#include <set>

namespace gc3::test {

using kernel::Scope;

Scopes::Scopes(const kernel::KernelArgs &call, kernel::Protocol protocol, uint32_t blocks)
    : fences(blocks), protocol(protocol), stop(call.stop) {
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
      addConnection(block.out.arrived, block.out.freed, ofPeer(received.contains(block.out.slots)));
    if (block.in.received)
      addConnection(block.in.arrived, block.in.freed, ofPeer(sent.contains(block.in.slots)));
  }
  addExtents(call, blocks);
}

/// Adds the counters of a connection; null if the network counts.
void Scopes::addConnection(const uint64_t *arrived, const uint64_t *freed, Scope scope) {
  for (const uint64_t *counter : {arrived, freed})
    if (counter)
      scopes[counter] = scopes[counter + kernel::announcementWord] = scope;
}

void Scopes::addExtents(const kernel::KernelArgs &call, uint32_t blocks) {
  for (const auto &[counter, scope] : scopes)
    extents.push_back({reinterpret_cast<uintptr_t>(counter), reinterpret_cast<uintptr_t>(counter + 1), false});
  extents.push_back({reinterpret_cast<uintptr_t>(stop), reinterpret_cast<uintptr_t>(stop + 1), false});
  const uint64_t bytes = call.slots * call.slotBytes;
  for (uint32_t b = 0; b < blocks && protocol != kernel::Protocol::Simple; ++b)
    for (const std::byte *slots : {static_cast<const std::byte *>(call.blocks[b].out.slots), call.blocks[b].in.slots})
      if (const auto begin = reinterpret_cast<uintptr_t>(slots); begin != 0)
        extents.push_back({begin, begin + bytes, true});
  std::sort(extents.begin(), extents.end(), [](const Extent &a, const Extent &b) { return a.begin < b.begin; });
}

/// Returns the extent that overlaps an access, or null. Extents are equal or disjoint.
const Scopes::Extent *Scopes::extentAt(const void *at, uint32_t bytes) const {
  const auto begin = reinterpret_cast<uintptr_t>(at);
  const auto after =
      std::partition_point(extents.begin(), extents.end(), [&](const Extent &extent) { return extent.end <= begin; });
  return after != extents.end() && after->begin < begin + bytes ? &*after : nullptr;
}

void Scopes::weak(const void *at, uint32_t bytes) const {
  if (const Extent *extent = extentAt(at, bytes))
    throw Violation(extent->isMessage ? "a weak access to a message with flags"
                                      : "a weak access to a counter or to the stop word");
}

void Scopes::line(const void *at, kernel::Protocol of) const {
  const Extent *extent = extentAt(at, sizeof(kernel::Pack));
  if (protocol != of || !extent || !extent->isMessage)
    throw Violation("an access to a line of a message that is not there");
}

void Scopes::stopWord(const uint32_t *at) const {
  if (at != stop)
    throw Violation("this address is not that of the stop word");
}

void Scopes::require(const uint64_t *counter, Scope scope) const {
  const auto known = scopes.find(counter);
  if (known == scopes.end())
    throw Violation("an access to an unknown counter");
  if (known->second != scope)
    throw Violation("the scope is too narrow or too wide for this counter");
}

void Scopes::requireUsed(uint32_t block) const {
  if (fences[block] == Fence::SystemUnused)
    throw Violation("the block's last fence was wider than necessary");
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
    throw Violation("no fence since the block's last barrier: another thread could see this value before the data");
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
