// SPDX-License-Identifier: Apache-2.0
// Tests the ends of communicators, queries of their state, and the application's children, which join at their own
// first calls.
#include "Front.h"

#include <algorithm>

using namespace gc3::comm;
using namespace gc3::test;

namespace {

class Lifetime : public Front {
protected:
  static Result shrinkAborting(Comm comm) {
    int excluded = 1;
    Comm child = nullptr;
    return ncclCommShrink(comm, &excluded, 1, &child, nullptr, shrinkAbort);
  }
  static Result revoke(Comm comm) { return ncclCommRevoke(comm, 0); }

  struct End {
    Result (*end)(Comm);
    const char *function;
    const char *rest; ///< text after the communicator in the call's event
    bool aborts;
  };
  static constexpr End ends[] = {{ncclCommDestroy, "CommDestroy", ")", false},
                                 {ncclCommFinalize, "CommFinalize", ")", false},
                                 {ncclCommAbort, "CommAbort", ")", true},
                                 {revoke, "CommRevoke", ", 0)", true},
                                 {shrinkAborting, "CommShrink", ", 1, null, 1)", true}};
  static std::string eventOf(const End &end, const std::string &name) {
    return std::string(end.function) + "(" + name + end.rest;
  }
  size_t children() { return nccl.children().size(); }
};

} // namespace

TEST_F(Lifetime, EveryEndReleasesTheChild) {
  for (const End &end : ends)
    for (Result result : {Result::InProgress, Result::RemoteError, Result::Success}) {
      const size_t before = children();
      const Comms comms = makeJoined();
      size_t atEnd = 0;
      after([&](const std::string &) { atEnd = children(); });
      if (result != Result::Success)
        failNext(end.function, result);
      EXPECT_EQ(end.end(comms[0]), result) << end.function;
      after(nullptr);
      EXPECT_EQ(takeEvents(), Events{eventOf(end, nameOf(comms[0]))});
      EXPECT_TRUE(end.end != ncclCommDestroy || atEnd == before + 1) << "gc3's child is the first to go";
      awaitThat([&] { return children() == before + 1; });
      EXPECT_EQ(ncclCommAbort(comms[1]), Result::Success);
      awaitThat([&] { return children() == before; });
      takeEvents();
    }
}

TEST_F(Lifetime, CommunicatorsWithoutCallsAreNotTouched) {
  for (const End &end : ends) {
    const Comms comms = make();
    const std::string name = nameOf(comms[0]);
    failNext(end.function, Result::InProgress);
    EXPECT_EQ(stateOf(comms[0]), Result::Success);
    EXPECT_EQ(end.end(comms[0]), Result::InProgress);
    EXPECT_EQ(takeEvents(), Events{eventOf(end, name)});
    EXPECT_EQ(nccl.takeProbes(), Events{"CommGetAsyncError"}) << "the query";
  }
}

TEST_F(Lifetime, NullHandlesAreErrorsOfNccl) {
  for (const End &end : ends)
    EXPECT_EQ(end.end(nullptr), Result::InvalidArgument) << end.function;
  Result state = Result::Success;
  EXPECT_EQ(ncclCommGetAsyncError(nullptr, &state), Result::InvalidArgument);
}

TEST_F(Lifetime, CallsAfterTheEnd) {
  Comm comm = makeJoined()[0];
  EXPECT_EQ(ncclCommFinalize(comm), Result::Success);
  EXPECT_EQ(allReduce(0, comm, few), Result::Success);
  EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"CommFinalize(c0)", event(0, "c0", few), "CommDestroy(c0)"}));
  comm = makeJoined()[0];
  EXPECT_EQ(revoke(comm), Result::Success);
  for (size_t count : {few, many})
    EXPECT_EQ(allReduce(0, comm, count), Result::InvalidUsage);
  EXPECT_EQ(takeEvents(), Events{"CommRevoke(c2, 0)"});
}

TEST_F(Lifetime, NcclRefusesFlagsOfARevocation) {
  Comm comm = makeJoined()[0];
  failNext("CommRevoke", Result::InvalidArgument);
  EXPECT_EQ(ncclCommRevoke(comm, 1), Result::InvalidArgument);
  EXPECT_EQ(takeEvents(), Events{"CommRevoke(c0, 1)"});
  EXPECT_EQ(revoke(comm), Result::Success);
  EXPECT_EQ(nccl.revoked, std::vector{comm});
}

