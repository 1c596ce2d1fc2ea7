// SPDX-License-Identifier: Apache-2.0
// The functions of libgc3gin.so, except its kernels. They call NCCL only through pointers: calls by name could load
// another NCCL than the one in use.
#include "gin/Plugin.h"

#include "cuda/Launch.h"
#include "gc3.h"
#include "gin/Kernels.h"

#include <nccl_device.h>

#include <iterator>

namespace gc3::gin {

static_assert(NCCL_VERSION_CODE == GC3_NCCL_VERSION, "the headers are not those of the NCCL that was found");

namespace {

/// Returns the requirements for a device communicator with `signals` signals, numbered from 0. If `signals` is 0, the
/// device communicator has no GIN. Requests all signals in this one struct, because NCCL loses the signals of structs
/// in its lists of requirements.
ncclDevCommRequirements requirementsOf(uint32_t signals) {
#ifdef NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER
  ncclDevCommRequirements requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
#else
  ncclDevCommRequirements requirements{};
#endif
  if (signals == 0)
    return requirements;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 29, 7)
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
#else
  requirements.ginForceEnable = true;
#endif
  requirements.ginSignalCount = static_cast<int>(signals);
  return requirements;
}

ncclapi::Result create(ncclapi::signature::DevCommCreate *function, ncclapi::Comm comm, uint32_t signals,
                       void *deviceComm) {
  const ncclDevCommRequirements requirements = requirementsOf(signals);
  return function(comm, &requirements, deviceComm);
}

ncclapi::Result destroy(ncclapi::signature::DevCommDestroy *function, ncclapi::Comm comm, const void *deviceComm) {
  return function(comm, deviceComm);
}

uint32_t contexts(const void *deviceComm) {
  return static_cast<const ncclDevComm *>(deviceComm)->ginContextCount;
}

const void *kernel(core::ElementType type, kernel::Protocol protocol) {
  static constexpr const void *(*kernels[])() = {kernelInt8,   kernelUint8,    kernelInt32,   kernelUint32,
                                                 kernelInt64,  kernelUint64,   kernelHalf,    kernelFloat,
                                                 kernelDouble, kernelBfloat16, kernelFp8e4m3, kernelFp8e5m2};
  static_assert(std::size(kernels) == core::elementTypeCount);
  return protocol == kernel::Protocol::Simple ? kernels[static_cast<size_t>(type)]() : nullptr;
}

constexpr Plugin plugin{
    .gc3 = GC3_VERSION,
    .nccl = NCCL_VERSION_CODE,
    .commBytes = sizeof(ncclDevComm),
    .create = create,
    .destroy = destroy,
    .contexts = contexts,
    .interpreters = {kernel, cuda::occupancy, cuda::launch},
};

} // namespace

} // namespace gc3::gin

extern "C" const gc3::gin::Plugin *gc3GinPlugin() {
  return &gc3::gin::plugin;
}
