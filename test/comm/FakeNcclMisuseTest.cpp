// SPDX-License-Identifier: Apache-2.0
// Tests that the fake NCCL ends the process if its caller misuses NCCL.
#include "FakeNcclSupport.h"

using namespace gc3;
using namespace gc3::test;

namespace {

using FakeNcclDeathTest = FakeNcclTest;

TEST_F(FakeNcclDeathTest, AFreedHandle) {
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  EXPECT_EQ(abort(made[0]), Result::Success);
  EXPECT_DEATH(gather(0, made[0]), "AllGather names a freed communicator, child of c0");
  EXPECT_DEATH(abort(made[0]), "CommAbort names a freed communicator");
  EXPECT_DEATH(destroy(reinterpret_cast<Comm>(this)), "CommDestroy names an unknown communicator");
  destroy(made[1]);
  destroy(made[2]);
}

/// A hook frees the handle after the call has begun and before the call uses the handle.
TEST_F(FakeNcclDeathTest, AHandleFreedBeforeTheCall) {
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  cuda.beforeCalls([&](int, const std::string &, uint64_t) { abort(made[0]); });
  EXPECT_DEATH(gather(0, made[0]), "AllGather names a freed communicator");
  cuda.beforeCalls(nullptr);
  destroyAll(made);
}

TEST_F(FakeNcclDeathTest, TheOrderOfFreeing) {
  const std::vector<Comm> comms = nccl.make(rankCount), made = splitAll(comms);
  std::array<RegisteredWindow, rankCount> registered;
  onAllRanks([&](size_t rank) { EXPECT_EQ(registerWindow(made[rank], registered[rank]), Result::Success); });
  EXPECT_DEATH(destroy(made[0]), "CommDestroy of child of c0 before its windows");
  EXPECT_DEATH(functions.MemFree(registered[0].memory), "MemFree of memory that is registered with child of c0");
  EXPECT_DEATH(functions.CommWindowDeregister(made[1], registered[0].window),
               "CommWindowDeregister of a window that is not registered with child of c1");
  EXPECT_DEATH(destroy(comms[0]), "CommDestroy of the application's communicator c0");
  for (size_t rank = 0; rank < rankCount; ++rank) {
    abort(made[rank]);
    functions.MemFree(registered[rank].memory);
  }
  EXPECT_DEATH(functions.MemFree(registered[0].memory), "MemFree of freed memory");
}

TEST_F(FakeNcclDeathTest, TwoThreadsThatPoll) {
  const std::vector<Comm> comms = nccl.make(rankCount);
  auto pollOften = [&] {
    std::thread other([&] {
      for (;;)
        poll(comms[0]);
    });
    for (;;)
      poll(comms[0]);
  };
  EXPECT_DEATH(pollOften(), "two threads are in CommGetAsyncError of c0");
}

TEST_F(FakeNcclDeathTest, TwoThreadsThatSetUp) {
  const std::vector<Comm> comms = nccl.make(rankCount), made = splitAll(comms);
  Comm child = nullptr;
  auto splitWhileSplit = [&] {
    std::thread other([&] { split(comms[0], &child); });
    Monitor::awaitWaiting("NCCL CommSplit");
    split(comms[0], &child);
  };
  EXPECT_DEATH(splitWhileSplit(), "CommSplit on c0 while another thread sets up c0");
  auto splitWhileShown = [&] {
    RegisteredWindow registered;
    std::thread other([&] { registerWindow(made[0], registered); });
    Monitor::awaitWaiting("NCCL CommWindowRegister");
    split(comms[0], &child);
  };
  EXPECT_DEATH(splitWhileShown(), "CommSplit on c0 while another thread sets up child of c0");
  auto destroyWhileShown = [&] {
    RegisteredWindow registered;
    std::thread other([&] { registerWindow(made[0], registered); });
    Monitor::awaitWaiting("NCCL CommWindowRegister");
    destroy(made[0]);
  };
  EXPECT_DEATH(destroyWhileShown(), "CommDestroy of child of c0 while another thread uses it");
  destroyAll(made);
}

TEST_F(FakeNcclDeathTest, OtherCallsOnOtherRanks) {
  const std::vector<Comm> made = splitAll(nccl.make(rankCount));
  auto differ = [&] {
    RegisteredWindow registered;
    Comm child = nullptr;
    std::thread other([&] { registerWindow(made[0], registered); });
    Monitor::awaitWaiting("NCCL CommWindowRegister");
    split(made[1], &child);
  };
  EXPECT_DEATH(differ(), "rank 1 calls CommSplit and another rank CommWindowRegister");
  destroyAll(made);
}

} // namespace