TEST_F(Lifetime, AReusedHandleIsANewCommunicator) {
  for (auto *end : {&ncclCommDestroy, &ncclCommAbort}) {
    const Comms first = makeJoined();
    EXPECT_EQ(end(first[0]), Result::Success);
    nccl.reuse(first[0]);
    const Comms second = make();
    ASSERT_EQ(second[0], first[0]);
    EXPECT_EQ(allReduceAll(second, few), Result::Success);
    expectSum(2);
    EXPECT_EQ(ncclCommDestroy(first[1]), Result::Success);
    EXPECT_EQ(allReduceAll(second, few), Result::Success);
    expectSum(2);
    for (Comm comm : second)
      EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
  }
}

TEST_F(Lifetime, NcclsStateComesFirst) {
  const Comms comms = makeJoined(), others = makeJoined();
  failCalls("CUDA launch", 0);
  EXPECT_EQ(allReduce(0, comms[0], few), Result::UnhandledCudaError);
  EXPECT_EQ(stateOf(comms[0]), Result::UnhandledCudaError);
  EXPECT_EQ(stateOf(others[0]), Result::Success);
  for (Result state : {Result::InProgress, Result::RemoteError}) {
    nccl.asyncError(comms[0], state);
    EXPECT_EQ(stateOf(comms[0]), state);
  }
  nccl.asyncError(comms[0], Result::Success);
}

TEST_F(Lifetime, NcclCanRefuseAQuery) {
  const Comm comm = make(1)[0]; // one rank: no executor thread queries it
  EXPECT_EQ(allReduce(0, comm, few), Result::Success);
  nccl.fail("CommGetAsyncError", Result::InvalidArgument);
  Result state = Result::Success;
  EXPECT_EQ(ncclCommGetAsyncError(comm, &state), Result::InvalidArgument);
}

TEST_F(Lifetime, AFailedCommunicatorIsAborted) {
  for (bool finalizes : {true, false}) {
    const Comms comms = makeJoined();
    EXPECT_EQ(allReduce(1, comms[1], few), Result::Success) << "its kernel waits for rank 0";
    failCalls("CUDA launch", 0);
    EXPECT_EQ(allReduce(0, comms[0], few), Result::UnhandledCudaError);
    failCalls("");
    if (finalizes) {
      EXPECT_EQ(ncclCommFinalize(comms[0]), Result::UnhandledCudaError);
    }
    EXPECT_EQ(ncclCommDestroy(comms[0]), Result::Success);
    EXPECT_EQ(ncclCommAbort(comms[1]), Result::Success);
    awaitThat([&] { return nccl.children().empty(); });
    EXPECT_TRUE(areIdle());
  }
}

// NCCL finalizes a non-blocking communicator in the background, and gc3 does the same.
TEST_F(Lifetime, FinalizationsAreInProgress) {
  const Comms comms = makeJoined(2, false);
  EXPECT_EQ(allReduce(0, comms[0], few), Result::Success);
  failNext("CommFinalize", Result::InProgress);
  EXPECT_EQ(ncclCommFinalize(comms[0]), Result::InProgress);
  EXPECT_EQ(stateOf(comms[0]), Result::InProgress) << "a kernel still runs";
  EXPECT_EQ(allReduce(1, comms[1], few), Result::Success);
  awaitThat([&] { return stateOf(comms[0]) != Result::InProgress; });
  EXPECT_EQ(stateOf(comms[0]), Result::Success);
  expectSum(2);
  EXPECT_EQ(ncclCommDestroy(comms[0]), Result::Success);
}

