// SPDX-License-Identifier: Apache-2.0
// A table of CUDA functions whose allocations of device memory come from one given buffer.
#pragma once

#include "cuda/Cuda.h"

#include <cstdint>

namespace gc3::test {

/// Only one arena can exist at a time, because the functions in a CUDA table have no parameter for an object.
class Arena {
public:
  Arena(const cuda::Cuda &cuda, std::byte *memory, uint64_t bytes);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// Returns the table. Its allocate() takes memory from the buffer, and its release() does nothing: memory is free
  /// again only after clear().
  const cuda::Cuda &cuda() const { return table; }
  /// Frees all allocations, which must no longer be in use.
  void clear() { used = 0; }
  /// Returns the number of allocated bytes.
  uint64_t taken() const { return used; }

private:
  static cuda::Result allocate(void **memory, size_t bytes);

  cuda::Cuda table;
  std::byte *const begin;
  const uint64_t size;
  uint64_t used = 0;
};

} // namespace gc3::test
