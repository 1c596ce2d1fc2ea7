// SPDX-License-Identifier: Apache-2.0
// What has to be given back to CUDA, by owners. Giving back can't fail in a way that anyone could act on.
#pragma once

#include "cuda/Cuda.h"

#include <utility>
#include <vector>

namespace gc3::cuda {

/// Makes a device the thread's current one, and takes that back; if it can't, it says so on standard error.
class OnDevice {
public:
  OnDevice(const Cuda &cuda, int device);
  ~OnDevice();
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;
  const core::Outcome &outcome() const { return result; }

private:
  const Cuda &cuda;
  int before = -1; ///< -1: nothing to take back
  core::Outcome result;
};

/// One thing that CUDA hands out, and the function of the table that takes it back.
template <typename Handle, Result (*Cuda::*GiveBack)(Handle)>
class Owned {
public:
  Owned() = default;
  Owned(const Cuda &owner, Handle taken) : cuda(&owner), handle(taken) {}
  Owned(Owned &&other) noexcept : cuda(other.cuda), handle(std::exchange(other.handle, nullptr)) {}
  Owned &operator=(Owned &&other) noexcept {
    std::swap(cuda, other.cuda);
    std::swap(handle, other.handle);
    return *this;
  }
  ~Owned() {
    if (handle)
      (cuda->*GiveBack)(handle);
  }
  Handle get() const { return handle; }

private:
  const Cuda *cuda = nullptr;
  Handle handle = nullptr;
};

using DeviceMemory = Owned<void *, &Cuda::release>;
using PinnedMemory = Owned<void *, &Cuda::releasePinned>;
using OwnStream = Owned<Stream, &Cuda::destroyStream>;
using OwnEvent = Owned<Event, &Cuda::destroyEvent>;

core::Result<DeviceMemory> allocate(const Cuda &cuda, size_t bytes, const std::string &what);
core::Result<PinnedMemory> allocatePinned(const Cuda &cuda, size_t bytes, const std::string &what);
core::Result<OwnEvent> createEvent(const Cuda &cuda);

/// Memory that grows. Pieces that it has outgrown stay until the end: kernels on their way, and graphs that were
/// captured, may know them. Each is at least as large as a call needs, and twice as large as the last if there is room.
template <typename Memory, core::Result<Memory> (*allocateMemory)(const Cuda &, size_t, const std::string &)>
class Pieces {
public:
  bool holds(size_t bytes) const { return bytes <= size; }
  core::Outcome grow(const Cuda &cuda, size_t bytes);
  std::byte *data() const { return pieces.empty() ? nullptr : static_cast<std::byte *>(pieces.back().get()); }

private:
  std::vector<Memory> pieces;
  size_t size = 0; ///< of the last
};

/// Scratch and private copies of calls, one call at a time.
///
/// What a call needs depends on where one rank's buffers lie, so other ranks can't know of it, and wait for that rank
/// if it does not make the call. So what the GPU has no room for, as where an application's allocator has taken it all,
/// lies in the host's memory: slow, but no rank is missing.
class CallMemory {
public:
  explicit CallMemory(const Cuda &cuda) : cuda(cuda) {}
  /// So many bytes for the next call; null for none.
  core::Result<std::byte *> reserve(size_t bytes);

private:
  const Cuda &cuda;
  Pieces<DeviceMemory, allocate> onGpu;
  Pieces<PinnedMemory, allocatePinned> onHost;
};

} // namespace gc3::cuda
