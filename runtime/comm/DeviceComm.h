// SPDX-License-Identifier: Apache-2.0
// A rank's device communicator for NCCL's GIN. Through it, the rank's kernels reach ranks of other LSA teams
// (gin/Plugin.h).
#pragma once

#include "cuda/Resources.h"
#include "gin/Plugin.h"
#include "ncclapi/Nccl.h"

#include <memory>

namespace gc3::comm {

class DeviceComm {
public:
  DeviceComm() = default;
  /// All arguments must outlive this object. `comm` may end earlier, if forget() is called before the destructor.
  DeviceComm(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, const gin::Plugin &part, ncclapi::Comm comm)
      : cuda(&cuda), nccl(&nccl), part(&part), comm(comm) {}
  DeviceComm(DeviceComm &&other) noexcept { *this = std::move(other); }
  DeviceComm &operator=(DeviceComm &&other) noexcept;
  ~DeviceComm();

  /// Allocates memory for the device communicator, on the host and on the current device.
  core::Outcome reserve();
  /// Creates the device communicator with `signals` signals. All ranks must make this call together, with the same
  /// `signals`.
  ncclapi::Result create(uint32_t signals);
  /// Copies the device communicator to the GPU. Waits until the stream is idle.
  core::Outcome publish(cuda::Stream stream);

  /// Returns the number of GIN contexts of this rank. Call after publish().
  uint32_t contexts() const { return part->contexts(hostCopy.get()); }
  /// Returns the copy in device memory, which kernels use.
  const void *onDevice() const { return deviceCopy.get(); }

  /// Prevents the destructor from calling NCCL. Call this after NCCL has freed `comm`, and the device communicator with
  /// it.
  void forget() { exists = false; }

private:
  const cuda::Cuda *cuda = nullptr;
  const ncclapi::Nccl *nccl = nullptr;
  const gin::Plugin *part = nullptr;
  ncclapi::Comm comm = nullptr;
  /// On the heap, so that its address is stable: NCCL can write to it after create() has returned.
  std::unique_ptr<std::byte[]> hostCopy;
  cuda::DeviceMemory deviceCopy;
  bool exists = false; ///< NCCL has created the device communicator
};

} // namespace gc3::comm
