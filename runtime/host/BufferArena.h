// SPDX-License-Identifier: Apache-2.0
// Memory for the buffers of applications (gc3HostMemAlloc) that other processes of the machine can map. So messages
// between processes need no slots and no system calls, as between threads.
//
// Each process has one arena: an anonymous file that it maps whole, with far more addresses than the machine has
// memory. Another process maps the whole file, too, when it first sees a buffer there. So no process needs to know
// which parts are allocated, and parts can be used again. Only allocated parts have pages.
#pragma once

#include "core/Result.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gc3::host {

/// Where a process has its arena. Processes exchange the raw bytes of this struct.
struct ArenaPlace {
  const std::byte *base = nullptr; ///< null: the process has no arena
  uint64_t bytes = 0;
  int32_t descriptor = -1;
  uint32_t unused = 0;

  bool operator==(const ArenaPlace &) const = default;
  bool holds(const void *pointer) const {
    return reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(base) < bytes;
  }
  /// Returns whether the arena has all of these buffers that are not null.
  bool holds(const void *send, const void *recv) const {
    return base && (!send || holds(send)) && (!recv || holds(recv));
  }
};

/// The arena of this process. Thread-safe. After fork(), the child has no arena, and the parent's buffers are ordinary
/// memory that both share.
namespace arena {

/// Returns the address of `bytes` zeros, aligned to a page. gc3SystemError: there is no memory, or the system refuses
/// the file.
core::Result<void *> allocate(size_t bytes);
/// Releases a buffer. gc3InvalidArgument: allocate() has not returned it, or it has been released.
core::Outcome release(void *buffer);
/// Costs one load.
ArenaPlace place() noexcept;

} // namespace arena

/// The mapped arena of another process.
class ArenaView {
public:
  ArenaView() = default;
  /// gc3SystemError: the system refuses it.
  static core::Result<ArenaView> open(int process, const ArenaPlace &place);
  ArenaView(ArenaView &&other) noexcept : theirs(other.theirs), own(other.own) { other.own = nullptr; }
  ArenaView &operator=(ArenaView &&other) noexcept {
    std::swap(theirs, other.theirs);
    std::swap(own, other.own);
    return *this;
  }
  ~ArenaView();

  /// Returns the argument of open().
  const ArenaPlace &place() const { return theirs; }
  /// Returns this process's address of a buffer in the arena; null for null.
  std::byte *at(const void *pointer) const {
    return pointer ? own + (static_cast<const std::byte *>(pointer) - theirs.base) : nullptr;
  }

private:
  ArenaPlace theirs;
  std::byte *own = nullptr; ///< null: not open
};

} // namespace gc3::host
