// SPDX-License-Identifier: Apache-2.0
// What stands for kernels in the fake CUDA, and what those around the interpreter do.
#pragma once

#include "core/Factor.h"
#include "cuda/Cuda.h"
#include "kernel/Image.h"

namespace gc3::test {

/// What stands for a kernel.
struct Kernel {
  enum class Kind : uint8_t { Interpreter, NetworkInterpreter, Multiply, Divide, Clock } kind;
  core::ElementType type;
  kernel::Protocol protocol;
};

/// One address for each.
const Kernel *kernel(const Kernel &wanted);

// As in the table of CUDA functions:
const void *interpreter(core::ElementType type, kernel::Protocol protocol);
const void *multiply(core::ElementType type);
const void *divide(core::ElementType type);
const void *clockKernel();

/// What the kernels around the interpreter are launched with.
struct MoveArguments {
  std::byte *to;
  const std::byte *from;
  uint64_t elements;
  core::Factor factor;    ///< of Multiply
  uint32_t contributions; ///< of Divide
};

/// Arguments are copied, as CUDA does.
MoveArguments argumentsOf(const cuda::Launch &launch);
void move(const Kernel &kernel, const MoveArguments &of);

} // namespace gc3::test
