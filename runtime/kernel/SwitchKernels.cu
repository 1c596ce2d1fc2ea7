// SPDX-License-Identifier: Apache-2.0
// The interpreter kernels for calls over the switch, for the types that the switch reduces. They run under Simple.
#include "kernel/Arithmetic.cuh"
#include "kernel/Interpreter.h"
#include "kernel/Kernels.h"
#include "kernel/PtxMachine.cuh"

namespace gc3::kernel {

namespace {

template <typename T>
__global__ void __launch_bounds__(mostThreads, 1) interpretOverSwitch(const __grid_constant__ KernelArgs call) {
  __shared__ BlockShared shared;
  PtxMachine machine;
  Interpreter<PtxMachine, Arithmetic<T>, Protocol::Simple, true>(machine, shared, call).run();
}

} // namespace

const void *switchKernelFor(core::ElementType type) {
  switch (type) {
  case core::ElementType::Half: return reinterpret_cast<const void *>(&interpretOverSwitch<__half>);
  case core::ElementType::Float: return reinterpret_cast<const void *>(&interpretOverSwitch<float>);
  case core::ElementType::Bfloat16: return reinterpret_cast<const void *>(&interpretOverSwitch<__nv_bfloat16>);
  default: return nullptr;
  }
}

} // namespace gc3::kernel
