// SPDX-License-Identifier: Apache-2.0
// Checks that each fence and strong access of a launch has exactly the required scope. Memory that the host or a peer
// outside of the launch accesses requires system scope. All other memory requires GPU scope. The two ends of a
// connection show whether the peer is in the launch. Throws a Violation on a wrong scope. Also throws if a block
// publishes a value without a fence since its last barrier. Only such a fence covers the loads and stores that other
// threads of the block made before the barrier. Also checks the kind of each access to memory that other blocks write:
// to counters, to messages with flags, and to the stop word.
#pragma once

#include "kernel/Image.h"

#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace gc3::test {

/// An access or fence that the memory model, or a rule of gc3, forbids. A thread of the emulated GPU does not catch it,
/// so it ends the process.
class Violation : public std::logic_error {
  using std::logic_error::logic_error;
};

class Scopes {
public:
  /// Reads the image of a launch of `blocks` blocks.
  Scopes(const kernel::KernelArgs &call, kernel::Protocol protocol, uint32_t blocks);

  /// Checks that a plain load or store accesses no counter, no message with flags, and not the stop word.
  void weak(const void *at, uint32_t bytes) const;
  /// Checks that an access of a line of `of` is in a message, and that the launch uses this protocol.
  void line(const void *at, kernel::Protocol of) const;
  /// Checks that a thread loads the stop word of the launch.
  void stopWord(const uint32_t *at) const;
  void acquired(const uint64_t *counter, kernel::Scope scope) const { require(counter, scope); }
  /// Notes that a block has passed a barrier.
  void passed(uint32_t block);
  /// Notes a fence of the block's leader.
  void fenced(uint32_t block, kernel::Scope scope);
  void published(uint32_t block, const uint64_t *counter, kernel::Scope scope);
  /// Checks a put or signal. The network reads memory, so the block must have executed a fence of system scope before.
  void put(uint32_t block);

private:
  /// The last fence of a block since its last barrier. SystemUnused: a fence of system scope, after which the block has
  /// published nothing at that scope.
  enum class Fence : uint8_t { None, Gpu, SystemUnused, System };

  /// The place of a counter, of the stop word, or of a connection's messages with flags.
  struct Extent {
    uintptr_t begin, end;
    bool isMessage;
  };

  void addConnection(const uint64_t *arrived, const uint64_t *freed, kernel::Scope scope);
  void addExtents(const kernel::KernelArgs &call, uint32_t blocks);
  const Extent *extentAt(const void *at, uint32_t bytes) const;
  void require(const uint64_t *counter, kernel::Scope scope) const;
  void requireUsed(uint32_t block) const;
  void use(uint32_t block, kernel::Scope scope);

  std::unordered_map<const uint64_t *, kernel::Scope> scopes; ///< required scope of each counter of the launch
  std::vector<Fence> fences;                                  ///< for each block
  std::vector<Extent> extents;                                ///< sorted
  const kernel::Protocol protocol;
  const uint32_t *const stop;
  bool hasNetwork = false; ///< whether any connection uses the network; then all peers count as outside of the launch
};

} // namespace gc3::test
