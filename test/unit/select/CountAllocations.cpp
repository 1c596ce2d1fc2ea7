// SPDX-License-Identifier: Apache-2.0
// Replaces operator new and operator delete. Compile this file alone: gcc warns about std::free() where it inlines the
// operators.
#include "CountAllocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<uint64_t> allocations = 0;
} // namespace

uint64_t countAllocations() {
  return allocations;
}

void *operator new(size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept {
  std::free(memory);
}
void operator delete(void *memory, size_t) noexcept {
  std::free(memory);
}
