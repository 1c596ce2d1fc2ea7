// SPDX-License-Identifier: Apache-2.0
// The C API: calls from one thread and from one per rank, roots, names, and every way to use it wrongly.
#include "Programs.h"

#include "gc3.h"

#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <thread>

using namespace gc3::test;

namespace {

/// A bundle and its ranks.
class Group {
public:
  Group(const std::vector<ProgramSpec> &programs, int ranks, gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER) {
    std::string bytes = buildBundle(programs);
    EXPECT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success) << gc3GetLastError(nullptr);
    comms.resize(static_cast<size_t>(ranks));
    EXPECT_EQ(gc3HostCommInitAll(comms.data(), ranks, bundle, &config), gc3Success);
  }
  Group(const Group &) = delete;
  Group &operator=(const Group &) = delete;
  ~Group() {
    for (gc3Comm_t comm : comms)
      gc3CommDestroy(comm);
    gc3BundleFree(bundle);
  }

  /// Calls function(rank, comm) for every rank in one group.
  template <typename Function>
  gc3Result_t together(Function function) {
    EXPECT_EQ(gc3GroupStart(), gc3Success);
    for (size_t r = 0; r < comms.size(); ++r)
      EXPECT_EQ(function(static_cast<int>(r), comms[r]), gc3Success);
    return gc3GroupEnd();
  }

  /// Calls function(rank, comm) on one thread per rank; the results by rank.
  template <typename Function>
  std::vector<gc3Result_t> threads(Function function) {
    std::vector<gc3Result_t> results(comms.size());
    std::vector<std::thread> workers;
    for (size_t r = 0; r < comms.size(); ++r)
      workers.emplace_back([&, r] { results[r] = function(static_cast<int>(r), comms[r]); });
    for (std::thread &worker : workers)
      worker.join();
    return results;
  }

  gc3Bundle_t bundle = nullptr;
  std::vector<gc3Comm_t> comms;
};

using Data = std::vector<std::vector<float>>;

/// rank r's element i is 100 r + i.
Data ramp(size_t ranks, size_t elements) {
  Data data(ranks, std::vector<float>(elements));
  for (size_t r = 0; r < ranks; ++r)
    for (size_t i = 0; i < elements; ++i)
      data[r][i] = static_cast<float>(100 * r + i);
  return data;
}

gc3HostConfig_t withTimeout(uint32_t ms) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.timeoutMs = ms;
  return config;
}

} // namespace

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

// Ranks run into their next call while others are still in the last one; counts around where messages begin to skip
// their slots, changing operations, and each rank in place or not as it likes.
TEST(Api, ChangingCallsFromOneThreadPerRank) {
  constexpr uint32_t ranks = 3;
  Group group({ringAllReduce(ranks, true)}, ranks);
  auto results = group.threads([&](int rank, gc3Comm_t comm) {
    uint32_t common = 1, own = static_cast<uint32_t>(rank) + 7; // small generators, the first one equal on all ranks
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
      std::fill(send.begin(), send.end(), -1.0f); // nobody may still be reading it
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

TEST(Api, RootsChooseTheProgram) {
  std::vector<ProgramSpec> programs;
  for (uint32_t root : {0u, 2u})
    for (const ProgramSpec &spec : {broadcast(3, root), reduceTo(3, root), gather(3, root), scatter(3, root)})
      programs.push_back(spec);
  Group group(programs, 3);
  for (int root : {0, 2}) {
    Data data = ramp(3, 6), got(3, std::vector<float>(6, -1));
    ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3Broadcast(r == root ? data[r].data() : nullptr, got[r].data(), 6, gc3Float32, root, comm, nullptr);
    }),
              gc3Success);
    EXPECT_EQ(got[1], data[root]);
    ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3Reduce(data[r].data(), r == root ? got[r].data() : nullptr, 6, gc3Float32, gc3Max, root, comm, nullptr);
    }),
              gc3Success);
    EXPECT_EQ(got[root], data[2]);
    ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3Gather(data[r].data(), r == root ? got[r].data() : nullptr, 2, gc3Float32, root, comm, nullptr);
    }),
              gc3Success);
    EXPECT_EQ(got[root], (std::vector<float>{0, 1, 100, 101, 200, 201}));
    ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3Scatter(r == root ? data[r].data() : nullptr, got[r].data(), 2, gc3Float32, root, comm, nullptr);
    }),
              gc3Success);
    EXPECT_EQ(got[1][0], static_cast<float>(100 * root + 2));
  }
  Data data = ramp(3, 6);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3Broadcast(data[r].data(), data[r].data(), 6, gc3Float32, 1, comm, nullptr);
  }),
            gc3NoProgram);
  EXPECT_NE(std::strstr(gc3GetLastError(group.comms[0]), "has root 2"), nullptr) << gc3GetLastError(group.comms[0]);
}

