// SPDX-License-Identifier: Apache-2.0
// Tests the memory for buffers that other processes map, over gc3HostMemAlloc and gc3HostMemFree.
#include "host/BufferArena.h"
#include "gc3.h"
#include "host/FreeMemory.h"
#include "host/SharedFile.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace gc3;

namespace {

std::byte *allocate(size_t bytes) {
  void *buffer = nullptr;
  EXPECT_EQ(gc3HostMemAlloc(&buffer, bytes), gc3Success) << gc3GetLastError(nullptr);
  return static_cast<std::byte *>(buffer);
}

void release(void *buffer) {
  EXPECT_EQ(gc3HostMemFree(buffer), gc3Success) << gc3GetLastError(nullptr);
}

bool hasOnly(const std::byte *buffer, size_t bytes, std::byte value) {
  return std::all_of(buffer, buffer + bytes, [=](std::byte byte) { return byte == value; });
}

/// Returns the exit status of a child that calls `body`.
int inChild(const std::function<void()> &body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

} // namespace

TEST(HostMemory, BuffersAreZerosAndAligned) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{4096}, size_t{5000}, size_t{3} << 20}) {
    std::byte *const buffer = allocate(bytes);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % 4096, 0u);
    EXPECT_TRUE(hasOnly(buffer, bytes, std::byte{0}));
    EXPECT_TRUE(host::arena::place().holds(buffer));
    std::memset(buffer, 7, bytes);
    release(buffer);
  }
  std::byte *const again = allocate(3 << 20);
  EXPECT_TRUE(hasOnly(again, 3 << 20, std::byte{0})); // although the arena uses parts again
  release(again);
}

TEST(HostMemory, BuffersDoNotOverlap) {
  struct Buffer {
    std::byte *begin;
    size_t bytes;
    std::byte value;
  };
  std::vector<Buffer> buffers;
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const auto value = static_cast<std::byte>(1 + round % 255);
    if (buffers.size() < 20 || random() % 2 == 0) {
      const size_t bytes = random() % 4 == 0 ? random() % (3 << 20) : random() % 20000;
      buffers.push_back({allocate(bytes), bytes, value});
      std::memset(buffers.back().begin, static_cast<int>(value), bytes);
    } else {
      std::swap(buffers[random() % buffers.size()], buffers.back());
      const Buffer &last = buffers.back();
      EXPECT_TRUE(hasOnly(last.begin, last.bytes, last.value));
      release(last.begin);
      buffers.pop_back();
    }
  }
  for (const Buffer &buffer : buffers) {
    EXPECT_TRUE(hasOnly(buffer.begin, buffer.bytes, buffer.value));
    release(buffer.begin);
  }
}

TEST(HostMemory, ReleasedPartsAreUsedAgain) {
  const host::ArenaPlace place = (release(allocate(1)), host::arena::place());
  std::byte *const whole = allocate(1 << 20);
  release(whole);
  std::vector<std::byte *> parts;
  for (int i = 0; i < 4; ++i)
    parts.push_back(allocate(256 << 10));
  for (const int i : {2, 0, 3, 1}) // in any order
    release(parts[static_cast<size_t>(i)]);
  std::byte *const again = allocate(1 << 20);
  EXPECT_EQ(again, whole);
  release(again);
  EXPECT_EQ(host::arena::place(), place);
}

