// SPDX-License-Identifier: Apache-2.0
// Kernels that write and check words whose values depend on their positions.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gc3::test {

cudaError_t writePattern(uint32_t *to, uint64_t words, uint32_t seed, cudaStream_t stream);
/// Adds the number of wrong words to `*wrong`, which is in device memory.
cudaError_t countWrong(const uint32_t *from, uint64_t words, uint32_t seed, unsigned long long *wrong,
                       cudaStream_t stream);

} // namespace gc3::test