TEST_F(Lifetime, FinalizationsReportErrors) {
  for (bool blocking : {true, false}) {
    const Comms comms = makeJoined(2, blocking);
    EXPECT_EQ(allReduce(0, comms[0], few), Result::Success) << "its kernel waits for rank 1";
    if (!blocking)
      failNext("CommFinalize", Result::InProgress);
    std::thread user(
        [&] { EXPECT_EQ(ncclCommFinalize(comms[0]), blocking ? Result::UnhandledCudaError : Result::InProgress); });
    await("CommFinalize(" + nameOf(comms[0]) + ")");
    failCalls("CUDA query", 0);
    user.join();
    if (!blocking) {
      awaitThat([&] { return stateOf(comms[0]) != Result::InProgress; });
      EXPECT_EQ(stateOf(comms[0]), Result::UnhandledCudaError);
    }
    failCalls("");
    EXPECT_EQ(ncclCommDestroy(comms[0]), Result::Success);
    EXPECT_EQ(ncclCommAbort(comms[1]), Result::Success);
    awaitThat([&] { return areIdle(); });
    fill();
  }
}

// Children join at their first call. This holds whether or not the parent has joined or is blocking, and for children
// of a split, a shrink and a grow.
TEST_F(Lifetime, ChildrenJoinWithTheirFirstCall) {
  auto *split = application<signature::CommSplit>("CommSplit");
  auto *grow = application<signature::CommGrow>("CommGrow");
  const auto growTo3 = [&](const Comms &parents, size_t rank, Comm *child, Config *config) {
    UniqueId id{"grown"};
    const bool isNew = rank == 2;
    return grow(isNew ? nullptr : parents[rank], 3, &id, isNew ? 2 : -1, child, config);
  };
  const auto shrinkTo2 = [](const Comms &parents, size_t rank, Comm *child, Config *config) {
    int excluded = 2;
    return ncclCommShrink(parents[rank], &excluded, 1, child, config, 0);
  };
  const auto swapRanks = [&](const Comms &parents, size_t rank, Comm *child, Config *config) {
    return split(parents[rank], 0, static_cast<int>(rank), child, config);
  };
  struct {
    std::function<Result(const Comms &, size_t, Comm *, Config *)> make;
    int ranksOfParent;
    size_t ranks;
  } const cases[] = {{swapRanks, 2, 2}, {shrinkTo2, 3, 2}, {growTo3, 2, 3}};
  for (bool hasJoined : {true, false})
    for (bool blocking : {true, false})
      for (const auto &[make, ranksOfParent, ranks] : cases) {
        const Comms parents = hasJoined ? makeJoined(ranksOfParent, blocking) : this->make(ranksOfParent, blocking);
        Config config{};
        config.blocking = !blocking;
        Comms children(ranks);
        onEachRank(ranks, [&, &make = make](size_t rank) {
          EXPECT_EQ(make(parents, rank, &children[rank], &config), Result::Success);
          while (!__atomic_load_n(&children[rank], __ATOMIC_ACQUIRE))
            stateOf(parents[rank]);
        });
        for (Comm child : children)
          endLater(child);
        takeEvents();
        nccl.takeProbes();
        EXPECT_EQ(allReduceAll(children, few), Result::Success);
        expectSum(ranks);
        EXPECT_EQ(takeEvents().size(), 2 + ranks) << "the group, and a launch of each rank";
        for (Comm comm : {children[0], children[1], parents[0], parents[1]})
          EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
      }
}

// One rank makes no call, and the other ranks shrink the communicator. Their kernels, which wait for that rank, end.
// The remaining ranks form a new communicator.
TEST_F(Lifetime, AShrinkingAbortLeavesAChild) {
  const Comms parents = makeJoined(3);
  for (size_t rank = 0; rank < 2; ++rank)
    EXPECT_EQ(allReduce(rank, parents[rank], few), Result::Success) << "rank 2 makes no call";
  Comms children(2);
  onEachRank(2, [&](size_t rank) {
    int excluded = 2;
    EXPECT_EQ(ncclCommShrink(parents[rank], &excluded, 1, &children[rank], nullptr, shrinkAbort), Result::Success);
  });
  for (Comm child : children)
    endLater(child);
  awaitThat([&] { return nccl.children().size() == 1; });
  EXPECT_TRUE(areIdle());
  fill();
  EXPECT_EQ(allReduceAll(children, few), Result::Success);
  expectSum(2);
  for (size_t rank = 0; rank < 2; ++rank)
    EXPECT_EQ(ncclCommDestroy(parents[rank]), Result::Success) << "the application's, which it still has";
}
