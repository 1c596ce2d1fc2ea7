// SPDX-License-Identifier: Apache-2.0
// The interpreter's machine whose network is NCCL's GIN. Each GIN call is in a function that is never inlined. GIN
// selects a network at run time, so inlining would add the code for all networks, and the interpreter would spill
// registers.
#pragma once

#include "kernel/PtxMachine.cuh"

#include <nccl_device.h>

namespace gc3::gin {

static_assert(NCCL_VERSION_CODE == GC3_NCCL_VERSION, "the headers are not those of the NCCL that was found");

/// The scope arguments of GIN's put keep their defaults, because their order differs between NCCL 2.28 and 2.30. The
/// caller must execute a fence at system scope before this call.
static __device__ __noinline__ void put(const ncclDevComm &comm, uint32_t peer, const void *window, uint64_t to,
                                        uint64_t from, uint64_t bytes, uint32_t context, uint32_t id) {
  auto *both = static_cast<ncclWindow_t>(const_cast<void *>(window));
  ncclGin(comm, static_cast<int>(context))
      .put(ncclTeamWorld(comm), static_cast<int>(peer), both, to, both, from, bytes, ncclGin_SignalAdd{id, 1});
}

static __device__ __noinline__ void add(const ncclDevComm &comm, uint32_t peer, uint32_t context, uint32_t id,
                                        uint64_t value) {
  ncclGin(comm, static_cast<int>(context))
      .signal(ncclTeamWorld(comm), static_cast<int>(peer), ncclGin_SignalAdd{id, value});
}

static __device__ __noinline__ uint64_t read(const ncclDevComm &comm, uint32_t context, uint32_t id) {
  return ncclGin(comm, static_cast<int>(context)).readSignal(id);
}

class Machine : public kernel::PtxMachine {
public:
  static constexpr bool hasNetwork = true;

  __device__ __forceinline__ explicit Machine(const kernel::KernelArgs &call) : call(call) {}

  __device__ __forceinline__ void put(uint32_t peer, const void *window, uint64_t to, uint64_t from, uint64_t bytes,
                                      kernel::Signal signal) {
    gin::put(comm(), peer, window, to, from, bytes, signal.context, signal.id);
  }
  __device__ __forceinline__ void signal(uint32_t peer, kernel::Signal signal, uint64_t value) {
    gin::add(comm(), peer, signal.context, signal.id, value);
  }
  /// Loads the signal with acquire order at system scope.
  __device__ __forceinline__ uint64_t readSignal(kernel::Signal signal) {
    return gin::read(comm(), signal.context, signal.id);
  }

private:
  /// Returns the device communicator, which is in device memory. Loads its address at each call: an address that stays
  /// in registers would make the kernel spill.
  __device__ __forceinline__ const ncclDevComm &comm() const {
    return *static_cast<const ncclDevComm *>(call.blocks->network);
  }

  const kernel::KernelArgs &call;
};

} // namespace gc3::gin
