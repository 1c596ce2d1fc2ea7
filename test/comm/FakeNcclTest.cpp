// SPDX-License-Identifier: Apache-2.0
// The fake of NCCL, with a thread for each rank.
#include "FakeNccl.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

using namespace gc3;
using namespace gc3::test;
using ncclapi::Comm;
using ncclapi::Config;
using ncclapi::DataType;
using ncclapi::Result;

namespace {

constexpr int rankCount = 3;

class FakeNcclTest : public testing::Test {
protected:
  FakeNcclTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    cuda.waits = true;
    for (int rank = 0; rank < rankCount; ++rank) {
      streams.push_back(cuda.stream(rank));
      buffers.push_back(cuda.allocate(64));
    }
  }
  ~FakeNcclTest() override {
    for (cuda::Stream stream : streams)
      FakeCuda::table().destroyStream(stream);
    for (std::byte *buffer : buffers)
      cuda.release(buffer);
    EXPECT_EQ(nccl.leaks(), "");
  }

  /// Runs `work` on a thread for each rank whose current device is its own.
  static void onAllRanks(const std::function<void(size_t rank)> &work) {
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < rankCount; ++rank)
      threads.emplace_back([&, rank] {
        FakeCuda::currentDevice = static_cast<int>(rank);
        work(rank);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
  static std::thread onRank(int rank, std::function<void()> work) {
    return std::thread([rank, work = std::move(work)] {
      FakeCuda::currentDevice = rank;
      work();
    });
  }

  Config config(int blocking) {
    Config made{};
    made.size = sizeof made;
    made.magic = ncclapi::configMagic;
    made.version = ncclapi::configVersion;
    made.blocking = blocking;
    return made;
  }
  Result split(Comm parent, Comm *child, int key = 0, int blocking = 1) {
    Config of = config(blocking);
    return functions.CommSplit(parent, 0, key, child, &of);
  }
  std::vector<Comm> splitAll(const std::vector<Comm> &parents) {
    std::vector<Comm> made(rankCount);
    onAllRanks([&](size_t rank) { EXPECT_EQ(split(parents[rank], &made[rank]), Result::Success); });
    return made;
  }
  void destroyAll(const std::vector<Comm> &comms) {
    onAllRanks([&](size_t rank) { EXPECT_EQ(functions.CommDestroy(comms[rank]), Result::Success); });
  }

  /// Gathers the ranks' numbers.
  Result gather(size_t rank, Comm comm) {
    buffers[rank][0] = static_cast<std::byte>(rank + 1);
    return functions.AllGather(buffers[rank], buffers[rank] + 1, 1, DataType::Uint8, comm, streamOf(rank));
  }
  ncclapi::Stream streamOf(size_t rank) const { return reinterpret_cast<ncclapi::Stream>(streams[rank]); }
  std::vector<int> gathered(size_t rank) const {
    std::vector<int> all;
    for (int r = 0; r < rankCount; ++r)
      all.push_back(static_cast<int>(buffers[rank][1 + r]));
    return all;
  }
  template <typename Function>
  Function *application(const char *name) {
    return reinterpret_cast<Function *>(FakeNccl::applicationFunction(name));
  }
  Result poll(Comm comm) {
    Result error = Result::InternalError;
    EXPECT_EQ(application<ncclapi::signature::CommGetAsyncError>("CommGetAsyncError")(comm, &error), Result::Success);
    return error;
  }
  Result destroy(Comm comm) { return functions.CommDestroy(comm); }
  Result abort(Comm comm) { return functions.CommAbort(comm); }
  static Result revoke(Comm comm) {
    return reinterpret_cast<ncclapi::signature::CommRevoke *>(FakeNccl::function("CommRevoke"))(comm, 0);
  }
  /// A window of a rank, and its memory.
  struct Shown {
    void *memory = nullptr;
    ncclapi::Window window = nullptr;
  };
  Result show(Comm comm, Shown &shown) {
    EXPECT_EQ(functions.MemAlloc(&shown.memory, 4096), Result::Success);
    return functions.CommWindowRegister(comm, shown.memory, 4096, &shown.window, 0);
  }

  ncclapi::Nccl tableOf(int version) {
    nccl.version = version;
    return nccl.table();
  }

  FakeCuda cuda;
  FakeNccl nccl{cuda};
  const ncclapi::Nccl functions = tableOf(22902);
  std::vector<cuda::Stream> streams;
  std::vector<std::byte *> buffers;
};

TEST_F(FakeNcclTest, SplitsByColorAndKey) {
  const std::vector<Comm> comms = nccl.make(rankCount);
  std::array<int, rankCount> ranks{}, sizes{};
  onAllRanks([&](size_t rank) {
    Comm child = nullptr;
    const int color = rank == 1 ? -1 : 7;
    EXPECT_EQ(functions.CommSplit(comms[rank], color, -static_cast<int>(rank), &child, nullptr), Result::Success);
    EXPECT_EQ(child == nullptr, rank == 1);
    if (!child)
      return;
    functions.CommUserRank(child, &ranks[rank]);
    functions.CommCount(child, &sizes[rank]);
    destroy(child);
  });
  EXPECT_EQ(ranks, (std::array{1, 0, 0}));
  EXPECT_EQ(sizes, (std::array{2, 0, 2}));
  EXPECT_EQ(nccl.splits, 2u);
  EXPECT_EQ(nccl.takeEvents(), std::vector<std::string>());
  EXPECT_EQ(nccl.takeProbes(), std::vector<std::string>(3, "CommSplit"));
}

TEST_F(FakeNcclTest, SplitsParentsThatDoNotBlock) {
  const std::vector<Comm> comms = nccl.make(rankCount, false);
  std::array<Comm, rankCount> made{};
  for (size_t rank = 0; rank < rankCount; ++rank) {
    EXPECT_EQ(split(comms[rank], &made[rank]), Result::Success);
    EXPECT_EQ(poll(comms[0]), rank < rankCount - 1 ? Result::InProgress : Result::Success);
  }
  EXPECT_NE(made[0], nullptr);
  EXPECT_EQ(made[1], nullptr) << "not before its parent says so";
  EXPECT_EQ(poll(comms[1]), Result::Success);
  EXPECT_EQ(poll(comms[2]), Result::Success);
  EXPECT_EQ(nccl.children().size(), 3u);
  for (Comm comm : made)
    destroy(comm);
}

TEST_F(FakeNcclTest, GathersOnStreams) {
  nccl.connects = true;
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  for (int times = 0; times < 2; ++times)
    onAllRanks([&](size_t rank) {
      std::memset(buffers[rank], 0, 64);
      EXPECT_EQ(gather(rank, made[rank]), Result::Success);
      EXPECT_EQ(FakeCuda::table().synchronize(streams[rank]), 0);
      EXPECT_EQ(gathered(rank), (std::vector{1, 2, 3}));
    });
  EXPECT_EQ(nccl.gathersBegun, 6u);
  destroyAll(made);
}

TEST_F(FakeNcclTest, ARevocationEndsAGather) {
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  std::thread rank0 = onRank(0, [&] {
    EXPECT_EQ(gather(0, made[0]), Result::Success);
    EXPECT_EQ(FakeCuda::table().synchronize(streams[0]), 0);
  });
  Monitor::awaitWaiting("CUDA synchronize");
  EXPECT_EQ(revoke(made[0]), Result::Success);
  rank0.join();
  EXPECT_EQ(gather(0, made[0]), Result::InvalidUsage);
  EXPECT_EQ(nccl.revoked, std::vector{made[0]});
  destroyAll(made);
}

TEST_F(FakeNcclTest, RegistersWindows) {
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  std::array<Shown, rankCount> shown;
  onAllRanks([&](size_t rank) {
    EXPECT_EQ(show(made[rank], shown[rank]), Result::Success);
    static_cast<char *>(shown[rank].memory)[5] = static_cast<char>(rank);
  });
  for (size_t rank = 0; rank < rankCount; ++rank)
    for (int peer = 0; peer < rankCount; ++peer) {
      void *at = nullptr;
      ASSERT_EQ(functions.GetLsaDevicePointer(shown[rank].window, 5, peer, &at), Result::Success);
      EXPECT_EQ(*static_cast<char *>(at), peer);
    }
  EXPECT_EQ(nccl.windowsMade, 3u);
  nccl.deregisterWaits = nccl.destroyWaits = true;
  onAllRanks([&](size_t rank) {
    EXPECT_EQ(functions.CommWindowDeregister(made[rank], shown[rank].window), Result::Success);
    EXPECT_EQ(functions.MemFree(shown[rank].memory), Result::Success);
    EXPECT_EQ(destroy(made[rank]), Result::Success);
  });
}

/// How a wait of rank 0 for the other ranks ends, by what it waits in.
class FakeNcclEnds : public FakeNcclTest, public testing::WithParamInterface<bool> {
protected:
  /// Rank 0 waits in `call` of a communicator, which must then return an error.
  void endWait(const char *function, Comm comm, bool isOwn, const std::function<Result()> &call) {
    std::thread rank0 = onRank(0, [&] { EXPECT_EQ(call(), Result::InternalError) << function; });
    Monitor::awaitWaiting(std::string("NCCL ") + function);
    const bool isRevoked = GetParam();
    auto *abortOfOthers = application<ncclapi::signature::CommAbort>("CommAbort");
    EXPECT_EQ(isRevoked ? revoke(comm) : isOwn ? abort(comm) : abortOfOthers(comm), Result::Success);
    rank0.join();
    if (isRevoked && isOwn) {
      EXPECT_EQ(abort(comm), Result::Success);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(, FakeNcclEnds, testing::Bool(),
                         [](const auto &param) { return param.param ? "Revocation" : "Abort"; });

TEST_P(FakeNcclEnds, ASplit) {
  Comm child = nullptr;
  const std::vector<Comm> comms = nccl.make(rankCount);
  endWait("CommSplit", comms[0], false, [&] { return split(comms[0], &child); });
  EXPECT_EQ(child, nullptr);
}

TEST_P(FakeNcclEnds, ASplitInAGroup) {
  Comm child = nullptr;
  const std::vector<Comm> comms = nccl.make(rankCount);
  endWait("CommSplit", comms[0], false, [&] {
    functions.GroupStart();
    EXPECT_EQ(split(comms[0], &child), Result::Success);
    return functions.GroupEnd();
  });
  EXPECT_EQ(child, nullptr);
}

TEST_P(FakeNcclEnds, AConnection) {
  nccl.connects = true;
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  endWait("AllGather", made[0], true, [&] { return gather(0, made[0]); });
  EXPECT_TRUE(cuda.isIdle(streams[0]));
  destroy(made[1]);
  destroy(made[2]);
}

TEST_P(FakeNcclEnds, ARegistration) {
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  Shown shown;
  endWait("CommWindowRegister", made[0], true, [&] { return show(made[0], shown); });
  EXPECT_EQ(shown.window, nullptr);
  EXPECT_EQ(functions.MemFree(shown.memory), Result::Success);
  static_cast<char *>(shown.memory)[0] = 1; // peers can still reach it
  destroy(made[1]);
  destroy(made[2]);
}

TEST_P(FakeNcclEnds, ADeregistration) {
  nccl.deregisterWaits = true;
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  std::array<Shown, rankCount> shown;
  onAllRanks([&](size_t rank) { EXPECT_EQ(show(made[rank], shown[rank]), Result::Success); });
  endWait("CommWindowDeregister", made[0], true,
          [&] { return functions.CommWindowDeregister(made[0], shown[0].window); });
  EXPECT_EQ(abort(made[1]), Result::Success) << "with its window";
  EXPECT_EQ(abort(made[2]), Result::Success);
  for (Shown &one : shown)
    functions.MemFree(one.memory);
}

} // namespace
