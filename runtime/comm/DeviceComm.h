// SPDX-License-Identifier: Apache-2.0
// A rank's device communicator of NCCL's GIN: its kernels reach ranks of other LSA teams through it (gin/Plugin.h).
#pragma once

#include "cuda/Resources.h"
#include "gin/Plugin.h"
#include "ncclapi/Nccl.h"

#include <memory>

namespace gc3::comm {

class DeviceComm {
public:
  DeviceComm() = default;
  /// All must outlive this object, the communicator unless forget() is called.
  DeviceComm(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, const gin::Plugin &part, ncclapi::Comm comm)
      : cuda(&cuda), nccl(&nccl), part(&part), comm(comm) {}
  DeviceComm(DeviceComm &&other) noexcept { *this = std::move(other); }
  DeviceComm &operator=(DeviceComm &&other) noexcept;
  ~DeviceComm();

  /// Allocates memory on the current device.
  core::Outcome reserve();
  /// Creates it with `signals` signals. All ranks do so together, with the same number.
  ncclapi::Result create(uint32_t signals);
  /// Copies what NCCL has created to the device; the stream is idle afterwards.
  core::Outcome publish(cuda::Stream stream);

  /// After publish(): GIN contexts of this rank.
  uint32_t contexts() const { return part->contexts(hostCopy.get()); }
  /// The copy that kernels use.
  const void *onDevice() const { return deviceCopy.get(); }

  /// NCCL frees its part with the communicator.
  void forget() { exists = false; }

private:
  const cuda::Cuda *cuda = nullptr;
  const ncclapi::Nccl *nccl = nullptr;
  const gin::Plugin *part = nullptr;
  ncclapi::Comm comm = nullptr;
  std::unique_ptr<std::byte[]> hostCopy; ///< does not move: NCCL can fill it in after create() has returned
  cuda::DeviceMemory deviceCopy;
  bool exists = false; ///< NCCL has created it
};

} // namespace gc3::comm
