// SPDX-License-Identifier: Apache-2.0
// Functions of the table that whoever has kernels of their own has, too, with their own CUDA runtime.
#pragma once

#include "cuda/Cuda.h"

#include <cuda_runtime_api.h>

namespace gc3::cuda {

/// The result of a call. A failed one's error is taken back, so that the application does not find it in
/// cudaGetLastError later on.
Result taken(cudaError_t error);

/// While another stream of the process is captured in CUDA's global mode, as PyTorch does it, queries, allocations and
/// the like from any thread would break that capture, and fail. None of ours touches what is captured.
class RelaxedCapture {
public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode); }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
};

/// Of Cuda, or of Interpreters.
Result occupancy(int *blocksPerMultiprocessor, const void *kernel, uint32_t threads);
Result launch(const Launch &launch);

} // namespace gc3::cuda
