// SPDX-License-Identifier: Apache-2.0
// Builds without CUDA.
#include "nccl/NoEngine.h"

namespace gc3::nccl {

std::unique_ptr<Engine> makeEngine(Bundles &&) {
  return std::make_unique<NoEngine>("this build of gc3 has no engine for GPUs");
}

} // namespace gc3::nccl
