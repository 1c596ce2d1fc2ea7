// SPDX-License-Identifier: Apache-2.0
// Replaces Runtime.cpp in builds without a CUDA toolkit.
#include "cuda/Cuda.h"

namespace gc3::cuda {

const Cuda *linkedCuda() {
  return nullptr;
}

} // namespace gc3::cuda
