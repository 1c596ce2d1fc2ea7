// SPDX-License-Identifier: Apache-2.0
#include "cuda/Cuda.h"

namespace gc3::cuda {

core::Outcome outcomeOf(const Cuda &cuda, Result result, const std::string &doing) {
  if (result == 0)
    return {};
  return {gc3UnhandledCudaError, doing + ": " + cuda.describe(result) + " (CUDA error " + std::to_string(result) + ")"};
}

} // namespace gc3::cuda
