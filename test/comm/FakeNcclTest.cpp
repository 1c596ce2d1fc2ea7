// SPDX-License-Identifier: Apache-2.0
// Tests collective calls of the fake NCCL, and the revocations and aborts that end their waits.
#include "FakeNcclSupport.h"

#include <atomic>

using namespace gc3;
using namespace gc3::test;

namespace {

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

TEST_F(FakeNcclTest, SplitsInTheBackground) {
  nccl.inBackground = true;
  const std::vector<Comm> comms = nccl.make(rankCount, false);
  std::array<Comm, rankCount> made{};
  for (size_t rank = 0; rank < rankCount; ++rank) {
    EXPECT_EQ(made[0], nullptr);
    EXPECT_EQ(split(comms[rank], &made[rank]), Result::Success);
  }
  for (Comm comm : made) {
    ASSERT_NE(comm, nullptr) << "without a query of its parent";
    destroy(comm);
  }
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

/// Kernels poll memory to which host threads write without calling the fake.
TEST_F(FakeNcclTest, SynchronizeNoticesWhatTheHostWrites) {
  std::atomic<bool> isSet = false;
  cuda.enqueue(streams[0], [&] { return [&] { return isSet.load(); }; });
  std::thread rank0 = onRank(0, [&] { EXPECT_EQ(FakeCuda::table().synchronize(streams[0]), 0); });
  Monitor::awaitWaiting("CUDA synchronize");
  isSet = true;
  rank0.join();
}

/// CommAbort waits only until the rank's gathers have left their streams. CommDestroy also waits for the other ranks,
/// without which the gathers cannot end.
TEST_F(FakeNcclTest, FreeingWaitsForGathers) {
  nccl.abortWaits = true;
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  std::atomic<bool> isSet = false;
  cuda.enqueue(streams[0], [&] { return [&] { return isSet.load(); }; });
  for (size_t rank = 0; rank < 2; ++rank)
    EXPECT_EQ(gather(rank, made[rank]), Result::Success);
  std::thread rank0 = onRank(0, [&] { EXPECT_EQ(abort(made[0]), Result::Success); });
  std::thread rank1 = onRank(1, [&] { EXPECT_EQ(destroy(made[1]), Result::Success); });
  Monitor::awaitWaiting("NCCL CommAbort");
  Monitor::awaitWaiting("NCCL CommDestroy");
  isSet = true;
  rank0.join();
  EXPECT_EQ(Monitor::waiting("NCCL CommDestroy"), 1u);
  FakeCuda::table().destroyStream(std::exchange(streams[1], cuda.stream(1)));
  rank1.join();
  destroy(made[2]);
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

/// One thread makes the calls of all ranks.
TEST_F(FakeNcclTest, GroupsOfAllRanks) {
  nccl.connects = true;
  const std::vector<Comm> comms = nccl.make(rankCount);
  std::array<Comm, rankCount> made{};
  functions.GroupStart();
  for (size_t rank = 0; rank < rankCount; ++rank)
    EXPECT_EQ(split(comms[rank], &made[rank]), Result::Success);
  EXPECT_EQ(made[0], nullptr);
  EXPECT_EQ(functions.GroupEnd(), Result::Success);
  functions.GroupStart();
  for (size_t rank = 0; rank < rankCount; ++rank)
    EXPECT_EQ(gather(rank, made[rank]), Result::Success);
  EXPECT_EQ(functions.GroupEnd(), Result::Success);
  for (size_t rank = 0; rank < rankCount; ++rank) {
    EXPECT_TRUE(cuda.isIdle(streams[rank]));
    EXPECT_EQ(gathered(rank), (std::vector{1, 2, 3}));
    destroy(made[rank]);
  }
}

TEST_F(FakeNcclTest, NetworksAreForAPart) {
  nccl.teamSize = 1;
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  const gin::Plugin &part = *FakeNccl::part();
  onAllRanks([&](size_t rank) {
    EXPECT_EQ(functions.TeamLsa(made[rank]).ranks, 1);
    std::vector<std::byte> network(part.commBytes);
    EXPECT_EQ(part.create(functions.DevCommCreate, made[rank], 5, network.data()), Result::Success);
    EXPECT_EQ(part.contexts(network.data()), 4u);
    EXPECT_EQ(part.destroy(functions.DevCommDestroy, made[rank], network.data()), Result::Success);
    destroy(made[rank]);
  });
  EXPECT_EQ(nccl.signals(), 5u);
  EXPECT_EQ(nccl.networksMade, 3u);
  EXPECT_EQ(nccl.partCalls, 3u);
}

TEST_F(FakeNcclTest, RegistersWindows) {
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  std::array<RegisteredWindow, rankCount> registered;
  onAllRanks([&](size_t rank) {
    EXPECT_EQ(registerWindow(made[rank], registered[rank]), Result::Success);
    static_cast<char *>(registered[rank].memory)[5] = static_cast<char>(rank);
  });
  for (size_t rank = 0; rank < rankCount; ++rank)
    for (int peer = 0; peer < rankCount; ++peer) {
      void *at = nullptr;
      ASSERT_EQ(functions.GetLsaDevicePointer(registered[rank].window, 5, peer, &at), Result::Success);
      EXPECT_EQ(*static_cast<char *>(at), peer);
    }
  EXPECT_EQ(nccl.windowsMade, 3u);
  nccl.deregisterWaits = nccl.destroyWaits = true;
  onAllRanks([&](size_t rank) {
    EXPECT_EQ(functions.CommWindowDeregister(made[rank], registered[rank].window), Result::Success);
    EXPECT_EQ(functions.MemFree(registered[rank].memory), Result::Success);
    EXPECT_EQ(destroy(made[rank]), Result::Success);
  });
}

/// Rank 0 waits for the other ranks in a function, and a revocation or an abort ends the wait. There is a test for each
/// function that can wait.
class FakeNcclEnds : public FakeNcclTest, public testing::WithParamInterface<bool> {
protected:
  /// Runs `call` on rank 0, waits until it waits in `function`, and revokes or aborts `comm`. The call must then return
  /// an error. `isOwn`: gc3 made `comm`.
  void endWait(const char *function, Comm comm, bool isOwn, const std::function<Result()> &call) {
    std::thread rank0 = onRank(0, [&] { EXPECT_EQ(call(), Result::InternalError) << function; });
    Monitor::awaitWaiting(std::string("NCCL ") + function);
    const bool isRevoked = GetParam();
    auto *abortOfOthers = application<signature::CommAbort>("CommAbort");
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

TEST_P(FakeNcclEnds, AConnectionInAGroup) {
  nccl.connects = true;
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  endWait("AllGather", made[0], true, [&] {
    functions.GroupStart();
    EXPECT_EQ(gather(0, made[0]), Result::Success);
    EXPECT_EQ(gather(0, made[0]), Result::Success);
    return functions.GroupEnd();
  });
  abort(made[1]);
  abort(made[2]);
}

TEST_P(FakeNcclEnds, ARegistration) {
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  RegisteredWindow registered;
  endWait("CommWindowRegister", made[0], true, [&] { return registerWindow(made[0], registered); });
  EXPECT_EQ(registered.window, nullptr);
  EXPECT_EQ(functions.MemFree(registered.memory), Result::Success);
  static_cast<char *>(registered.memory)[0] = 1; // freed memory stays mapped, because peers can still access it
  destroy(made[1]);
  destroy(made[2]);
}

TEST_P(FakeNcclEnds, ADeregistration) {
  nccl.deregisterWaits = true;
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  std::array<RegisteredWindow, rankCount> registered;
  onAllRanks([&](size_t rank) { EXPECT_EQ(registerWindow(made[rank], registered[rank]), Result::Success); });
  endWait("CommWindowDeregister", made[0], true,
          [&] { return functions.CommWindowDeregister(made[0], registered[0].window); });
  EXPECT_EQ(abort(made[1]), Result::Success) << "with its window";
  EXPECT_EQ(abort(made[2]), Result::Success);
  for (RegisteredWindow &one : registered)
    functions.MemFree(one.memory);
}

} // namespace
