// SPDX-License-Identifier: Apache-2.0
// The kernels, as addresses that launches take. The interpreter's one argument is a KernelArgs.
#pragma once

#include "core/Element.h"
#include "kernel/Image.h"

namespace gc3::kernel {

/// Threads of a block at most; with so many registers a thread as the kernels use, one block fills an SM.
inline constexpr uint32_t mostThreads = 512;

/// The kernel for elements of a type; copies may take any type of the same size.
const void *kernelFor(core::ElementType type, Protocol protocol);

/// Multiplies elements, before a sum (host::multiply). Arguments: to, from (may be the same), elements (64 bits), and
/// of the factor its bits and its address, which is in memory that the GPU can read.
const void *multiplyKernel(core::ElementType type);

/// Divides sums, for an average of integers (host::divideForAverage). Arguments: to, from (may be the same), elements
/// (64 bits), contributions (32 bits). Null for other types.
const void *divideKernel(core::ElementType type);

/// Reads the GPU's clock. Argument: where to, 64 bits.
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
