// SPDX-License-Identifier: Apache-2.0
// Allocates the best fit among the kept runs of pages, else new pages. The number of runs is bounded, so every call
// takes constant time, except for system calls.
#include "gc3/Support/PagePool.h"
#include <algorithm>
#include <new>
#include <sys/mman.h>

using namespace gc3;

static constexpr size_t page = 4096;
/// Bytes before each block, which store the size of the block.
static constexpr size_t headerSize = PagePool::alignment;

/// The part of the pool that uses huge pages. A small program does not reach it, because it would touch huge pages that
/// it does not need. The system may have to fetch the memory of each further huge page from the host of a virtual
/// machine. Then a huge page costs more time than the page faults that it saves.
static constexpr size_t hugeBegin = size_t(16) << 20;
static constexpr size_t hugeEnd = size_t(64) << 20;

PagePool::PagePool(size_t space) {
  void *mapped = mmap(nullptr, space, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return;
  begin = untouched = static_cast<char *>(mapped);
  end = begin + space;
  if (hugeEnd <= space)
    madvise(begin + hugeBegin, hugeEnd - hugeBegin, MADV_HUGEPAGE); // advice: without huge pages, nothing changes
}

PagePool::~PagePool() {
  if (begin)
    munmap(begin, static_cast<size_t>(end - begin));
}

void PagePool::remove(size_t index) {
  std::copy(runs.begin() + index + 1, runs.begin() + count, runs.begin() + index);
  --count;
}

/// Takes a block from the smallest kept run that is large enough. Returns null if there is none.
char *PagePool::reuse(size_t size) {
  size_t best = count;
  for (size_t i = 0; i != count; ++i)
    if (runs[i].size() >= size && (best == count || runs[i].size() < runs[best].size()))
      best = i;
  if (best == count)
    return nullptr;
  char *block = runs[best].begin;
  runs[best].begin += size;
  if (runs[best].size() == 0)
    remove(best);
  return block;
}

/// Returns a block that ends with untouched pages and begins with the kept pages directly before them. Returns null if
/// too few addresses are left.
char *PagePool::extend(size_t size) {
  bool joins = count != 0 && runs[count - 1].end == untouched;
  char *block = joins ? runs[count - 1].begin : untouched;
  if (size > static_cast<size_t>(end - block))
    return nullptr;
  if (joins)
    --count;
  release(size - static_cast<size_t>(untouched - block));
  untouched = block + size;
  return block;
}

/// Returns the index of the smallest kept run, which suits the fewest blocks.
size_t PagePool::smallest() const {
  auto found = std::min_element(runs.begin(), runs.begin() + count,
                                [](const Run &a, const Run &b) { return a.size() < b.size(); });
  return static_cast<size_t>(found - runs.begin());
}

/// Returns the last `size` bytes of a run to the system.
void PagePool::cut(size_t index, size_t size) {
  Run &run = runs[index];
  run.end -= size;
  madvise(run.end, size, MADV_DONTNEED);
  if (run.end < begin + hugeEnd) // else the system can fill the gap again when it joins small pages to a huge one
    madvise(run.end, size, MADV_NOHUGEPAGE);
  if (run.size() == 0)
    remove(index);
}

/// Returns `size` kept bytes to the system, or all kept bytes if there are fewer.
void PagePool::release(size_t size) {
  while (size != 0 && count != 0) {
    size_t index = smallest();
    size_t part = std::min(size, runs[index].size());
    cut(index, part);
    size -= part;
  }
}

void PagePool::keep(Run run) {
  auto place = [&] {
    auto comesAfter = [&](const Run &other) { return other.begin > run.begin; };
    return static_cast<size_t>(std::find_if(runs.begin(), runs.begin() + count, comesAfter) - runs.begin());
  };
  size_t next = place();
  if (next != count && runs[next].begin == run.end) {
    run.end = runs[next].end;
    remove(next);
  }
  if (next != 0 && runs[next - 1].end == run.begin) {
    runs[next - 1].end = run.end;
    return;
  }
  if (count == runs.size()) {
    cut(smallest(), runs[smallest()].size());
    next = place();
  }
  std::copy_backward(runs.begin() + next, runs.begin() + count, runs.begin() + count + 1);
  runs[next] = run;
  ++count;
}

void *PagePool::allocate(size_t size) {
  if (size > static_cast<size_t>(end - begin))
    return nullptr;
  size_t whole = (size + headerSize + page - 1) / page * page;
  std::lock_guard lock(mutex);
  char *block = reuse(whole);
  if (!block)
    block = extend(whole);
  if (!block)
    return nullptr;
  new (block) size_t(whole);
  return block + headerSize;
}

void PagePool::deallocate(void *block) {
  char *first = static_cast<char *>(block) - headerSize;
  std::lock_guard lock(mutex);
  keep({first, first + *reinterpret_cast<size_t *>(first)});
}

size_t PagePool::kept() const {
  std::lock_guard lock(mutex);
  size_t sum = 0;
  for (size_t i = 0; i != count; ++i)
    sum += runs[i].size();
  return sum;
}
