// SPDX-License-Identifier: Apache-2.0
// Kernels of the fake CUDA. A launch names a kernel by an address from here. Also implements, on the host, the kernels
// that copy before or after the interpreter.
#pragma once

#include "core/Factor.h"
#include "cuda/Cuda.h"
#include "kernel/Image.h"

namespace gc3::test {

/// A kernel. `type` and `protocol` distinguish kernels of one kind.
struct Kernel {
  enum class Kind : uint8_t { Interpreter, NetworkInterpreter, SwitchInterpreter, Multiply, Divide, Clock } kind;
  core::ElementType type;
  kernel::Protocol protocol;
};

/// Returns the address by which launches name the kernel `wanted`. Each kernel has exactly one address.
const Kernel *kernel(const Kernel &wanted);

// Functions for the table of CUDA functions:
const void *interpreter(core::ElementType type, kernel::Protocol protocol);
const void *switchInterpreter(core::ElementType type);
const void *multiply(core::ElementType type);
const void *divide(core::ElementType type);
const void *clockKernel();

/// Arguments of the kernels Multiply and Divide.
struct MoveArguments {
  std::byte *to;
  const std::byte *from;
  uint64_t elements;
  core::Factor factor;    ///< for Multiply only
  uint32_t contributions; ///< for Divide only
};

/// Copies the arguments of a launch, as CUDA does.
MoveArguments argumentsOf(const cuda::Launch &launch);
/// Runs the kernel: its PTX if the environment variable EMULATED_PTX is set, else a function of the host.
void move(const Kernel &kernel, const MoveArguments &of);

} // namespace gc3::test
