// SPDX-License-Identifier: Apache-2.0
// Kernels of the fake CUDA: identities that launches pass, and host implementations of the kernels that copy around the
// interpreter.
#pragma once

#include "core/Factor.h"
#include "cuda/Cuda.h"
#include "kernel/Image.h"

namespace gc3::test {

/// Identifies a kernel.
struct Kernel {
  enum class Kind : uint8_t { Interpreter, NetworkInterpreter, Multiply, Divide, Clock } kind;
  core::ElementType type;
  kernel::Protocol protocol;
};

/// Returns the address that represents `wanted`. Each kernel has exactly one address.
const Kernel *kernel(const Kernel &wanted);

// Functions for the table of CUDA functions:
const void *interpreter(core::ElementType type, kernel::Protocol protocol);
const void *multiply(core::ElementType type);
const void *divide(core::ElementType type);
const void *clockKernel();

/// Arguments of the kernels Multiply and Divide.
struct MoveArguments {
  std::byte *to;
  const std::byte *from;
  uint64_t elements;
  core::Factor factor;    ///< of Multiply
  uint32_t contributions; ///< of Divide
};

/// Copies the arguments of a launch, as CUDA does.
MoveArguments argumentsOf(const cuda::Launch &launch);
void move(const Kernel &kernel, const MoveArguments &of);

} // namespace gc3::test
