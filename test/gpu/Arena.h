// SPDX-License-Identifier: Apache-2.0
// A table of CUDA's functions that hands out device memory from one piece.
#pragma once

#include "cuda/Cuda.h"

#include <cstdint>

namespace gc3::test {

/// One at a time: the functions of a table have no other way to know of it.
class Arena {
public:
  Arena(const cuda::Cuda &cuda, std::byte *memory, uint64_t bytes);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// All of CUDA, but device memory is the arena's. What is given back stays taken until clear().
  const cuda::Cuda &cuda() const { return table; }
  /// Nobody has any of it any more.
  void clear() { used = 0; }
  /// Bytes that are taken.
  uint64_t taken() const { return used; }

private:
  static cuda::Result allocate(void **memory, size_t bytes);

  cuda::Cuda table;
  std::byte *const begin;
  const uint64_t size;
  uint64_t used = 0;
};

} // namespace gc3::test
