// SPDX-License-Identifier: Apache-2.0
#include "Arena.h"

#include <cuda_runtime_api.h>

namespace gc3::test {

namespace {

constexpr uint64_t alignment = 512; // at least the alignment of cudaMalloc
Arena *current = nullptr;

} // namespace

Arena::Arena(const cuda::Cuda &cuda, std::byte *memory, uint64_t bytes) : table(cuda), begin(memory), size(bytes) {
  current = this;
  table.allocate = allocate;
  table.release = [](void *) -> cuda::Result { return cudaSuccess; };
}

Arena::~Arena() {
  current = nullptr;
}

cuda::Result Arena::allocate(void **memory, size_t bytes) {
  const uint64_t whole = (bytes + alignment - 1) / alignment * alignment;
  if (whole > current->size - current->used)
    return cudaErrorMemoryAllocation;
  *memory = current->begin + current->used;
  current->used += whole;
  return cudaSuccess;
}

} // namespace gc3::test
