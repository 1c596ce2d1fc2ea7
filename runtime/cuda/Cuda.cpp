// SPDX-License-Identifier: Apache-2.0
#include "cuda/Cuda.h"

namespace gc3::cuda {

/// Returns true if a call has failed because the machine has no driver. CUDA's description blames its version then.
static bool lacksDriver(const Cuda &cuda, Result result) {
  int version = -1;
  return result == insufficientDriver && cuda.driverVersion(&version) == 0 && version == 0;
}

core::Outcome outcomeOf(const Cuda &cuda, Result result, const std::string &doing) {
  if (result == 0)
    return {};
  if (lacksDriver(cuda, result))
    return {gc3UnhandledCudaError, "no NVIDIA driver"};
  return {gc3UnhandledCudaError, doing + ": " + cuda.describe(result) + " (CUDA error " + std::to_string(result) + ")"};
}

core::Result<uint64_t> findCapture(const Cuda &cuda, Stream stream) {
  uint64_t capture = 0;
  if (core::Outcome outcome =
          outcomeOf(cuda, cuda.capture(&capture, stream), "querying whether the stream is captured");
      !outcome.ok())
    return outcome;
  return capture;
}

} // namespace gc3::cuda
