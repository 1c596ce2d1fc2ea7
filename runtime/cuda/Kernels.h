// SPDX-License-Identifier: Apache-2.0
// The kernels, as addresses that launches take. The interpreter's one argument is a device::Call.
#pragma once

#include "device/Image.h"
#include "host/Element.h"

namespace gc3::cuda {

/// Threads of a block at most; with so many registers a thread as the kernels use, one block fills an SM.
inline constexpr uint32_t mostThreads = 512;

/// The kernel for elements of a type; copies may take any type of the same size.
const void *kernelFor(host::ElementType type, device::Protocol protocol);

/// What an average does to elements, before or after the sum (host/Reduce.h).
enum class Averaging : uint8_t { Scale, Divide };

/// Arguments: to, from (may be the same), elements (64 bits), contributions (32 bits). Null where the type has no such
/// thing: floating-point types are scaled, integers divided.
const void *averagingKernel(host::ElementType type, Averaging averaging);

/// Reads the GPU's clock. Argument: where to, 64 bits.
const void *clockKernel();

const void *kernelsInt8(device::Protocol protocol);
const void *kernelsUint8(device::Protocol protocol);
const void *kernelsInt32(device::Protocol protocol);
const void *kernelsUint32(device::Protocol protocol);
const void *kernelsInt64(device::Protocol protocol);
const void *kernelsUint64(device::Protocol protocol);
const void *kernelsHalf(device::Protocol protocol);
const void *kernelsFloat(device::Protocol protocol);
const void *kernelsDouble(device::Protocol protocol);
const void *kernelsBfloat16(device::Protocol protocol);
const void *kernelsFp8e4m3(device::Protocol protocol);
const void *kernelsFp8e5m2(device::Protocol protocol);

} // namespace gc3::cuda
