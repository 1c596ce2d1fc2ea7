// SPDX-License-Identifier: Apache-2.0
// Tests successful calls of the C API: from one thread and from one thread per rank, in groups, in place and out of
// place.
#include "ApiGroup.h"

#include <atomic>
#include <numeric>

using namespace gc3::test;

TEST(Api, ManyCallsFromOneThreadPerRank) {
  Group group({ringAllReduce(3, true)}, 3);
  constexpr size_t n = 50;
  auto results = group.threads([&](int rank, gc3Comm_t comm) {
    std::vector<float> send(n), recv(n);
    for (int call = 0; call < 300; ++call) {
      std::iota(send.begin(), send.end(), static_cast<float>(rank + call));
      if (gc3Result_t result = gc3AllReduce(send.data(), recv.data(), n, gc3Float32, gc3Sum, comm, nullptr);
          result != gc3Success)
        return result;
      for (size_t i = 0; i < n; ++i)
        if (recv[i] != 3 * static_cast<float>(static_cast<int>(i) + call) + 3)
          return gc3InternalError;
    }
    return gc3Success;
  });
  EXPECT_EQ(results, std::vector<gc3Result_t>(3, gc3Success));
}

TEST(Api, LargeCallsFromOneThreadPerRankShareTheWork) {
  Group group({ringAllReduce(4, false)}, 4);
  constexpr size_t n = 1 << 18;
  auto results = group.threads([&](int rank, gc3Comm_t comm) {
    std::vector<float> data(n);
    for (int call = 0; call < 3; ++call) {
      std::fill(data.begin(), data.end(), static_cast<float>(rank));
      if (gc3Result_t result = gc3AllReduce(data.data(), data.data(), n, gc3Float32, gc3Sum, comm, nullptr);
          result != gc3Success)
        return result;
      if (data.front() != 6 || data[n / 2] != 6 || data.back() != 6)
        return gc3InternalError;
    }
    return gc3Success;
  });
  EXPECT_EQ(results, std::vector<gc3Result_t>(4, gc3Success));
}

// A rank enters its next call while other ranks are still in the previous one. The counts are below and above the limit
// from which messages bypass their slots. The operation changes between calls, and each rank calls in place or out of
// place.
TEST(Api, ChangingCallsFromOneThreadPerRank) {
  constexpr uint32_t ranks = 3;
  Group group({ringAllReduce(ranks, true)}, ranks);
  auto results = group.threads([&](int rank, gc3Comm_t comm) {
    uint32_t common = 1, own = static_cast<uint32_t>(rank) + 7; // generator states; `common` is equal on all ranks
    auto next = [](uint32_t &state) { return (state = state * 1664525u + 1013904223u) >> 16; };
    for (int call = 0; call < 2000; ++call) {
      const size_t counts[] = {1, 3, 50, 1023, 1026, 3000, 40000};
      const size_t n = counts[next(common) % 7];
      const gc3RedOp_t op = next(common) % 2 ? gc3Sum : gc3Max;
      const bool inPlace = next(own) % 2;
      std::vector<float> send(n), recv(n);
      std::iota(send.begin(), send.end(), static_cast<float>(rank + call));
      if (inPlace)
        recv = send;
      gc3Result_t result =
          gc3AllReduce(inPlace ? recv.data() : send.data(), recv.data(), n, gc3Float32, op, comm, nullptr);
      if (result != gc3Success)
        return result;
      std::fill(send.begin(), send.end(), -1.0f); // a rank that still reads this memory gives a wrong result
      for (size_t i = 0; i < n; ++i) {
        auto first = static_cast<float>(static_cast<int>(i) + call);
        if (recv[i] != (op == gc3Sum ? 3 * first + 3 : first + 2))
          return gc3InternalError;
      }
    }
    return gc3Success;
  });
  EXPECT_EQ(results, std::vector<gc3Result_t>(ranks, gc3Success));
}

// Calls a program that is written for separate buffers, mostly in place on all ranks. In place, a step can overwrite an
// input slot before another step has read it. The call copies such slots tile by tile. Messages are sent early from the
// copies, or the receiver fetches them from the copies.
TEST(Api, ProgramsForTwoBuffersInPlace) {
  constexpr uint32_t ranks = 3;
  for (uint64_t tileElements : {0, 100, 6000}) {
    gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
    config.tileElements = tileElements;
    Group group({allToAll(ranks, 2)}, ranks, config);
    auto results = group.threads([&](int rank, gc3Comm_t comm) {
      uint32_t common = 1, own = static_cast<uint32_t>(rank) + 7;
      auto next = [](uint32_t &state) { return (state = state * 1664525u + 1013904223u) >> 16; };
      for (int call = 0; call < 60; ++call) {
        const size_t counts[] = {1, 50, 1023, 1500, 30000, 150001};
        const size_t n = counts[next(common) % (call % 20 == 0 ? 6 : 5)];
        const bool inPlace = next(common) % 4 != 0 || next(own) % 2;
        std::vector<float> send(n * ranks), recv(n * ranks);
        for (size_t i = 0; i < send.size(); ++i)
          send[i] = static_cast<float>((i + 1000 * static_cast<size_t>(rank) + static_cast<size_t>(call)) % 8191);
        if (inPlace)
          recv = send;
        if (gc3Result_t result =
                gc3AllToAll(inPlace ? recv.data() : send.data(), recv.data(), n, gc3Float32, comm, nullptr);
            result != gc3Success)
          return result;
        std::fill(send.begin(), send.end(), -1.0f); // a rank that still reads this memory gives a wrong result
        for (size_t from = 0; from < ranks; ++from)
          for (size_t i = 0; i < n; ++i)
            if (recv[from * n + i] !=
                static_cast<float>((static_cast<size_t>(rank) * n + i + 1000 * from + static_cast<size_t>(call)) %
                                   8191))
              return gc3InternalError;
      }
      return gc3Success;
    });
    EXPECT_EQ(results, std::vector<gc3Result_t>(ranks, gc3Success)) << tileElements;
  }
}

