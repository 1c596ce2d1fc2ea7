// SPDX-License-Identifier: Apache-2.0
// Owners of CUDA resources. Errors while releasing a resource are ignored, because no caller could handle them.
#pragma once

#include "cuda/Cuda.h"

#include <utility>
#include <vector>

namespace gc3::cuda {

/// Makes `device` the thread's current device. The destructor restores the previous device, and logs an error if that
/// fails.
class OnDevice {
public:
  OnDevice(const Cuda &cuda, int device);
  ~OnDevice();
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;
  const core::Outcome &outcome() const { return result; }

private:
  const Cuda &cuda;
  int before = -1; ///< -1: nothing to restore
  core::Outcome result;
};

/// Owns one CUDA resource, which the table's function `Release` releases.
template <typename Handle, Result (*Cuda::*Release)(Handle)>
class Owned {
public:
  Owned() = default;
  Owned(const Cuda &owner, Handle acquired) : cuda(&owner), handle(acquired) {}
  Owned(Owned &&other) noexcept : cuda(other.cuda), handle(std::exchange(other.handle, nullptr)) {}
  Owned &operator=(Owned &&other) noexcept {
    std::swap(cuda, other.cuda);
    std::swap(handle, other.handle);
    return *this;
  }
  ~Owned() {
    if (handle)
      (cuda->*Release)(handle);
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
core::Result<OwnEvent> createTimedEvent(const Cuda &cuda);

/// Memory that grows by allocating a larger segment. Earlier segments are kept as long as this object, because running
/// kernels and captured graphs can use their addresses. Each segment is at least as large as the call needs, and twice
/// as large as the previous segment if there is enough memory.
template <typename Memory, core::Result<Memory> (*allocateMemory)(const Cuda &, size_t, const std::string &)>
class GrowingMemory {
public:
  bool holds(size_t bytes) const { return bytes <= size; }
  core::Outcome grow(const Cuda &cuda, size_t bytes);
  std::byte *data() const { return segments.empty() ? nullptr : static_cast<std::byte *>(segments.back().get()); }

private:
  std::vector<Memory> segments;
  size_t size = 0; ///< size of the last segment
};

/// Memory for the scratch buffers and private copies of one call at a time.
///
/// The size depends on the placement of one rank's buffers, which other ranks do not know. If this rank's call failed,
/// the other ranks would wait for it. So if the GPU has no memory left, for example because the application's allocator
/// holds all of it, this class uses host memory. The call is then slow, but runs.
class CallMemory {
public:
  explicit CallMemory(const Cuda &cuda) : cuda(cuda) {}
  /// Returns `bytes` bytes for the next call. Can return null for 0 bytes.
  core::Result<std::byte *> reserve(size_t bytes);

private:
  const Cuda &cuda;
  GrowingMemory<DeviceMemory, allocate> onGpu;
  GrowingMemory<PinnedMemory, allocatePinned> onHost;
};

} // namespace gc3::cuda
