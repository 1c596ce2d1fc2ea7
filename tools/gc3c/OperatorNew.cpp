// SPDX-License-Identifier: Apache-2.0
// Allocates large arrays from a pool of pages, and the rest with malloc. Only for the compiler, which has one thread;
// programs that link gc3's libraries do not get this allocator.
#include "gc3/Support/PagePool.h"
#include <cstdlib>
#include <new>

/// Blocks of this size or more get their own pages.
static constexpr size_t large = size_t(64) << 10;
/// Size of the pool's address space. It exceeds the memory of any machine.
static constexpr size_t space = size_t(1) << 40;

/// The pool is never destroyed, because destructors can free its blocks until the process ends. If the system refuses
/// the address space, for example because of a limit, the pool allocates nothing, and all blocks come from malloc.
static gc3::PagePool &pool() {
  alignas(gc3::PagePool) static char place[sizeof(gc3::PagePool)];
  static gc3::PagePool &made = *new (place) gc3::PagePool(space);
  return made;
}

static void *tryAllocate(size_t size, size_t alignment) {
  void *block = size < large || alignment > gc3::PagePool::alignment ? nullptr : pool().allocate(size);
  if (block)
    return block;
  if (alignment <= alignof(std::max_align_t))
    return std::malloc(size == 0 ? 1 : size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void *operator new(size_t size, std::align_val_t alignment) {
  for (;;) {
    if (void *block = tryAllocate(size, static_cast<size_t>(alignment)))
      return block;
    std::new_handler handler = std::get_new_handler();
    if (!handler)
      throw std::bad_alloc();
    handler();
  }
}

void *operator new(size_t size) {
  return operator new(size, std::align_val_t(alignof(std::max_align_t)));
}

void operator delete(void *block) noexcept {
  if (pool().owns(block))
    pool().deallocate(block);
  else
    std::free(block);
}

void operator delete(void *block, size_t) noexcept {
  operator delete(block);
}

void operator delete(void *block, std::align_val_t) noexcept {
  operator delete(block);
}

void operator delete(void *block, size_t, std::align_val_t) noexcept {
  operator delete(block);
}
