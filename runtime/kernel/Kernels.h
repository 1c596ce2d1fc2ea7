// SPDX-License-Identifier: Apache-2.0
// The addresses of the kernels, for launches. An interpreter kernel has one argument, a KernelArgs.
#pragma once

#include "core/Element.h"
#include "kernel/Image.h"

namespace gc3::kernel {

/// The largest number of threads in a block. Kernels use so many registers per thread that such a block fills an SM.
inline constexpr uint32_t mostThreads = 512;

/// Returns the kernel for a type and a protocol. A program that only copies can use the kernel of any type of the same
/// size.
const void *kernelFor(core::ElementType type, Protocol protocol);

/// Returns the kernel for calls over the switch; null if the switch does not reduce the type.
const void *switchKernelFor(core::ElementType type);

/// Returns the kernel that multiplies elements before a sum (host::multiply). Arguments: to, from (can be equal to
/// `to`), elements (64 bits), the factor's bits, and the factor's address. The address is null, or in memory that the
/// GPU can read.
const void *multiplyKernel(core::ElementType type);

/// Returns the kernel that divides sums for an average of integers (host::divideForAverage). Arguments: to, from (can
/// be equal to `to`), elements (64 bits), contributions (32 bits). Returns null for other types.
const void *divideKernel(core::ElementType type);

/// Returns the kernel that reads the GPU's clock. Argument: the address of the 64-bit result.
const void *clockKernel();

const void *kernelsInt8(Protocol protocol);
const void *kernelsUint8(Protocol protocol);
const void *kernelsInt32(Protocol protocol);
const void *kernelsUint32(Protocol protocol);
const void *kernelsInt64(Protocol protocol);
const void *kernelsUint64(Protocol protocol);
const void *kernelsHalf(Protocol protocol);
const void *kernelsFloat(Protocol protocol);
const void *kernelsDouble(Protocol protocol);
const void *kernelsBfloat16(Protocol protocol);
const void *kernelsFp8e4m3(Protocol protocol);
const void *kernelsFp8e5m2(Protocol protocol);

} // namespace gc3::kernel
