// SPDX-License-Identifier: Apache-2.0
// Communicators: every way to be born and to die, and what the engine hears of it.
#include "Front.h"
#include "nccl/Communicators.h"

#include <functional>

using namespace gc3::nccl;
using namespace gc3::ncclapi;
using namespace gc3::nccl::test;

using Lifetime = Front;

TEST_F(Lifetime, EveryBirthIsAttached) {
  Comm parent = makeComm(8, 3), comms[2] = {};
  UniqueId id{};
  Config config{sizeof(Config), 0, 0, configUndefined};
  int excluded[] = {7};
  struct {
    std::function<Result()> birth;
    Events events;
  } const cases[] = {
      {[&] { return ncclCommInitRank(comms, 4, id, 1); }, {"CommInitRank(4, id, 1)", "attach c1=1/4"}},
      {[&] { return ncclCommInitRankConfig(comms, 4, id, 2, &config); },
       {"CommInitRankConfig(4, id, 2, config)", "attach c2=2/4"}},
      {[&] { return ncclCommInitRankScalable(comms, 4, 3, 1, &id, nullptr); },
       {"CommInitRankScalable(4, 3, 1, ids, null)", "attach c3=3/4"}},
      {[&] { return ncclCommInitAll(comms, 2, nullptr); }, {"CommInitAll(2, 0x0)", "attach c4=0/2 c5=1/2"}},
      {[&] { return ncclCommSplit(parent, 1, 2, comms, nullptr); }, {"CommSplit(c0, 1, 2, null)", "attach c6=2/4"}},
      {[&] { return ncclCommSplit(parent, -1, 0, comms, nullptr); }, {"CommSplit(c0, -1, 0, null)"}},
      {[&] { return ncclCommShrink(parent, excluded, 1, comms, nullptr, 0); },
       {"CommShrink(c0, 1, null, 0)", "attach c7=3/7"}},
      {[&] { return ncclCommGrow(parent, 9, nullptr, -1, comms, nullptr); }, {"CommGrow(c0, 9, null, -1, null)"}},
      {[&] { return ncclCommGrow(nullptr, 9, &id, 8, comms, nullptr); }, {"CommGrow(null, 9, ids, 8, null)"}},
      {[&] { return ncclCommInitRank(comms, 3, id, 1); }, {"CommInitRank(3, id, 1)", "attach c10=1/3"}},
      {[&] { return ncclCommInitRank(comms, 1, id, 0); }, {"CommInitRank(1, id, 0)"}},
  };
  for (const auto &[birth, events] : cases) {
    EXPECT_EQ(birth(), Result::Success);
    EXPECT_EQ(take(), events);
  }
}

