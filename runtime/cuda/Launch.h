// SPDX-License-Identifier: Apache-2.0
// Functions of the table that each shared object with kernels of its own needs, with its own CUDA runtime.
#pragma once

#include "cuda/Cuda.h"

#include <cuda_runtime_api.h>

namespace gc3::cuda {

/// Returns the result of a call. Clears CUDA's last error, so that the application does not find it with
/// cudaGetLastError.
Result consumeError(cudaError_t error);

/// Sets the thread's capture mode to relaxed. If another stream of the process is captured in CUDA's global mode, as
/// PyTorch does, then queries, allocations and similar calls from any thread would fail and break that capture. gc3's
/// calls in such a scope do not affect what is captured.
class RelaxedCapture {
public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode); }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
};

/// Entries of Cuda, and of Interpreters.
Result occupancy(int *blocksPerMultiprocessor, const void *kernel, uint32_t threads);
Result launch(const Launch &launch);

} // namespace gc3::cuda
