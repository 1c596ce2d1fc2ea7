// SPDX-License-Identifier: Apache-2.0
// Tests failing calls of the fake NCCL, which a test chooses by device and number, and non-blocking handles.
#include "FakeNcclSupport.h"

using namespace gc3;
using namespace gc3::test;

namespace {

class FakeNcclFailures : public FakeNcclTest {
protected:
  /// Creates a child, gathers on it, registers a window, and frees everything. Returns the first error.
  Result useChild(size_t rank, Comm parent) {
    Comm child = nullptr;
    if (const Result result = split(parent, &child); result != Result::Success)
      return result;
    Result result = gather(rank, child);
    if (result == Result::Success && FakeCuda::table().synchronize(streams[rank]) != 0)
      result = FakeNccl::failure;
    RegisteredWindow registered;
    if (result == Result::Success)
      result = functions.MemAlloc(&registered.memory, 4096);
    if (result == Result::Success)
      result = functions.CommWindowRegister(child, registered.memory, 4096, &registered.window, 0);
    if (registered.window)
      functions.CommWindowDeregister(child, registered.window);
    if (registered.memory)
      functions.MemFree(registered.memory);
    abort(child);
    return result;
  }
};

const Names calls{"NCCL CommSplit", "NCCL AllGather", "CUDA synchronize", "NCCL MemAlloc", "NCCL CommWindowRegister"};

TEST_F(FakeNcclFailures, CountsTheCallsOfEachDevice) {
  const std::vector<Comm> comms = nccl.make(rankCount);
  onAllRanks([&](size_t rank) { EXPECT_EQ(useChild(rank, comms[rank]), Result::Success); });
  for (int rank = 0; rank < rankCount; ++rank)
    EXPECT_EQ(cuda.callsOf(rank), calls);
}

/// One call of rank 1 fails. Rank 1 then revokes all children, so that the other ranks do not wait for it. After a
/// failed registration, which is the last call, no rank waits.
class FakeNcclSweep : public FakeNcclFailures, public testing::WithParamInterface<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(, FakeNcclSweep, testing::Range(uint64_t{1}, calls.size() + 1));

TEST_P(FakeNcclSweep, FailsTheCall) {
  nccl.failsLate = true;
  cuda.failing = {1, GetParam()};
  const std::vector<Comm> comms = nccl.make(rankCount);
  std::array<Result, rankCount> results{};
  onAllRanks([&](size_t rank) {
    results[rank] = useChild(rank, comms[rank]);
    if (rank != 1 || GetParam() == calls.size())
      return;
    for (Comm child : nccl.children())
      EXPECT_EQ(revoke(child), Result::Success);
  });
  EXPECT_EQ(results[1], FakeNccl::failure);
  EXPECT_EQ(cuda.failed, calls[GetParam() - 1]);
}

/// Without `failsLate`, a failing call does not take part, so other ranks wait for it.
TEST_F(FakeNcclFailures, AFailingCallDoesNotTakePart) {
  cuda.failing = {1, 1};
  const std::vector<Comm> comms = nccl.make(rankCount);
  Comm made = comms[1], waiting = nullptr;
  std::thread rank0 = onRank(0, [&] { EXPECT_EQ(split(comms[0], &waiting), Result::InternalError); });
  EXPECT_EQ(split(comms[1], &made), FakeNccl::failure);
  EXPECT_EQ(made, nullptr);
  Monitor::awaitWaiting("NCCL CommSplit");
  EXPECT_EQ(revoke(comms[0]), Result::Success);
  rank0.join();
}

TEST_F(FakeNcclFailures, PollsAreCountedByThemselves) {
  const std::vector<Comm> comms = nccl.make(rankCount);
  cuda.failPoll = {1, "NCCL CommGetAsyncError", 2};
  EXPECT_EQ(poll(comms[1]), Result::Success);
  EXPECT_EQ(poll(comms[0]), Result::Success);
  EXPECT_EQ(poll(comms[1]), FakeNccl::failure);
  EXPECT_EQ(poll(comms[1]), Result::Success);
  EXPECT_EQ(cuda.pollsOf(1, "NCCL CommGetAsyncError"), 3u);
  EXPECT_EQ(cuda.callsOf(1), Names());
}

/// A hook runs before a call, and can revoke the communicator that the call names.
TEST_F(FakeNcclFailures, AHookRevokes) {
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  cuda.beforeCalls([&](int device, const std::string &name, uint64_t index) {
    if (device == 0 && name == "NCCL AllGather" && index == 2)
      std::thread([&] { EXPECT_EQ(revoke(made[0]), Result::Success); }).join();
  });
  EXPECT_EQ(gather(0, made[0]), Result::InvalidUsage);
  cuda.beforeCalls(nullptr);
  EXPECT_EQ(nccl.gathersBegun, 0u);
  destroyAll(made);
}

TEST_F(FakeNcclFailures, ResultsCanBePlanned) {
  const std::vector<Comm> comms = nccl.make(rankCount);
  nccl.fail("CommSplit", Result::RemoteError);
  Comm child = comms[0];
  EXPECT_EQ(split(comms[0], &child), Result::RemoteError);
  EXPECT_EQ(child, nullptr);
  nccl.asyncError(comms[1], Result::SystemError);
  EXPECT_EQ(poll(comms[0]), Result::Success);
  EXPECT_EQ(poll(comms[1]), Result::SystemError);
}

class FakeNcclNonblocking : public FakeNcclFailures {
protected:
  FakeNcclNonblocking() { nccl.alwaysBlocking = 0; }
  void await(Comm comm) {
    Result state = Result::InProgress;
    while (state == Result::InProgress)
      state = poll(comm);
    EXPECT_EQ(state, Result::Success);
  }
};

/// NCCL_COMM_BLOCKING=0 overrides the configuration, so the children are non-blocking.
TEST_F(FakeNcclNonblocking, ChildrenAreDoneWhenTheySaySo) {
  nccl.connects = true;
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  std::array<RegisteredWindow, rankCount> registered;
  for (size_t rank = 0; rank < rankCount; ++rank) {
    FakeCuda::currentDevice = static_cast<int>(rank);
    EXPECT_EQ(gather(rank, made[rank]), Result::InProgress);
    EXPECT_EQ(gather(rank, made[rank]), Result::InvalidArgument) << "before the first is done";
  }
  onAllRanks([&](size_t rank) {
    await(made[rank]);
    EXPECT_EQ(FakeCuda::table().synchronize(streams[rank]), 0);
    EXPECT_EQ(gathered(rank), (std::vector{1, 2, 3}));
    EXPECT_EQ(registerWindow(made[rank], registered[rank]), Result::InProgress);
    await(made[rank]);
    EXPECT_NE(registered[rank].window, nullptr);
    EXPECT_EQ(functions.CommWindowDeregister(made[rank], registered[rank].window), Result::Success);
    functions.MemFree(registered[rank].memory);
    EXPECT_EQ(destroy(made[rank]), Result::Success);
  });
}

TEST_F(FakeNcclNonblocking, ARevocationEndsWhatIsInProgress) {
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  RegisteredWindow registered;
  EXPECT_EQ(registerWindow(made[0], registered), Result::InProgress);
  EXPECT_EQ(poll(made[0]), Result::InProgress);
  EXPECT_EQ(revoke(made[0]), Result::Success);
  EXPECT_EQ(poll(made[0]), Result::InternalError);
  functions.MemFree(registered.memory);
  destroyAll(made);
}

TEST_F(FakeNcclNonblocking, GroupsAreInProgress) {
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  functions.GroupStart();
  EXPECT_EQ(gather(0, made[0]), Result::Success);
  EXPECT_EQ(functions.GroupEnd(), Result::InProgress);
  EXPECT_EQ(poll(made[0]), Result::Success);
  for (Comm comm : made)
    EXPECT_EQ(abort(comm), Result::Success);
  EXPECT_TRUE(cuda.isIdle(streams[0]));
  EXPECT_EQ(nccl.abortedSplits, 3u);
}

} // namespace
