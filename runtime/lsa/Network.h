// SPDX-License-Identifier: Apache-2.0
// A rank's device communicator, by which its kernels reach ranks of other LSA teams (gin/Part.h).
#pragma once

#include "cuda/Resources.h"
#include "gin/Part.h"
#include "ncclapi/Nccl.h"

#include <memory>

namespace gc3::lsa {

class Network {
public:
  Network() = default;
  Network(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, const gin::Part &part, ncclapi::Comm comm)
      : cuda(&cuda), nccl(&nccl), part(&part), comm(comm) {}
  Network(Network &&other) noexcept { *this = std::move(other); }
  Network &operator=(Network &&other) noexcept;
  ~Network(); ///< nothing uses it any more

  /// Takes the memory.
  core::Outcome reserve();
  /// All ranks do so together, with as many signals, in one group of NCCL's for all ranks of the thread.
  core::Outcome create(uint32_t signals);
  /// When that group has ended: `created` says how. Copies it to the device, if that is the current one as `onDevice`
  /// says; the stream is idle after that.
  core::Outcome complete(const core::Outcome &created, const core::Outcome &onDevice, cuda::Stream stream);

  /// Once complete; those of this rank.
  uint32_t contexts() const { return part->contexts(hostCopy.get()); }
  /// The copy that kernels use.
  const void *onDevice() const { return deviceCopy.get(); }

  /// NCCL may have freed the communicator: nothing of it is touched from here on, and the memory stays taken.
  void abandon() { exists = false, deviceCopy.abandon(); }

private:
  const cuda::Cuda *cuda = nullptr;
  const ncclapi::Nccl *nccl = nullptr;
  const gin::Part *part = nullptr;
  ncclapi::Comm comm = nullptr;
  std::unique_ptr<std::byte[]> hostCopy; ///< stays where it is: NCCL fills it in when the group ends
  cuda::DeviceMemory deviceCopy;
  bool exists = false;
};

} // namespace gc3::lsa
