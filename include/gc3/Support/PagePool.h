// SPDX-License-Identifier: Apache-2.0
// Memory for arrays that grow with the program. Each stage fills a dozen arrays once and frees them. Without the pool,
// the system can spend a third of the compile time on pages that are touched for the first time. The pool reuses
// touched pages for later arrays. It uses huge pages for a part of its memory, which need far fewer page faults.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

namespace gc3 {

/// Allocates blocks of whole pages without gaps between them. Keeps the touched pages of a freed block for later
/// blocks. Before a block uses untouched pages, the pool returns the same number of kept pages to the system. So the
/// pool never holds more memory than its blocks at their peak. Thread-safe.
class PagePool {
public:
  /// Reserves `space` bytes of addresses, which use no memory until they are touched.
  explicit PagePool(size_t space);
  PagePool(const PagePool &) = delete;
  PagePool &operator=(const PagePool &) = delete;
  ~PagePool();

  static constexpr size_t alignment = 64; ///< alignment of each block: a cache line

  /// Returns at least `size` bytes of uninitialized memory. Returns null if no addresses are left. The pool does not
  /// reuse addresses whose pages it has returned to the system. Constant time, except for system calls.
  void *allocate(size_t size);
  void deallocate(void *block);
  /// Returns true if this pool allocated `block`.
  bool owns(const void *block) const { return begin <= block && block < end; }
  /// Returns the number of bytes in pages that are kept for later blocks.
  size_t kept() const;

private:
  struct Run {
    char *begin;
    char *end;
    size_t size() const { return static_cast<size_t>(end - begin); }
  };
  char *reuse(size_t size);
  char *extend(size_t size);
  void keep(Run run);
  void release(size_t size);
  size_t smallest() const;
  void cut(size_t index, size_t size);
  void remove(size_t index);

  mutable std::mutex mutex;
  char *begin = nullptr;
  char *end = nullptr;
  char *untouched = nullptr;   // start of the untouched pages
  std::array<Run, 128> runs{}; // kept pages, by address; no two runs are adjacent
  size_t count = 0;            // number of kept runs
};

} // namespace gc3