TEST(Api, SelectsBySize) {
  ProgramSpec small = ringAllReduce(2, true), large = plainRingAllReduce(2);
  small.maxBytes = 1024;
  large.minBytes = 1024;
  Group group({small, large}, 2);
  const char *name = nullptr;
  ASSERT_EQ(gc3SelectProgram(group.comms[0], "allreduce", 255, gc3Float32, -1, &name), gc3Success);
  EXPECT_EQ(name, small.name);
  ASSERT_EQ(gc3SelectProgram(group.comms[0], "allreduce", 256, gc3Float32, -1, &name), gc3Success);
  EXPECT_EQ(name, large.name);
  EXPECT_EQ(gc3SelectProgram(group.comms[0], "allgather", 256, gc3Float32, -1, &name), gc3NoProgram);
  EXPECT_NE(std::strstr(gc3GetLastError(group.comms[0]), "allreduce on 2 ranks, 1024 .. "), nullptr)
      << gc3GetLastError(group.comms[0]);
}

TEST(Api, RefusesProgramsOfAnotherShape) {
  ProgramSpec wide = allToAll(2, 1);
  wide.collective = "allreduce"; // would write beyond the caller's buffer
  Group group({wide}, 2);
  Data data = ramp(2, 8), got = ramp(2, 8);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3AllReduce(data[r].data(), got[r].data(), 4, gc3Float32, gc3Sum, comm, nullptr);
  }),
            gc3NoProgram);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3RunCollective(comm, "allreduce", data[r].data(), got[r].data(), 4, gc3Float32, gc3Sum, nullptr);
  }),
            gc3Success);
  EXPECT_EQ(got[0][4], 100);
}

TEST(Api, MismatchedCallsFailOnEveryRank) {
  Group group({ringAllReduce(2, true)}, 2);
  std::vector<float> sum[2];
  auto expectSums = [&] {
    for (std::vector<float> &values : sum)
      values.assign(4, 1);
    EXPECT_EQ(group.threads([&](int r, gc3Comm_t c) {
      return gc3AllReduce(sum[r].data(), sum[r].data(), 4, gc3Float32, gc3Sum, c, nullptr);
    }),
              std::vector<gc3Result_t>(2, gc3Success));
    EXPECT_EQ(sum[0], std::vector<float>(4, 2));
    EXPECT_EQ(sum[1], sum[0]);
  };
  auto expectMismatch = [&](auto call) {
    expectSums(); // so that rank 0 knows its call from before, and sends ahead
    auto results = group.threads(call);
    EXPECT_EQ(results, std::vector<gc3Result_t>(2, gc3InvalidUsage));
    EXPECT_NE(std::strstr(gc3GetLastError(group.comms[1]), "do not match"), nullptr);
  };
  std::vector<double> data[2] = {std::vector<double>(16), std::vector<double>(16)};
  auto buffer = [&](int r) { return data[r].data(); };
  expectMismatch(
      [&](int r, gc3Comm_t c) { return gc3AllReduce(buffer(r), buffer(r), 4 + r, gc3Float32, gc3Sum, c, nullptr); });
  expectMismatch([&](int r, gc3Comm_t c) {
    return gc3AllReduce(buffer(r), buffer(r), 4, r ? gc3Float64 : gc3Float32, gc3Sum, c, nullptr);
  });
  expectMismatch([&](int r, gc3Comm_t c) {
    return gc3AllReduce(buffer(r), buffer(r), 4, gc3Float32, r ? gc3Sum : gc3Max, c, nullptr);
  });
  expectMismatch([&](int r, gc3Comm_t c) {
    return r ? gc3AllReduce(buffer(r), buffer(r), 4, gc3Float32, gc3Sum, c, nullptr)
             : gc3AllToAll(buffer(r), buffer(r), 4, gc3Float32, c, nullptr);
  });
  expectSums(); // the ranks are together again afterwards
}

