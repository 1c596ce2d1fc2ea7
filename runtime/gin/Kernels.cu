// SPDX-License-Identifier: Apache-2.0
// The interpreter kernel whose messages can use the network, for one element type (GC3_ELEMENT). Supports only Simple:
// the protocols with flags in the data have no advantage over a network.
#include "gin/Kernels.h"
#include "gin/Machine.cuh"
#include "kernel/Arithmetic.cuh"
#include "kernel/Interpreter.h"

namespace gc3::gin {

/// A launch runs one rank.
static __global__ void __launch_bounds__(kernel::mostThreads, 1)
    interpret(const __grid_constant__ kernel::KernelArgs call) {
  __shared__ kernel::BlockShared shared;
  Machine machine(call);
  kernel::Interpreter<Machine, kernel::Arithmetic<GC3_ELEMENT>, kernel::Protocol::Simple>(machine, shared, call).run();
}

const void *GC3_KERNELS() {
  return reinterpret_cast<const void *>(&interpret);
}

} // namespace gc3::gin
