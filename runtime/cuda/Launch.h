// SPDX-License-Identifier: Apache-2.0
// CUDA functions for launches. Each shared object with kernels needs its own copy of them, because only its own CUDA
// runtime can launch its kernels.
#pragma once

#include "cuda/Cuda.h"

#include <cuda_runtime_api.h>

namespace gc3::cuda {

/// Returns `error`, the result of a CUDA call. If it is an error, clears CUDA's last error, so that the application
/// does not find it with cudaGetLastError.
Result consumeError(cudaError_t error);

/// Sets the thread's capture mode to relaxed while this object exists. An application can capture a stream in CUDA's
/// global mode, as PyTorch does. Then queries, allocations and similar calls from any thread would fail and break the
/// capture, unless the mode of the calling thread is relaxed. gc3's calls in such a scope do not become part of the
/// capture.
class RelaxedCapture {
public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode); }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
};

/// The functions for the entries of the same names in the tables Cuda and Interpreters.
Result occupancy(int *blocksPerMultiprocessor, const void *kernel, uint32_t threads);
Result launch(const Launch &launch);

} // namespace gc3::cuda
