// SPDX-License-Identifier: Apache-2.0
// Reads the GPU's clock, with which the interpreter records the times of steps.
#include "kernel/Kernels.h"

namespace gc3::kernel {

static __global__ void readClock(uint64_t *time) {
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(*time)::"memory");
}

const void *clockKernel() {
  return reinterpret_cast<const void *>(&readClock);
}

} // namespace gc3::kernel
