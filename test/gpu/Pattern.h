// SPDX-License-Identifier: Apache-2.0
// Kernels that write a pattern to memory and check it. The value of each word depends on its position and a seed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gc3::test {

cudaError_t writePattern(uint32_t *to, uint64_t words, uint32_t seed, cudaStream_t stream);
/// Adds the number of words that differ from the pattern to `*wrong`, which is in device memory.
cudaError_t countWrong(const uint32_t *from, uint64_t words, uint32_t seed, unsigned long long *wrong,
                       cudaStream_t stream);

} // namespace gc3::test