TEST(Api, AbsentRankIsATimeout) {
  Group group({ringAllReduce(2, true)}, 2, withTimeout(20));
  float value = 1;
  EXPECT_EQ(gc3AllReduce(&value, &value, 1, gc3Float32, gc3Sum, group.comms[0], nullptr), gc3Timeout);
  EXPECT_NE(std::strstr(gc3GetLastError(group.comms[0]), "1 of 2 ranks wait in: 1"), nullptr)
      << gc3GetLastError(group.comms[0]);
  EXPECT_STREQ(gc3GetLastError(nullptr), gc3GetLastError(group.comms[0]));
}

// After a timeout the ranks do not agree on which call is which, so none is made any more.
TEST(Api, NothingIsCalledAfterATimeout) {
  Group group({ringAllReduce(2, true)}, 2, withTimeout(20));
  Data data = ramp(2, 1);
  EXPECT_EQ(gc3AllReduce(data[0].data(), data[0].data(), 1, gc3Float32, gc3Sum, group.comms[0], nullptr), gc3Timeout);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3AllReduce(data[r].data(), data[r].data(), 1, gc3Float32, gc3Sum, comm, nullptr);
  }),
            gc3Timeout);
  EXPECT_NE(std::strstr(gc3GetLastError(group.comms[1]), "an earlier call has timed out"), nullptr);
  EXPECT_EQ(data, ramp(2, 1));
}

// A call that is refused at once takes its group with it, instead of leaving the others to wait for it.
TEST(Api, RefusedCallEndsItsGroup) {
  Group group({ringAllReduce(2, true)}, 2);
  Data data = ramp(2, 1);
  ASSERT_EQ(gc3GroupStart(), gc3Success);
  EXPECT_EQ(gc3AllReduce(data[0].data(), data[0].data(), 1, gc3Float32, gc3Sum, group.comms[0], nullptr), gc3Success);
  EXPECT_EQ(gc3Broadcast(data[1].data(), data[1].data(), 1, gc3Float32, -5, group.comms[1], nullptr),
            gc3InvalidArgument);
  EXPECT_EQ(gc3GroupEnd(), gc3InvalidArgument);
  EXPECT_EQ(data, ramp(2, 1));
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3AllReduce(data[r].data(), data[r].data(), 1, gc3Float32, gc3Sum, comm, nullptr);
  }),
            gc3Success);
  EXPECT_EQ(data, (Data{{100}, {100}}));
}

// Threads may note the calls of two sets of communicators in different orders, and neither waits for the other.
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
      for (++arrived; arrived < 2 * turn;) // both start at once, which is where they can cross
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

// A call that fails in one set of communicators drops the rest of its group there, and nowhere else.
TEST(Api, ErrorsStayInTheirWorld) {
  Group bad({ringAllReduce(2, true)}, 2), good({ringAllReduce(2, true)}, 2);
  Data data = ramp(2, 2), sums = ramp(2, 2);
  ASSERT_EQ(gc3GroupStart(), gc3Success);
  for (size_t r = 0; r < 2; ++r) {
    gc3AllReduce(data[r].data(), data[r].data(), 1 + r, gc3Float32, gc3Sum, bad.comms[r], nullptr); // counts differ
    for (int call = 0; call < 2; ++call)
      gc3AllReduce(sums[r].data(), sums[r].data(), 2, gc3Float32, gc3Sum, good.comms[r], nullptr);
  }
  EXPECT_EQ(gc3GroupEnd(), gc3InvalidUsage);
  EXPECT_EQ(data, ramp(2, 2));
  EXPECT_EQ(sums, (Data{{200, 204}, {200, 204}}));
}

