// SPDX-License-Identifier: Apache-2.0
// Whether a launch's fences and strong accesses reach as far as they have to, and no further: the whole machine for
// what a peer outside of the launch or the host looks at, the GPU for the rest. It follows from where connections end,
// and aborts where the code does otherwise; also where something is told without a fence behind the last
// barrier, before which other threads may have loaded and stored.
#pragma once

#include "kernel/Image.h"

#include <unordered_map>
#include <vector>

namespace gc3::test {

class Scopes {
public:
  /// Of a launch of so many blocks, whose image is there.
  Scopes(const kernel::KernelArgs &call, uint32_t blocks);

  void acquired(const uint64_t *counter, kernel::Scope scope) const { require(counter, scope); }
  /// A barrier.
  void passed(uint32_t block);
  /// A leader's: one thread of a block.
  void fenced(uint32_t block, kernel::Scope scope);
  void told(uint32_t block, const uint64_t *counter, kernel::Scope scope);
  /// To the network, which reads what is behind a fence for the whole machine.
  void put(uint32_t block);

private:
  /// What a block has done last.
  enum class Fence : uint8_t { None, Gpu, SystemUnused, System };

  void require(const uint64_t *counter, kernel::Scope scope) const;
  void requireUsed(uint32_t block) const;
  void use(uint32_t block, kernel::Scope scope);

  std::unordered_map<const uint64_t *, kernel::Scope> scopes; ///< of all counters that the launch knows
  std::vector<Fence> fences;                                  ///< by block
  /// By block: over a network it gives slots back in batches, so that a fence may have been for none of them.
  std::vector<bool> givesBatches;
  bool hasNetwork = false; ///< all peers are taken to be elsewhere then
};

} // namespace gc3::test
