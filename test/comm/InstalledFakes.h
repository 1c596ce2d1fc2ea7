// SPDX-License-Identifier: Apache-2.0
// What InstalledFakes.cpp substitutes.
#pragma once

#include "cuda/Cuda.h"

namespace gc3::test {

extern const cuda::Cuda *linkedCuda; ///< the CUDA runtime; by default the fake
extern bool hasNccl;                 ///< whether NCCL is installed; by default true

} // namespace gc3::test