// What a program leaves alone stays as the caller has it, for counts that need padding too.
TEST(Api, PaddingKeepsWhatIsNotWritten) {
  ProgramSpec spec = ringAllReduce(2, false);
  ASSERT_EQ(spec.inputChunks * spec.subdivision % 2, 0u); // so that a count of 5 is padded
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

TEST(Api, CountOfZeroStillNamesAProgram) {
  Group group({ringAllReduce(2, true)}, 2);
  EXPECT_EQ(group.together([&](int, gc3Comm_t comm) {
    return gc3AllReduce(nullptr, nullptr, 0, gc3Float32, gc3Sum, comm, nullptr);
  }),
            gc3Success);
  EXPECT_EQ(group.together([&](int, gc3Comm_t comm) {
    return gc3RunProgram(comm, "no such program", nullptr, nullptr, 0, gc3Float32, gc3Sum, nullptr);
  }),
            gc3NoProgram);
}

TEST(Api, DeadlockIsExplained) {
  // With one slot each rank's second step needs the slot that its successor's second step would free.
  ProgramSpec ring = ringAllReduce(3, true);
  ring.minFifoSlots = 1;
  ring.fifoSlots = 1;
  for (gc3Order_t order : {gc3OrderFair, gc3OrderAdversarial}) {
    gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
    config.order = order;
    Group group({ring, allGather(3, false)}, 3, config);
    Data data = ramp(3, 300000);
    EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3AllReduce(data[r].data(), data[r].data(), 300000, gc3Float32, gc3Sum, comm, nullptr);
    }),
              gc3Deadlock);
    std::string text = gc3GetLastError(group.comms[2]);
    EXPECT_NE(text.find("a cycle of 3:"), std::string::npos) << text;
    for (const char *line : {"rank 0 thread block 0 step 1 (rrs, tile 0) waits for a free slot to rank 1 on channel 0",
                             "rank 1 thread block 0 step 1 (rrs, tile 0) waits for a free slot to rank 2 on channel 0",
                             "rank 2 thread block 0 step 1 (rrs, tile 0) waits for a free slot to rank 0 on channel 0"})
      EXPECT_NE(text.find(line), std::string::npos) << text;
    // Other calls are none the worse for it.
    Data mine = ramp(3, 1), all(3, std::vector<float>(3));
    EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3AllGather(mine[r].data(), all[r].data(), 1, gc3Float32, comm, nullptr);
    }),
              gc3Success);
    EXPECT_EQ(all, Data(3, std::vector<float>{0, 100, 200}));
  }
}

