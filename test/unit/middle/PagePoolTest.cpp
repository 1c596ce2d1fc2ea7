// SPDX-License-Identifier: Apache-2.0
// Tests PagePool: blocks never overlap and keep their contents while other blocks are freed. The pool never holds more
// memory than all live blocks had at their peak.
#include "gc3/Support/PagePool.h"
#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace gc3;

static constexpr size_t page = 4096;

namespace {

struct Block {
  uint64_t *words;
  size_t size;
  uint64_t value; // every word of the block has this value
};

/// The live blocks of a pool, and the limit for its memory: the peak of the bytes of live blocks.
class Blocks {
public:
  explicit Blocks(PagePool &pool) : pool(pool) {}

  void add(size_t size) {
    auto *words = static_cast<uint64_t *>(pool.allocate(size));
    ASSERT_NE(words, nullptr);
    ASSERT_TRUE(pool.owns(words));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(words) % PagePool::alignment, 0u);
    all.push_back({words, size, ++made});
    std::fill_n(words, size / sizeof(uint64_t), made);
    live += pages(size);
    peak = std::max(peak, live);
  }
  void drop(size_t index) {
    Block block = all[index];
    for (size_t i = 0; i != block.size / sizeof(uint64_t); ++i)
      ASSERT_EQ(block.words[i], block.value) << "of a block of " << block.size << " bytes, at word " << i;
    pool.deallocate(block.words);
    all[index] = all.back();
    all.pop_back();
    live -= pages(block.size);
  }
  size_t count() const { return all.size(); }
  size_t liveBytes() const { return live; }
  size_t peakBytes() const { return peak; }

private:
  /// Returns the size with the header of the pool, rounded up to whole pages.
  static size_t pages(size_t size) { return (size + PagePool::alignment + page - 1) / page * page; }

  PagePool &pool;
  std::vector<Block> all;
  uint64_t made = 0;
  size_t live = 0;
  size_t peak = 0;
};

} // namespace

static void allocateAtRandom(uint32_t seed, size_t mostBlocks, size_t largest) {
  PagePool pool(size_t(1) << 36);
  Blocks blocks(pool);
  std::mt19937 random(seed);
  for (uint32_t i = 0; i != 4000; ++i) {
    if (blocks.count() < 1 + random() % mostBlocks)
      blocks.add(64 + random() % largest);
    else
      blocks.drop(random() % blocks.count());
    ASSERT_LE(blocks.liveBytes() + pool.kept(), blocks.peakBytes());
  }
  while (blocks.count() != 0)
    blocks.drop(blocks.count() - 1);
  EXPECT_LE(pool.kept(), blocks.peakBytes());
}

TEST(PagePool, FewBlocks) {
  for (uint32_t seed = 1; seed != 6; ++seed)
    allocateAtRandom(seed, 8, 200'000);
}

/// Makes more free holes than the pool can record.
TEST(PagePool, ManyBlocks) {
  for (uint32_t seed = 1; seed != 4; ++seed)
    allocateAtRandom(seed, 1200, 9000);
}

TEST(PagePool, PagesOfAFreedBlockServeTheNext) {
  PagePool pool(64 << 20);
  void *first = pool.allocate(8 << 20);
  pool.deallocate(first);
  EXPECT_EQ(pool.kept(), (8u << 20) + page);
  void *second = pool.allocate(3 << 20);
  EXPECT_EQ(second, first);
  EXPECT_EQ(pool.kept(), 5u << 20);
  pool.deallocate(second);
  void *larger = pool.allocate(9 << 20); // reuses the kept pages and adds new ones
  EXPECT_EQ(larger, first);
  EXPECT_EQ(pool.kept(), 0u);
}

TEST(PagePool, NewPagesComeForKeptOnes) {
  PagePool pool(64 << 20);
  void *low = pool.allocate(4 << 20);
  void *high = pool.allocate(1 << 20);
  pool.deallocate(low);
  EXPECT_NE(pool.allocate(6 << 20), nullptr); // too large for the pages of `low`
  EXPECT_EQ(pool.kept(), 0u);
  EXPECT_NE(high, nullptr);
}

TEST(PagePool, SaysNoWhereNoAddressesAreLeft) {
  PagePool pool(1 << 20);
  EXPECT_EQ(pool.allocate(1 << 20), nullptr) << "there is no room for the header";
  EXPECT_EQ(pool.allocate(~size_t(0)), nullptr);
  void *half = pool.allocate(1 << 19);
  EXPECT_NE(half, nullptr);
  EXPECT_EQ(pool.allocate(1 << 19), nullptr);
  EXPECT_FALSE(pool.owns(&pool));
  EXPECT_TRUE(pool.owns(half));
}
