// SPDX-License-Identifier: Apache-2.0
// A table of CUDA functions that allocates device memory from one buffer.
#pragma once

#include "cuda/Cuda.h"

#include <cstdint>

namespace gc3::test {

/// Only one arena can exist at a time, because the functions of a table have no place for an object.
class Arena {
public:
  Arena(const cuda::Cuda &cuda, std::byte *memory, uint64_t bytes);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// Returns the functions of CUDA, except that device memory comes from the arena. Memory is reused only after
  /// clear().
  const cuda::Cuda &cuda() const { return table; }
  /// Makes the whole buffer available again. No earlier allocation may be in use.
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