TEST(HostMemory, ThreadsAllocate) {
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t)
    threads.emplace_back([=] {
      for (size_t bytes = 1; bytes < 200000; bytes += 7919) {
        std::byte *const buffer = allocate(bytes);
        std::memset(buffer, t, bytes);
        EXPECT_TRUE(hasOnly(buffer, bytes, static_cast<std::byte>(t)));
        release(buffer);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(HostMemory, Misuse) {
  const auto expectUnknown = [](void *buffer) {
    EXPECT_EQ(gc3HostMemFree(buffer), gc3InvalidArgument);
    EXPECT_STREQ(gc3GetLastError(nullptr), "this process has not allocated the buffer, or has released it");
  };
  EXPECT_EQ(gc3HostMemAlloc(nullptr, 1), gc3InvalidArgument);
  EXPECT_EQ(gc3HostMemFree(nullptr), gc3Success);
  int other = 0;
  expectUnknown(&other);
  std::byte *const buffer = allocate(10000);
  expectUnknown(buffer + 4096);
  release(buffer);
  expectUnknown(buffer);
  void *none = &other;
  EXPECT_EQ(gc3HostMemAlloc(&none, SIZE_MAX), gc3SystemError);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(std::string(gc3GetLastError(nullptr)),
            "no memory for a buffer of " + std::to_string(SIZE_MAX) + " bytes: Cannot allocate memory");
}

TEST(HostMemory, MoreThanTheMachineHas) {
  const uint64_t pages = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES));
  void *buffer = nullptr;
  EXPECT_EQ(gc3HostMemAlloc(&buffer, pages * 4096), gc3SystemError); // although the arena has enough addresses
  EXPECT_EQ(std::string(gc3GetLastError(nullptr)),
            "no memory for a buffer of " + std::to_string(pages * 4096) + " bytes: Cannot allocate memory");
  EXPECT_GT(host::freeMemory(), 0u);
  EXPECT_LT(host::freeMemory(), pages * 4096);
}

TEST(FreeMemory, IsTheLeastOfTheMachineAndItsGroups) {
  const std::filesystem::path root = std::filesystem::temp_directory_path() / ("gc3-" + std::to_string(::getpid()));
  const auto write = [&](const std::string &path, const std::string &text) {
    const std::filesystem::path whole = root / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  };
  EXPECT_EQ(host::freeMemory(root), UINT64_MAX);
  write("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:   2000 kB\n");
  EXPECT_EQ(host::freeMemory(root), 2000u << 10);
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("sys/fs/cgroup/outer/inner/memory.current", "10\n");
  EXPECT_EQ(host::freeMemory(root), 2000u << 10);
  write("sys/fs/cgroup/outer/memory.max", "5000\n");
  write("sys/fs/cgroup/outer/memory.current", "1000\n");
  EXPECT_EQ(host::freeMemory(root), 4000u);
  write("sys/fs/cgroup/outer/inner/memory.max", "30\n");
  EXPECT_EQ(host::freeMemory(root), 20u);
  write("sys/fs/cgroup/outer/inner/memory.current", "40\n");
  EXPECT_EQ(host::freeMemory(root), 0u);
  write("sys/fs/cgroup/memory.max", "7\n"); // a container sees its own group as the first one
  write("sys/fs/cgroup/memory.current", "1\n");
  write("proc/self/cgroup", "0::/\n");
  EXPECT_EQ(host::freeMemory(root), 6u);
  std::filesystem::remove_all(root);
}

// A child has another arena than its parent, because both would allocate the same parts.
TEST(HostMemory, AChildHasItsOwnArena) {
  std::byte *const buffer = allocate(4096);
  std::memset(buffer, 1, 4096);
  EXPECT_EQ(inChild([&] {
              EXPECT_EQ(gc3HostMemFree(buffer), gc3InvalidArgument);
              std::byte *const own = allocate(4096);
              EXPECT_TRUE(hasOnly(own, 4096, std::byte{0}));
              std::memset(own, 2, 4096);
              release(own);
            }),
            0);
  EXPECT_TRUE(hasOnly(buffer, 4096, std::byte{1}));
  std::byte *const next = allocate(4096);
  EXPECT_TRUE(hasOnly(next, 4096, std::byte{0}));
  release(next);
  release(buffer);
}

TEST(HostMemory, LimitsOfTheProcess) {
  const auto withLimit = [](__rlimit_resource resource, rlim_t bytes, const std::function<void()> &body) {
    return inChild([&] {
      const rlimit limit{bytes, bytes};
      ASSERT_EQ(::setrlimit(resource, &limit), 0);
      body();
    });
  };
  const auto refuses = [](const char *text) {
    return [=] {
      void *buffer = nullptr;
      EXPECT_EQ(gc3HostMemAlloc(&buffer, 8 << 20), gc3SystemError);
      EXPECT_STREQ(gc3GetLastError(nullptr), text);
    };
  };
  EXPECT_EQ(
      withLimit(RLIMIT_FSIZE, 4 << 20, refuses("no memory for a buffer of 8388608 bytes: Cannot allocate memory")), 0);
  EXPECT_EQ(withLimit(RLIMIT_FSIZE, 4096, refuses("can't map memory for buffers: File too large")), 0);
  EXPECT_EQ(withLimit(RLIMIT_FSIZE, 64 << 20, [] { release(allocate(8 << 20)); }), 0);
  uint64_t mappedPages = 0;
  std::ifstream("/proc/self/statm") >> mappedPages;
  const rlim_t limit = mappedPages * 4096 + (rlim_t{128} << 30);
  EXPECT_EQ(withLimit(RLIMIT_AS, limit,
                      [&] {
                        release(allocate(8 << 20));
                        EXPECT_LE(host::arena::place().bytes, limit / 16); // leaves addresses for other memory
                      }),
            0);
  EXPECT_EQ(withLimit(RLIMIT_FSIZE, 4 << 20,
                      [] {
                        core::Result<host::SharedFile> file = host::SharedFile::create();
                        ASSERT_TRUE(file.ok());
                        EXPECT_EQ(file->take(8 << 20).outcome().text,
                                  "no memory for 8388608 shared bytes: File too large");
                      }),
            0);
  EXPECT_EQ(withLimit(RLIMIT_NOFILE, 0, refuses("can't create memory for buffers: Too many open files")), 0);
}
