// SPDX-License-Identifier: Apache-2.0
// A rank's device communicator of NCCL's GIN, through which its kernels reach ranks of other LSA teams (gin/Plugin.h).
#pragma once

#include "cuda/Resources.h"
#include "gin/Plugin.h"
#include "ncclapi/Nccl.h"

#include <memory>

namespace gc3::comm {

class DeviceComm {
public:
  DeviceComm() = default;
  /// All arguments must outlive this object; `comm` need not after forget().
  DeviceComm(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, const gin::Plugin &part, ncclapi::Comm comm)
      : cuda(&cuda), nccl(&nccl), part(&part), comm(comm) {}
  DeviceComm(DeviceComm &&other) noexcept { *this = std::move(other); }
  DeviceComm &operator=(DeviceComm &&other) noexcept;
  ~DeviceComm();

  /// Allocates memory on the current device.
  core::Outcome reserve();
  /// Creates the device communicator with `signals` signals. All ranks make this call together, with the same number.
  ncclapi::Result create(uint32_t signals);
  /// Copies the device communicator to the GPU. The stream is idle afterwards.
  core::Outcome publish(cuda::Stream stream);

  /// Returns the number of GIN contexts of this rank. Call after publish().
  uint32_t contexts() const { return part->contexts(hostCopy.get()); }
  /// Returns the copy that kernels use.
  const void *onDevice() const { return deviceCopy.get(); }

  /// Keeps the destructor from freeing NCCL's part, which NCCL frees with the communicator.
  void forget() { exists = false; }

private:
  const cuda::Cuda *cuda = nullptr;
  const ncclapi::Nccl *nccl = nullptr;
  const gin::Plugin *part = nullptr;
  ncclapi::Comm comm = nullptr;
  std::unique_ptr<std::byte[]> hostCopy; ///< its address is stable: NCCL can write to it after create() has returned
  cuda::DeviceMemory deviceCopy;
  bool exists = false; ///< NCCL has created the device communicator
};

} // namespace gc3::comm
