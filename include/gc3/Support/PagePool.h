// SPDX-License-Identifier: Apache-2.0
// Memory for arrays that grow with the program. Each stage fills a dozen of them once and lets them go, so a third of
// what a program costs can be the system's work for pages that are touched for the first time. Here pages go from array
// to array. No huge ones are asked for: where the host of a virtual machine takes back what is free, their first touch
// takes longer than that of as many small ones.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

namespace gc3 {

/// Blocks of whole pages, packed one behind the other. Pages that were touched are kept when a block goes, for the next
/// one; but before a block takes pages that nobody has touched yet, as many of those kept go back to the system. So it
/// never has more memory than its blocks at their peak.
class PagePool {
public:
  /// Takes up to `space` bytes of addresses, which cost nothing until they are used.
  explicit PagePool(size_t space);
  PagePool(const PagePool &) = delete;
  PagePool &operator=(const PagePool &) = delete;
  ~PagePool();

  static constexpr size_t alignment = 64; ///< of each block: a line of the cache

  /// At least `size` bytes of any contents. Null if there are no addresses left: those whose pages went back are not
  /// used again. Constant time, but for what the system does.
  void *allocate(size_t size);
  void deallocate(void *block);
  /// Whether it was allocated here.
  bool owns(const void *block) const { return begin <= block && block < end; }
  /// Bytes of pages that are kept for blocks to come.
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
  char *untouched = nullptr;   // from here on
  std::array<Run, 128> runs{}; // kept, by address; no two touch
  size_t count = 0;            // of these
};

} // namespace gc3