TEST(Api, SeveralCallsInOneGroup) {
  Group group({ringAllReduce(2, true), allGather(2, false)}, 2);
  Data data = ramp(2, 4), sums(2, std::vector<float>(4)), all(2, std::vector<float>(8));
  ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
    gc3GroupStart(); // groups nest
    gc3AllReduce(data[r].data(), sums[r].data(), 4, gc3Float32, gc3Sum, comm, nullptr);
    gc3GroupEnd();
    return gc3AllGather(sums[r].data(), all[r].data(), 4, gc3Float32, comm, nullptr);
  }),
            gc3Success);
  EXPECT_EQ(all[0], (std::vector<float>{100, 102, 104, 106, 100, 102, 104, 106}));
  EXPECT_EQ(all[1], all[0]);
  EXPECT_EQ(gc3GroupEnd(), gc3InvalidUsage);
}

// Each thread calls on two sets of communicators in one group. The two threads make these calls in opposite orders,
// which must not deadlock.
TEST(Api, GroupsOfTwoWorldsInAnyOrder) {
  Group first({ringAllReduce(2, true)}, 2, withTimeout(5000)), second({ringAllReduce(2, true)}, 2, withTimeout(5000));
  std::atomic<int> arrived{0};
  auto results = first.threads([&](int rank, gc3Comm_t comm) {
    std::vector<float> a(3), b(3);
    auto call = [](gc3Comm_t which, std::vector<float> &data) {
      gc3AllReduce(data.data(), data.data(), data.size(), gc3Float32, gc3Sum, which, nullptr);
    };
    for (int turn = 1; turn <= 3000; ++turn) {
      a.assign(3, static_cast<float>(turn + rank));
      b.assign(3, static_cast<float>(turn - rank));
      for (++arrived; arrived < 2 * turn;) // both threads start at once, so that their calls can overlap
        std::this_thread::yield();
      gc3GroupStart();
      if (rank == 0)
        call(comm, a);
      call(second.comms[static_cast<size_t>(rank)], b);
      if (rank == 1)
        call(comm, a);
      gc3Result_t result = gc3GroupEnd();
      if (result != gc3Success)
        return result;
      if (a != std::vector<float>(3, static_cast<float>(2 * turn + 1)) ||
          b != std::vector<float>(3, static_cast<float>(2 * turn - 1)))
        return gc3InternalError;
    }
    return gc3Success;
  });
  EXPECT_EQ(results, std::vector<gc3Result_t>(2, gc3Success));
}

TEST(Api, PlacementsAreRecognised) {
  Group group({allGather(2, false), ringAllReduce(2, true)}, 2);
  std::vector<float> all[2] = {{1, 2, -1, -1}, {-1, -1, 3, 4}};
  ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3AllGather(all[r].data() + 2 * r, all[r].data(), 2, gc3Float32, comm, nullptr);
  }),
            gc3Success);
  EXPECT_EQ(all[0], (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(all[1], all[0]);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3AllReduce(all[r].data(), all[r].data() + 1, 3, gc3Float32, gc3Sum, comm, nullptr);
  }),
            gc3InvalidArgument);
  // One rank calls in place, the other out of place.
  std::vector<float> mine = {1, 2}, theirs = {3, 4}, result(2);
  ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return r ? gc3AllReduce(theirs.data(), result.data(), 2, gc3Float32, gc3Sum, comm, nullptr)
             : gc3AllReduce(mine.data(), mine.data(), 2, gc3Float32, gc3Sum, comm, nullptr);
  }),
            gc3Success);
  EXPECT_EQ(mine, (std::vector<float>{4, 6}));
  EXPECT_EQ(result, mine);
  EXPECT_EQ(theirs, (std::vector<float>{3, 4}));
}

// Output slots that a program does not write keep their contents, also for counts that need padding.
TEST(Api, PaddingKeepsUnwrittenOutput) {
  ProgramSpec spec = ringAllReduce(2, false);
  ASSERT_EQ(spec.inputChunks * spec.subdivision % 2, 0u); // a count of 5 does not fill the slots, so it needs padding
  for (Rank &rank : spec.ranks)
    for (Block &block : rank.blocks)
      block.steps.clear();
  spec.wholeSlots = true;
  Group group({spec}, 2);
  for (size_t count : {4, 5}) {
    Data send = ramp(2, count), recv(2, std::vector<float>(count, -1));
    EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3RunProgram(comm, spec.name.c_str(), send[r].data(), recv[r].data(), count, gc3Float32, gc3Sum, nullptr);
    }),
              gc3Success);
    EXPECT_EQ(recv, Data(2, std::vector<float>(count, -1)));
  }
}