TEST(Api, DeadlockNamesThoseBehindTheCycle) {
  ProgramSpec spec = allToAll(3, 1);
  for (uint32_t r = 0; r < 2; ++r) // ranks 0 and 1 both receive first
    for (Block &block : spec.ranks[r].blocks)
      if (block.sendPeer == static_cast<int32_t>(1 - r))
        std::swap(block.steps[0], block.steps[1]);
  spec.ranks[2].blocks[0].steps[0].waits = {{1, 1}};
  spec.ranks[0].blocks[2].steps[0].waits = {{1, 0}}; // the send to rank 2 comes after rank 0's receive from rank 1
  Group group({spec}, 3);
  Data data = ramp(3, 3), got = ramp(3, 3);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3AllToAll(data[r].data(), got[r].data(), 1, gc3Float32, comm, nullptr);
  }),
            gc3Deadlock);
  std::string text = gc3GetLastError(group.comms[0]);
  EXPECT_NE(
      text.find(
          "a cycle of 2:\n  rank 0 thread block 1 step 0 (recv, tile 0) waits for a message from rank 1 on channel 0\n "
          " "
          "rank 1 thread block 1 step 0 (recv, tile 0) waits for a message from rank 0 on channel 0\n and behind it:"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("rank 0 thread block 2 step 0 (send, tile 0) waits for thread block 1 step 0"), std::string::npos)
      << text;
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
  // One rank in place, the other not.
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

TEST(Api, RefusesWrongArguments) {
  Group group({ringAllReduce(2, true), shiftReversed(2, 2)}, 2);
  float x[4] = {};
  auto all = [&](auto call) { return group.together([&](int, gc3Comm_t comm) { return call(comm); }); };
  EXPECT_EQ(gc3AllReduce(x, x, 1, gc3Float32, gc3Sum, nullptr, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3AllReduce(x, x, 1, gc3Float32, gc3Sum, group.comms[0], x), gc3InvalidArgument);
  EXPECT_EQ(gc3Broadcast(x, x, 1, gc3Float32, -1, group.comms[0], nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3RunCollective(group.comms[0], nullptr, x, x, 1, gc3Float32, gc3Sum, nullptr), gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(nullptr, x, 1, gc3Float32, gc3Sum, c, nullptr); }),
            gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(x, nullptr, 1, gc3Float32, gc3Sum, c, nullptr); }),
            gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(x, x, 1, gc3NumTypes, gc3Sum, c, nullptr); }),
            gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(x, x, 1, gc3Float32, gc3NumOps, c, nullptr); }),
            gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(x, x, SIZE_MAX, gc3Float32, gc3Sum, c, nullptr); }),
            gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(x, x, SIZE_MAX / 8, gc3Float32, gc3Sum, c, nullptr); }),
            gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3Broadcast(x, x, 1, gc3Float32, 2, c, nullptr); }), gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(nullptr, nullptr, 0, gc3Float32, gc3Sum, c, nullptr); }),
            gc3Success);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3RunProgram(c, "nothing", x, x, 1, gc3Float32, gc3Sum, nullptr); }),
            gc3NoProgram);
  float y[2][4] = {};
  EXPECT_EQ(group.together([&](int r, gc3Comm_t c) {
    return gc3RunCollective(c, "shift_reversed", x, y[r], 4, gc3Float32, gc3Avg, nullptr);
  }),
            gc3InvalidArgument);
  EXPECT_NE(std::strstr(gc3GetLastError(nullptr), "avg is not defined"), nullptr);
  gc3HostConfig_t config = {};
  gc3Comm_t comm = nullptr;
  EXPECT_EQ(gc3HostCommInitAll(&comm, 1, group.bundle, &config), gc3InvalidArgument);
  EXPECT_EQ(gc3HostCommInitAll(&comm, 0, group.bundle, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3BundleLoad(nullptr, "x"), gc3InvalidArgument);
  gc3Bundle_t bundle = nullptr;
  EXPECT_EQ(gc3BundleLoad(&bundle, "/nonexistent"), gc3SystemError);
  EXPECT_EQ(gc3BundleLoadMemory(&bundle, "hello", 5), gc3NotABundle);
  EXPECT_EQ(bundle, nullptr);
}

TEST(Api, TooFewSlotsAreRefused) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.slots = 1;
  Group group({ringAllReduce(3, true)}, 3, config);
  Data data = ramp(3, 6);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3AllReduce(data[r].data(), data[r].data(), 6, gc3Float32, gc3Sum, comm, nullptr);
  }),
            gc3InvalidArgument);
  EXPECT_NE(std::strstr(gc3GetLastError(nullptr), "needs at least 2"), nullptr);
}

