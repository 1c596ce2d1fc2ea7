// SPDX-License-Identifier: Apache-2.0
// Compares the PTX of the kernels that scale elements with the host's functions, for all types, and runs the PTX of the
// kernel that reads the clock.
#include "Alone.h"
#include "Oracle.h"
#include "host/Random.h"
#include "host/Reduce.h"

#include <gtest/gtest.h>

using namespace gc3;
using core::ElementType;

namespace {

constexpr uint32_t blocks = 2, threads = 32;

uint64_t addressOf(const void *at) {
  return reinterpret_cast<uintptr_t>(at);
}

/// Elements with random bits, half of them small numbers, from an address that is `misalignment` elements after a
/// multiple of 16.
struct Elements {
  Elements(ElementType type, uint64_t count, uint32_t misalignment, uint64_t seed)
      : bytes((count + misalignment) * core::elementSize(type)), memory(bytes / 16 + 1),
        offset(misalignment * core::elementSize(type)) {
    host::Random random(seed);
    for (Chunk &chunk : memory)
      chunk = {random.next(), random.below(1 << 16)};
  }
  std::byte *begin() { return reinterpret_cast<std::byte *>(memory.data()) + offset; }

  struct alignas(16) Chunk {
    uint64_t low, high;
    bool operator==(const Chunk &) const = default;
  };
  uint64_t bytes;
  std::vector<Chunk> memory;
  uint64_t offset;
};

/// Compares elements, and the memory around them bit by bit.
void expectEqual(ElementType type, Elements &is, Elements &should, uint64_t count, const std::string &what) {
  const size_t size = core::elementSize(type);
  for (uint64_t i = 0; i < count; ++i) {
    ASSERT_TRUE(test::isAsGood(type, core::ReduceOp::Prod, is.begin() + i * size, should.begin() + i * size))
        << core::elementTypeName(type) << ", element " << i << ' ' << what;
    std::memcpy(is.begin() + i * size, should.begin() + i * size, size);
  }
  EXPECT_EQ(is.memory, should.memory) << core::elementTypeName(type) << ' ' << what << " changes other memory";
}

/// Calls `check` with each type, count and misalignment.
template <typename Check>
void forEachCall(Check check) {
  for (uint32_t type = 0; type < core::elementTypeCount; ++type)
    for (uint64_t count : {0, 1, 100, 1357})
      for (uint32_t misalignment : {0, 1})
        check(static_cast<ElementType>(type), count, misalignment);
}

ptx::Library *chosen() {
  return ptx::Library::chosen();
}

} // namespace

TEST(Scale, multipliesLikeTheHost) {
  if (!chosen())
    GTEST_SKIP() << "EMULATED_PTX names no folder with the PTX of the kernels";
  forEachCall([](ElementType type, uint64_t count, uint32_t misalignment) {
    Elements scalar(type, 1, 0, 7);
    const core::Factor factor = core::factorAt(type, scalar.begin());
    for (const core::Factor &given : {factor, core::Factor{0, scalar.begin()}}) {
      Elements from(type, count, misalignment, count), to(type, count, misalignment, 5), expected = to;
      ptx::runAlone(
          chosen()->multiply(type), blocks, threads,
          std::vector{addressOf(to.begin()), addressOf(from.begin()), count, given.bits, addressOf(given.address)},
          [] { return uint64_t{0}; });
      host::multiply(type, expected.begin(), from.begin(), count, given);
      expectEqual(type, to, expected, count, given.address ? "times a scalar in memory" : "times a value");
    }
  });
}

TEST(Scale, dividesLikeTheHost) {
  if (!chosen())
    GTEST_SKIP() << "EMULATED_PTX names no folder with the PTX of the kernels";
  forEachCall([](ElementType type, uint64_t count, uint32_t misalignment) {
    for (uint32_t n : {1u, 3u, 65537u}) {
      if (!core::isInteger(type))
        continue;
      Elements to(type, count, misalignment, count), expected = to; // in place
      ptx::runAlone(chosen()->divide(type), blocks, threads,
                    std::vector{addressOf(to.begin()), addressOf(to.begin()), count, uint64_t{n}},
                    [] { return uint64_t{0}; });
      host::divideForAverage(type, expected.begin(), count, n);
      expectEqual(type, to, expected, count, "by " + std::to_string(n));
    }
  });
}

TEST(Scale, readsTheClock) {
  if (!chosen())
    GTEST_SKIP() << "EMULATED_PTX names no folder with the PTX of the kernels";
  uint64_t time = 0;
  ptx::runAlone(chosen()->clock(), 1, 1, std::vector{addressOf(&time)}, [] { return uint64_t{12345}; });
  EXPECT_EQ(time, 12345u);
}
