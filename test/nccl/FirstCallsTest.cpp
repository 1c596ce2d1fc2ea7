// SPDX-License-Identifier: Apache-2.0
// Tests the first collective call on a communicator: either all ranks create gc3's child and join, or NCCL runs all
// calls.
#include "Front.h"

#include <algorithm>

using namespace gc3::comm;
using namespace gc3::test;

namespace {

class FirstCalls : public Front {
protected:
  /// Makes the first calls. Expects that NCCL runs them, and that gc3 makes no call of its own on the communicator
  /// after the first.
  void expectNccl(const Comms &comms) {
    for (int times = 0; times < 2; ++times) {
      EXPECT_EQ(allReduceAll(comms, few), Result::Success);
      const Events events = takeEvents();
      for (size_t rank = 0; rank < comms.size(); ++rank)
        EXPECT_EQ(std::count(events.begin(), events.end(), event(rank, nameOf(comms[rank]), few)), 1);
      EXPECT_EQ(std::count_if(events.begin(), events.end(), [](const auto &each) { return each.starts_with("run"); }),
                0);
      EXPECT_EQ(nccl.takeProbes().empty(), times == 1);
    }
    awaitThat([&] { return nccl.children().empty(); });
  }
};

/// Tests that run in a process of their own, because a process reads the environment once.
class FirstCallsDeathTest : public FirstCalls {
protected:
  FirstCallsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  /// Exits the process with 0 if no check has failed.
  [[noreturn]] static void exitNow() {
    std::fflush(nullptr);
    std::_Exit(HasFailure() ? 1 : 0);
  }
};

} // namespace

TEST_F(FirstCalls, FormAChildOnce) {
  for (bool blocking : {true, false}) {
    const Comms comms = make(2, blocking);
    EXPECT_EQ(nccl.takeProbes(), Events{}) << "nothing before the call";
    onEachRank(2, [&](size_t rank) { EXPECT_EQ(allReduce(rank, comms[rank], few), Result::Success); });
    expectSum(2);
    const Events probes = nccl.takeProbes();
    EXPECT_EQ(std::count(probes.begin(), probes.end(), "CommSplit"), 2);
    EXPECT_EQ(takeEvents().size(), 2u);
    onEachRank(2, [&](size_t rank) { EXPECT_EQ(allReduce(rank, comms[rank], few), Result::Success); });
    expectSum(2);
    EXPECT_EQ(nccl.takeProbes(), Events{});
    for (Comm comm : comms)
      EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
    takeEvents();
  }
}

// A first call that NCCL runs also creates the child, because all ranks make it.
TEST_F(FirstCalls, MayBeNccls) {
  const Comms comms = make(2, false);
  onEachRank(2, [&](size_t rank) { EXPECT_EQ(allReduce(rank, comms[rank], many), Result::Success); });
  Events events = takeEvents();
  std::sort(events.begin(), events.end());
  EXPECT_EQ(events, (Events{event(0, "c0", many), event(1, "c1", many)}));
  EXPECT_EQ(allReduceAll(comms, few), Result::Success);
  expectSum(2);
}

TEST_F(FirstCalls, OfOneRankAreNccls) {
  expectNccl(make(1));
  expectNccl(make(1, false));
}

TEST_F(FirstCalls, AreNcclsIfTheParentHasFailed) {
  const Comms comms = make();
  for (Comm comm : comms)
    nccl.asyncError(comm, Result::RemoteError);
  expectNccl(comms);
  EXPECT_EQ(stateOf(comms[0]), Result::RemoteError);
}

TEST_F(FirstCalls, AreNcclsIfNcclCannotSplit) {
  for (bool blocking : {true, false}) {
    failCalls("NCCL CommSplit");
    const Comms comms = make(2, blocking);
    expectNccl(comms);
    failCalls("");
    EXPECT_EQ(stateOf(comms[0]), Result::Success);
    for (Comm comm : comms)
      EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
    takeEvents();
  }
}

TEST_F(FirstCalls, AreNcclsIfNoProgramIsForSoManyRanks) {
  const Comms comms = nccl.make(4);
  for (Comm comm : comms)
    endLater(comm);
  EXPECT_EQ(inGroup(4, [&](size_t rank) { return allReduce(rank % 3, comms[rank], few); }), Result::Success);
  EXPECT_EQ(takeEvents().size(), 4 + 4u) << "two groups, and a call of each rank";
}

// One rank fails to join, and the other rank waits for it in the join. So NCCL can't run the call, and the call fails.
TEST_F(FirstCalls, FailIfARankCannotJoin) {
  const Comms comms = make();
  failCalls("CUDA createStream", 0);
  std::thread other([&] { EXPECT_EQ(allReduce(1, comms[1], few), Result::InvalidUsage); });
  for (int times = 0; times < 2; ++times)
    EXPECT_EQ(allReduce(0, comms[0], few), Result::UnhandledCudaError);
  EXPECT_EQ(stateOf(comms[0]), Result::UnhandledCudaError);
  EXPECT_EQ(ncclCommAbort(comms[0]), Result::Success);
  awaitThat([&] { return phaseOf(comms[1]) == Phase::Joining; }); // then the split has ended on rank 1, too
  EXPECT_EQ(ncclCommAbort(comms[1]), Result::Success);
  other.join();
  EXPECT_EQ(takeEvents(), (Events{"CommAbort(c0)", "CommAbort(c1)"}));
}

