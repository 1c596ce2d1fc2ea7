// SPDX-License-Identifier: Apache-2.0
// A growing block of memory for FIFOs, scratch and staging. It is kept between calls. A newly allocated block contains
// zeros. The system commits only pages that are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace gc3::host {

inline constexpr size_t cacheLine = 64;
/// Smallest distance between data that different threads write, because processors prefetch cache lines in pairs.
inline constexpr size_t linePair = 2 * cacheLine;

/// Returns `size` rounded up to whole cache lines. Callers must have checked that this does not overflow.
constexpr size_t wholeCacheLines(size_t size) {
  return (size + cacheLine - 1) / cacheLine * cacheLine;
}

class Memory {
public:
  /// Ensures a capacity of `bytes`. Loses the contents if the block grows. Returns false if the system has no memory.
  bool reserve(size_t bytes) {
    if (bytes <= capacity)
      return true;
    if (bytes > SIZE_MAX - linePair)
      return false;
    block.reset();
    capacity = 0;
    block.reset(std::calloc(bytes + linePair, 1));
    if (!block)
      return false;
    capacity = bytes;
    return true;
  }

  /// Returns the beginning, aligned to linePair.
  std::byte *data() const {
    auto address = reinterpret_cast<uintptr_t>(block.get());
    return static_cast<std::byte *>(block.get()) + (linePair - address % linePair) % linePair;
  }
  size_t size() const { return capacity; }

private:
  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<void, Free> block;
  size_t capacity = 0;
};

} // namespace gc3::host
