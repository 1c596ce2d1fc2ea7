// SPDX-License-Identifier: Apache-2.0
// The kernel of one element type, GC3_ELEMENT, whose messages may go over the network: Simple alone, since flags in the
// data gain nothing there.
#include "cuda/Arithmetic.cuh"
#include "device/Interpreter.h"
#include "gin/Kernels.h"
#include "gin/Machine.cuh"

namespace gc3::gin {

/// A launch is of one rank.
static __global__ void __launch_bounds__(cuda::mostThreads, 1) interpret(const __grid_constant__ device::Call call) {
  __shared__ device::Shared shared;
  Machine machine(call);
  device::Interpreter<Machine, cuda::Arithmetic<GC3_ELEMENT>, device::Protocol::Simple>(machine, shared, call).run();
}

const void *GC3_KERNELS() {
  return reinterpret_cast<const void *>(&interpret);
}

} // namespace gc3::gin