// During a capture, gc3 can't create a child, so NCCL runs the call. If one rank captures a call, all ranks do.
TEST_F(FirstCalls, AreNcclsIfTheyAreCaptured) {
  const Comms comms = make();
  capture(true);
  for (size_t rank = 0; rank < 2; ++rank)
    EXPECT_EQ(allReduce(rank, comms[rank], few), Result::Success) << "waits for no rank";
  EXPECT_EQ(takeEvents(), (Events{event(0, "c0", few), event(1, "c1", few)}));
  EXPECT_EQ(allReduceAll(comms, few), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"GroupStart()", "GroupEnd()", "GroupStart()", event(0, "c0", few),
                                  event(1, "c1", few), "GroupEnd()"}));
  EXPECT_EQ(nccl.takeProbes(), Events{});
  capture(false);
  EXPECT_EQ(allReduceAll(comms, few), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"GroupStart()", "GroupEnd()", "run 0", "run 1"}));
  expectSum(2);
  capture(true);
  EXPECT_EQ(allReduceAll(comms, few), Result::Success);
  capture(false);
  EXPECT_EQ(takeEvents(), (Events{"GroupStart()", "GroupEnd()", "run 0", "run 1"}));
  EXPECT_EQ(recv[0][0], 0) << "not before the replay";
  cuda.replay();
  expectSum(2);
}

// During a capture, gc3 can't load a program, so NCCL runs the call.
TEST_F(FirstCalls, OfAProgramAreNcclsIfTheyAreCaptured) {
  const Comms comms = makeJoined();
  const auto gather = [&] {
    return inGroup(2, [&](size_t rank) {
      return ncclAllGather(send[rank], recv[rank], few, DataType::Float32, comms[rank], streams[rank]);
    });
  };
  capture(true);
  EXPECT_EQ(gather(), Result::Success);
  capture(false);
  EXPECT_EQ(takeEvents(),
            (Events{"GroupStart()", "GroupEnd()", "GroupStart()", "AllGather(send0, recv0, 4, 7, c0, stream0)",
                    "AllGather(send1, recv1, 4, 7, c1, stream1)", "GroupEnd()"}));
  EXPECT_EQ(gather(), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"GroupStart()", "GroupEnd()", "run 0", "run 1"}));
}

// If one rank can't load a program, all ranks refuse the program, and NCCL runs its calls.
TEST_F(FirstCalls, OfAProgramAreNcclsIfARankCannotLoadIt) {
  failCalls("NCCL MemAlloc", 1);
  const Comms comms = make();
  const Events forwarded{"GroupStart()", event(0, "c0", few), event(1, "c1", few), "GroupEnd()"};
  EXPECT_EQ(allReduceAll(comms, few), Result::Success);
  Events events = takeEvents();
  EXPECT_EQ(Events(events.end() - 4, events.end()), forwarded);
  failCalls("");
  EXPECT_EQ(allReduceAll(comms, few), Result::Success);
  EXPECT_EQ(takeEvents(), forwarded);
}

// The first call waits for late ranks. Without a timeout, it waits indefinitely.
TEST_F(FirstCalls, WaitForRanksThatAreLate) {
  const Comms comms = make();
  std::thread early([&] { EXPECT_EQ(allReduce(0, comms[0], few), Result::Success); });
  Monitor::awaitWaiting("NCCL CommSplit");
  EXPECT_EQ(phaseOf(comms[0]), Phase::Forming);
  EXPECT_EQ(stateOf(comms[0]), Result::Success) << "NCCL's state";
  EXPECT_EQ(allReduce(1, comms[1], few), Result::Success);
  early.join();
  expectSum(2);
}

