// SPDX-License-Identifier: Apache-2.0
// Replaces operator new and operator delete. Compile this file alone: gcc warns about std::free() where it inlines the
// operators.
#include "CountAllocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
constexpr uint64_t never = UINT64_MAX;
std::atomic<uint64_t> allocations = 0;
thread_local uint64_t successesLeft = never; ///< `never`: no allocation fails
} // namespace

uint64_t countAllocations() {
  return allocations;
}

FailOneAllocation::FailOneAllocation(uint64_t successes) {
  successesLeft = successes;
}

FailOneAllocation::~FailOneAllocation() {
  successesLeft = never;
}

bool FailOneAllocation::hasFailed() const {
  return successesLeft == never;
}

void *operator new(size_t size) {
  ++allocations;
  if (successesLeft != never && successesLeft-- == 0)
    throw std::bad_alloc();
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
