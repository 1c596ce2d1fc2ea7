// SPDX-License-Identifier: Apache-2.0
#include "Pattern.h"

namespace gc3::test {

namespace {

constexpr uint32_t blocks = 64, threads = 256;

__device__ uint32_t valueAt(uint64_t place, uint32_t seed) {
  return static_cast<uint32_t>(place * 2654435761u) ^ seed;
}

__global__ void write(uint32_t *to, uint64_t words, uint32_t seed) {
  for (uint64_t at = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; at < words; at += uint64_t{blocks} * threads)
    to[at] = valueAt(at, seed);
}

__global__ void count(const uint32_t *from, uint64_t words, uint32_t seed, unsigned long long *wrong) {
  for (uint64_t at = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; at < words; at += uint64_t{blocks} * threads)
    if (from[at] != valueAt(at, seed))
      atomicAdd(wrong, 1ull);
}

} // namespace

cudaError_t writePattern(uint32_t *to, uint64_t words, uint32_t seed, cudaStream_t stream) {
  write<<<blocks, threads, 0, stream>>>(to, words, seed);
  return cudaGetLastError();
}

cudaError_t countWrong(const uint32_t *from, uint64_t words, uint32_t seed, unsigned long long *wrong,
                       cudaStream_t stream) {
  count<<<blocks, threads, 0, stream>>>(from, words, seed, wrong);
  return cudaGetLastError();
}

} // namespace gc3::test
