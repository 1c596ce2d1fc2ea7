// SPDX-License-Identifier: Apache-2.0
#include "cuda/Launch.h"

namespace gc3::cuda {

Result consumeError(cudaError_t error) {
  if (error != cudaSuccess)
    cudaGetLastError();
  return error;
}

/// Makes CUDA load the kernel, by querying the kernel's attributes. If CUDA loaded the kernel at the first launch, CUDA
/// could wait for running kernels, which can wait for that launch.
Result occupancy(int *blocksPerMultiprocessor, const void *kernel, uint32_t threads) {
  const RelaxedCapture thisThread;
  cudaFuncAttributes attributes{};
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel); error != cudaSuccess)
    return consumeError(error);
  return consumeError(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocksPerMultiprocessor, kernel, static_cast<int>(threads), 0));
}

Result launch(const Launch &launch) {
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(launch.blocks);
  config.blockDim = dim3(launch.threads);
  config.stream = launch.stream;
  config.attrs = &cooperative;
  config.numAttrs = launch.cooperative ? 1 : 0;
  return consumeError(cudaLaunchKernelExC(&config, launch.kernel, launch.arguments));
}

} // namespace gc3::cuda
