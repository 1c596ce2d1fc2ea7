// SPDX-License-Identifier: Apache-2.0
// Functions that return the addresses of libgc3gin.so's kernels. Only the CUDA runtime in libgc3gin.so can launch these
// kernels.
#pragma once

#include "kernel/Kernels.h"

namespace gc3::gin {

const void *kernelInt8();
const void *kernelUint8();
const void *kernelInt32();
const void *kernelUint32();
const void *kernelInt64();
const void *kernelUint64();
const void *kernelHalf();
const void *kernelFloat();
const void *kernelDouble();
const void *kernelBfloat16();
const void *kernelFp8e4m3();
const void *kernelFp8e5m2();

} // namespace gc3::gin