TEST_F(FirstCallsDeathTest, MayTimeOut) {
  const auto run = [&] {
    setenv("GC3_TIMEOUT_MS", "300", 1);
    const Comms late = make(), loaded = makeJoined(), behind = makeJoined(2, false);
    takeEvents();
    for (int times = 0; times < 2; ++times)
      EXPECT_EQ(allReduce(0, late[0], few), Result::RemoteError) << "rank 1 does not join";
    EXPECT_EQ(stateOf(late[0]), Result::RemoteError);
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    EXPECT_EQ(allReduce(0, late[0], many), Result::Success);
    EXPECT_EQ(ncclGroupEnd(), Result::RemoteError) << "other ranks can have joined";
    EXPECT_EQ(ncclCommFinalize(late[0]), Result::InvalidUsage) << "NCCL still splits it";
    EXPECT_EQ(ncclCommDestroy(late[0]), Result::InvalidUsage);
    EXPECT_EQ(ncclCommAbort(late[0]), Result::Success);

    const auto gather = [&] { return ncclAllGather(send[0], recv[0], few, DataType::Float32, loaded[0], streams[0]); };
    EXPECT_EQ(gather(), Result::RemoteError) << "rank 1 does not load the program";
    EXPECT_EQ(gather(), Result::RemoteError);
    EXPECT_EQ(ncclCommDestroy(loaded[0]), Result::Success);

    failNext("GroupEnd", Result::InProgress);
    nccl.asyncError(behind[0], Result::InProgress);
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    EXPECT_EQ(allReduce(0, behind[0], few), Result::Success);
    EXPECT_EQ(ncclGroupEnd(), Result::RemoteError) << "NCCL's part comes too late";
    nccl.asyncError(behind[0], Result::Success);
    EXPECT_EQ(allReduce(0, behind[0], few), Result::RemoteError) << "other ranks are one call ahead";
    const Events events = takeEvents();
    EXPECT_EQ(std::count_if(events.begin(), events.end(),
                            [](const auto &each) { return each.starts_with("run") || each.starts_with("All"); }),
              0);
    exitNow();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "300 ms not all ranks have joined; check that every rank loads gc3");
}

TEST_F(FirstCallsDeathTest, AreNcclsWithoutUsableBundles) {
  const auto run = [&] {
    setenv("GC3_BUNDLES", ":/nowhere/a.gc3b:/nowhere/b.gc3b", 1);
    expectNccl(make());
    exitNow();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0),
              "^gc3: GC3_BUNDLES: '/nowhere/a.gc3b': can't open '/nowhere/a.gc3b': No such file or directory; NCCL "
              "serves all calls\n"
              "gc3: NCCL runs all calls on the communicators: GC3_BUNDLES names no bundle that can be used\n$");
}

TEST_F(FirstCallsDeathTest, TheLogSaysWhatRunsACall) {
  const auto run = [&] {
    setenv("GC3_DEBUG", "INFO", 1);
    const Comms comms = makeJoined(), alone = make(1);
    EXPECT_EQ(allReduceAll(comms, many), Result::Success);
    EXPECT_EQ(allReduceAll(alone, few), Result::Success);
    const Comms captured = make();
    capture(true);
    EXPECT_EQ(allReduce(0, captured[0], few), Result::Success);
    exitNow();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0),
              "gc3: rank 0: AllReduce 16 B float sum: ring2_1\n"
              "(.*\n)*gc3: rank 0: AllReduce 3.906 KiB float sum: NCCL: no program for it\n"
              "(.*\n)*gc3: rank 0 of 1: NCCL runs all calls on a communicator: one rank\n"
              "(.*\n)*gc3: rank 0: AllReduce 16 B float sum: NCCL: one rank\n");
}

// NCCL's config names communicators. GC3_PROGRAM can list programs by these names.
TEST_F(FirstCallsDeathTest, ListsByTheNamesOfNcclsConfig) {
  /// A config of NCCL 2.27.
  struct Named {
    Config config{};
    const char *name = nullptr;
  };
  static_assert(offsetof(Named, name) == commNameOffset);
  const auto configOf = [](const char *name, size_t size = sizeof(Named)) {
    Named named{{}, name};
    named.config.size = size;
    named.config.blocking = 1;
    return named;
  };
  const auto runsProgram = [&](const Comms &comms) {
    for (Comm comm : comms)
      endLater(comm);
    takeEvents();
    EXPECT_EQ(allReduceAll(comms, few), Result::Success);
    const Events events = takeEvents();
    return std::count(events.begin(), events.end(), "run 0") == 1;
  };
  const auto made = [&](std::string id, Named named) {
    Comms comms(2);
    UniqueId bytes{};
    id.copy(bytes.bytes, sizeof bytes.bytes);
    onEachRank(2, [&](size_t rank) {
      EXPECT_EQ(ncclCommInitRankConfig(&comms[rank], 2, bytes, static_cast<int>(rank), &named.config), Result::Success);
    });
    return comms;
  };
  const auto split = [&](const Comms &parents, Named named) {
    Comms children(2);
    onEachRank(2, [&](size_t rank) {
      EXPECT_EQ(ncclCommSplit(parents[rank], 0, static_cast<int>(rank), &children[rank], &named.config),
                Result::Success);
    });
    return children;
  };
  const auto run = [&] {
    setenv("GC3_PROGRAM", "tp*:allreduce:none", 1);
    const Comms tensor = made("a", configOf("tp0")), data = made("b", configOf("dp0"));
    EXPECT_FALSE(runsProgram(tensor));
    EXPECT_TRUE(runsProgram(data));
    EXPECT_TRUE(runsProgram(made("c", configOf(nullptr))));
    EXPECT_TRUE(runsProgram(made("d", configOf("tp0", sizeof(Config))))) << "the config is of an older NCCL";
    EXPECT_TRUE(runsProgram(split(tensor, configOf("dp1")))) << "a child has a name of its own";
    EXPECT_FALSE(runsProgram(split(data, configOf("tp1"))));
    exitNow();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}
