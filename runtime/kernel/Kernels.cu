// SPDX-License-Identifier: Apache-2.0
// The kernels of one element type, GC3_ELEMENT. Compiling this file once per type lets builds run in parallel and keeps
// each object small. A kernel chooses the operation at run time. Its loops over packs exist once for each operation, so
// they have no branch for this choice.
#include "kernel/Arithmetic.cuh"
#include "kernel/Interpreter.h"
#include "kernel/Kernels.h"
#include "kernel/PtxMachine.cuh"

namespace gc3::kernel {

namespace {

template <Protocol P>
__global__ void __launch_bounds__(mostThreads, 1) interpret(const __grid_constant__ KernelArgs call) {
  __shared__ BlockShared shared;
  PtxMachine machine;
  Interpreter<PtxMachine, Arithmetic<GC3_ELEMENT>, P>(machine, shared, call).run();
}

} // namespace

/// Other files cannot take the address of a kernel template, so this function returns it.
const void *GC3_KERNELS(Protocol protocol) {
  switch (protocol) {
  case Protocol::Simple: return reinterpret_cast<const void *>(&interpret<Protocol::Simple>);
  case Protocol::LL: return reinterpret_cast<const void *>(&interpret<Protocol::LL>);
  case Protocol::LL128: return reinterpret_cast<const void *>(&interpret<Protocol::LL128>);
  }
  return nullptr;
}

} // namespace gc3::kernel