TEST(Api, DescribesItself) {
  Group group({ringAllReduce(2, true), allGather(2, false)}, 2);
  int value = 0;
  ASSERT_EQ(gc3GetVersion(&value), gc3Success);
  EXPECT_EQ(value, GC3_VERSION);
  ASSERT_EQ(gc3CommCount(group.comms[1], &value), gc3Success);
  EXPECT_EQ(value, 2);
  ASSERT_EQ(gc3CommUserRank(group.comms[1], &value), gc3Success);
  EXPECT_EQ(value, 1);
  ASSERT_EQ(gc3BundleProgramCount(group.bundle, &value), gc3Success);
  EXPECT_EQ(value, 2);
  gc3ProgramInfo_t info = {};
  EXPECT_EQ(gc3BundleProgramInfo(group.bundle, 0, &info), gc3InvalidArgument);
  info.size = sizeof info;
  ASSERT_EQ(gc3BundleProgramInfo(group.bundle, 1, &info), gc3Success);
  EXPECT_STREQ(info.collective, "allgather");
  EXPECT_EQ(gc3BundleProgramInfo(group.bundle, 2, &info), gc3InvalidArgument);
  size_t in = 0, out = 0;
  ASSERT_EQ(gc3ProgramElements(group.bundle, 1, 0, 5, &in, &out), gc3Success);
  EXPECT_EQ(in, 5u);
  EXPECT_EQ(out, 10u);
  EXPECT_EQ(gc3ProgramElements(group.bundle, 1, 2, 5, &in, &out), gc3InvalidArgument);
  for (int code = 0; code < 17; ++code)
    EXPECT_NE(gc3GetErrorString(static_cast<gc3Result_t>(code)), nullptr);
  EXPECT_STREQ(gc3GetErrorString(gc3Deadlock), "the program is in a deadlock");
  EXPECT_EQ(gc3CommDestroy(nullptr), gc3Success);
}

namespace {

/// What the last rank of an adversarial call of one element holds; every rank brings 1.
float adversarialResult(const ProgramSpec &program, uint64_t seed) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.order = gc3OrderAdversarial;
  config.seed = seed;
  Group group({program}, static_cast<int>(program.ranks.size()), config);
  std::vector<float> inputs(program.ranks.size(), 1), outputs(program.ranks.size(), -100);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3RunProgram(comm, program.name.c_str(), &inputs[static_cast<size_t>(r)], &outputs[static_cast<size_t>(r)],
                         1, gc3Float32, gc3Sum, nullptr);
  }),
            gc3Success);
  return outputs.back();
}

} // namespace

// New memory is zero, which a sum does not show.
TEST(Adversarial, ScratchHoldsGarbage) {
  ProgramSpec program{"reads_scratch", "reads_scratch"};
  program.scratchNames = {"scratch"};
  Rank rank;
  rank.inputSlots = rank.outputSlots = 1;
  rank.scratchSlots = {1};
  rank.blocks.push_back(
      {-1, -1, 0, {{Opcode::Copy, in(0), out(0), 1, {}}, {Opcode::Reduce, scratch(0), out(0), 1, {}}}});
  program.ranks = {rank};
  program.outputs = {{{{0, 0}}}};
  EXPECT_NE(adversarialResult(program, 1), 1);
}

// A send that its rank begins with waits for its turn as all steps do: here for a write that it races with.
TEST(Adversarial, FirstSendsCanBeLate) {
  ProgramSpec program{"races", "races"};
  Rank from, to;
  from.inputSlots = from.outputSlots = to.inputSlots = to.outputSlots = 1;
  from.blocks = {{1, -1, 0, {{Opcode::Send, out(0), {}, 1, {}}}}, {-1, -1, 0, {{Opcode::Copy, in(0), out(0), 1, {}}}}};
  to.blocks = {{-1, 0, 0, {{Opcode::RecvReduceCopy, in(0), out(0), 1, {}}}}};
  program.ranks = {from, to};
  program.outputs = {{{{0, 0}}}, {{{0, 0}, {1, 0}}}};
  std::set<float> results;
  for (uint64_t seed = 0; seed != 32; ++seed)
    results.insert(adversarialResult(program, seed));
  EXPECT_EQ(results, (std::set<float>{-99, 2}));
}