/// NCCL writes a child's when the group ends, and others at once, to where it does not write again.
TEST_F(Lifetime, HandlesAreReadWhenTheyHaveBeenWritten) {
  Comm parent = makeComm(), child = parent;
  ncclGroupStart();
  for (int rank = 0; rank < 2; ++rank) {
    Comm comm = nullptr;
    ncclCommInitRank(&comm, 2, {}, rank);
  }
  ncclCommSplit(parent, 0, 1, &child, nullptr);
  EXPECT_EQ(ncclCommDestroy(nullptr), Result::Success);
  EXPECT_EQ(ncclCommAbort(nullptr), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(take().back(), "attach c1=0/2 c2=1/2 c3=1/2");
}

TEST_F(Lifetime, FailedBirthsAreNot) {
  Comm comm = nullptr;
  fakeNcclFail("CommInitRank", Result::RemoteError);
  EXPECT_EQ(ncclCommInitRank(&comm, 4, {}, 0), Result::RemoteError);
  EXPECT_EQ(take(), Events{"CommInitRank(4, id, 0)"});
}

/// The process reads its settings once, so each test runs in a process of its own.
class LifetimeDeathTest : public Front {
protected:
  LifetimeDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  /// Ends the process, with 0 if a communicator with this config makes these events.
  [[noreturn]] static void makeWith(const char *commBlocking, int blocking, const Events &expected) {
    setenv("NCCL_COMM_BLOCKING", commBlocking, 1);
    Config config{sizeof(Config), 0, 0, blocking};
    Comm comm = nullptr;
    ncclCommInitRankConfig(&comm, 4, {}, 0, &config);
    std::exit(take() == expected ? 0 : 1);
  }
};

TEST_F(LifetimeDeathTest, TheEnvironmentDecidesWhoBlocks) {
  const Events made{"CommInitRankConfig(4, id, 0, config)"};
  const Events attached{"CommInitRankConfig(4, id, 0, config)", "attach c0=0/4"};
  EXPECT_EXIT(makeWith("1", 0, attached), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(makeWith("0", 1, made), testing::ExitedWithCode(0), "");
}

TEST_F(Lifetime, EveryDeathGivesBackOrEndsWhatRuns) {
  Comm comm = nullptr, child = nullptr;
  struct {
    std::function<Result()> death;
    Events events;
    const char *function;
  } const cases[] = {
      {[&] { return ncclCommDestroy(comm); }, {"detach c0", "CommDestroy(c0)"}, "CommDestroy"},
      {[&] { return ncclCommFinalize(comm); }, {"detach c0", "CommFinalize(c0)"}, "CommFinalize"},
      {[&] { return ncclCommAbort(comm); }, {"abort c0", "forget c0", "CommAbort(c0)"}, "CommAbort"},
      {[&] { return ncclCommRevoke(comm, 0); }, {"abort c0", "forget c0", "CommRevoke(c0, 0)"}, "CommRevoke"},
      {[&] { return ncclCommShrink(comm, nullptr, 3, &child, nullptr, shrinkAbort); },
       {"abort c0", "forget c0", "CommShrink(c0, 3, null, 1)"},
       "CommShrink"},
  };
  for (const auto &[death, events, function] : cases) {
    for (Result result : {Result::InProgress, Result::RemoteError, Result::Success}) {
      fakeNcclReset();
      comm = makeComm(4);
      if (result != Result::Success)
        fakeNcclFail(function, result);
      EXPECT_EQ(death(), result);
      EXPECT_EQ(take(), events) << function;
    }
  }
}

TEST_F(Lifetime, NothingIsKeptOfTheDead) {
  for (auto *death : {&ncclCommDestroy, &ncclCommFinalize, &ncclCommAbort}) {
    Comm comm = makeComm();
    EXPECT_EQ(death(comm), Result::Success);
    EXPECT_EQ(Communicators::table().find(comm), nullptr);
  }
}

/// Nobody waits for what has failed.
TEST_F(Lifetime, GivingBackMayFail) {
  Comm comm = makeComm();
  fakeEngine().hasMemory = false;
  EXPECT_EQ(ncclCommFinalize(comm), Result::SystemError);
  fakeEngine().hasMemory = true;
  EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
  EXPECT_EQ(take(), (Events{"detach c0", "CommDestroy(c0)"}));
}

TEST_F(Lifetime, AfterwardsNcclServes) {
  Comm comm = makeComm();
  EXPECT_EQ(ncclCommFinalize(comm), Result::Success);
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
  EXPECT_EQ(take(),
            (Events{"detach c0", "CommFinalize(c0)", "AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)", "CommDestroy(c0)"}));
  comm = makeComm();
  EXPECT_EQ(ncclCommRevoke(comm, 0), Result::Success);
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  Comm child = nullptr;
  EXPECT_EQ(ncclCommSplit(comm, 0, 1, &child, nullptr), Result::Success);
  EXPECT_EQ(take(), (Events{"abort c1", "forget c1", "CommRevoke(c1, 0)", "AllReduce(0x0, 0x0, 2, 7, 0, c1, 0x0)",
                            "CommSplit(c1, 0, 1, null)", "attach c2=1/2"}));
}

/// Which would be an error of NCCL's.
TEST_F(Lifetime, WhatWasRevokedHereIsNotRevokedAgain) {
  Comm comm = makeComm();
  fakeEngine().revokes = true;
  EXPECT_EQ(ncclCommRevoke(comm, 0), Result::Success);
  EXPECT_EQ(take(), (Events{"abort c0", "forget c0"}));
  comm = makeComm();
  fakeNcclFail("CommRevoke", Result::InvalidArgument);
  EXPECT_EQ(ncclCommRevoke(comm, 1), Result::InvalidArgument) << "NCCL knows no flags";
  EXPECT_EQ(take(), (Events{"abort c1", "forget c1", "CommRevoke(c1, 1)"}));
  fakeEngine().revokes = false;
  fakeNcclFail("CommRevoke", Result::InvalidArgument);
  EXPECT_EQ(ncclCommRevoke(comm, 0), Result::InvalidArgument) << "the application's own mistake";
  EXPECT_EQ(take(), Events{"CommRevoke(c1, 0)"});
}

// A program that has destroyed it by pncclCommDestroy, say.
TEST_F(Lifetime, AHandleThatComesAgainIsANewCommunicator) {
  Comm comm = makeComm(4, 1);
  fakeNcclReuse(comm);
  Comm again = nullptr;
  ASSERT_EQ(ncclCommInitRank(&again, 2, {}, 0), Result::Success);
  ASSERT_EQ(again, comm);
  EXPECT_EQ(take(), (Events{"CommInitRank(2, id, 0)", "attach c1=0/2", "abort c0", "forget c0"}));
  EXPECT_EQ(allReduce(again, 2), Result::Success);
  EXPECT_EQ(take(), Events{"run 7 AllReduce 8 B float sum on c1"});
}

TEST_F(Lifetime, AsynchronousErrorsOfTheEngineShowAsNccls) {
  Comm comm = makeComm(), other = makeComm(3);
  auto ask = [](Comm of) {
    Result error = Result::InvalidUsage;
    EXPECT_EQ(ncclCommGetAsyncError(of, &error), Result::Success);
    return error;
  };
  EXPECT_EQ(ask(comm), Result::Success);
  fakeEngine().asyncError = Result::RemoteError;
  EXPECT_EQ(ask(comm), Result::RemoteError);
  EXPECT_EQ(ask(other), Result::Success) << "the engine has nothing to do with it";
  fakeNcclAsyncError(Result::InProgress);
  EXPECT_EQ(ask(comm), Result::InProgress) << "NCCL's own comes first";
  Result error = Result::Success;
  fakeNcclFail("CommGetAsyncError", Result::InvalidArgument);
  EXPECT_EQ(ncclCommGetAsyncError(comm, &error), Result::InvalidArgument);
}
