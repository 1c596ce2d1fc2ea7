// SPDX-License-Identifier: Apache-2.0
// Tests groups: either a program or NCCL runs each call, NCCL's part of a group runs first, and the outermost end
// returns errors.
#include "Front.h"

#include <algorithm>

using namespace gc3::test;

using Groups = Front;

// Nests groups as PyTorch does, with calls in all of them.
TEST_F(Groups, DeferCallsUntilTheOutermostEnd) {
  const Comms comms = makeJoined();
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  EXPECT_EQ(allReduce(0, comms[0], few), Result::Success);
  EXPECT_EQ(allReduce(1, comms[1], many), Result::Success);
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  EXPECT_EQ(allReduce(1, comms[1], few), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"GroupStart()", event(1, "c1", many), "GroupStart()", "GroupEnd()"}));
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"GroupEnd()", "run 0", "run 1"}));
  expectSum(2);
  EXPECT_EQ(allReduce(0, comms[0], few), Result::Success);
  EXPECT_EQ(takeEvents(), Events{"run 0"}) << "the group is over";
}

// The group defers its calls, because the communicator has not joined. At the group's end, gc3 joins, forwards the
// calls that no program runs in a second NCCL group, and runs the programs.
TEST_F(Groups, JoinAtTheirEnd) {
  const Comms comms = make();
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  for (size_t count : {many, few})
    for (size_t rank = 0; rank < 2; ++rank)
      EXPECT_EQ(allReduce(rank, comms[rank], count), Result::Success);
  EXPECT_EQ(takeEvents(), Events{"GroupStart()"});
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"GroupEnd()", "GroupStart()", event(0, "c0", many), event(1, "c1", many),
                                  "GroupEnd()", "run 0", "run 1"}));
  expectSum(2);
}

TEST_F(Groups, EndOfNoneIsAnErrorOfNccl) {
  EXPECT_EQ(ncclGroupEnd(), Result::InvalidUsage);
  EXPECT_EQ(ncclGroupSimulateEnd(nullptr), Result::InvalidUsage);
  EXPECT_EQ(takeEvents(), (Events{"GroupEnd()", "GroupSimulateEnd(0x0)"}));
}

TEST_F(Groups, AFailedStartOpensNone) {
  const Comms comms = makeJoined();
  failNext("GroupStart", Result::SystemError);
  EXPECT_EQ(ncclGroupStart(), Result::SystemError);
  EXPECT_EQ(allReduce(0, comms[0], few), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"GroupStart()", "run 0"}));
}

TEST_F(Groups, RunNothingIfNcclsPartFails) {
  const Comms comms = makeJoined();
  for (const char *failing : {"AllReduce", "GroupEnd"}) {
    failNext(failing, Result::InvalidArgument);
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    EXPECT_EQ(allReduce(0, comms[0], few), Result::Success);
    allReduce(0, comms[0], many);
    EXPECT_EQ(ncclGroupEnd(), Result::InvalidArgument);
    EXPECT_EQ(takeEvents(), (Events{"GroupStart()", event(0, "c0", many), "GroupEnd()"}));
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    EXPECT_EQ(ncclGroupEnd(), Result::Success);
    EXPECT_EQ(takeEvents(), (Events{"GroupStart()", "GroupEnd()"})) << "nothing is left for the next group";
  }
}

// NCCL gets a second group with the calls on communicators that join at the group's end.
TEST_F(Groups, ReportFailuresOfNcclsSecondGroup) {
  struct {
    const char *function, *before; ///< the failing call, and the prefix of the event before it
  } const cases[] = {{"GroupStart", "GroupEnd"}, {"AllReduce", "GroupEnd"}, {"GroupEnd", "AllReduce"}};
  for (const auto &[function, before] : cases) {
    const Comms comms = make();
    after([&, &function = function, &before = before](const std::string &event) {
      if (event.starts_with(before))
        failNext(function, Result::SystemError);
    });
    EXPECT_EQ(allReduceAll(comms, many), Result::SystemError) << function;
    after(nullptr);
  }
}

TEST_F(Groups, ReturnTheFirstErrorOfPrograms) {
  const Comms comms = makeJoined();
  failCalls("CUDA launch", 1);
  EXPECT_EQ(allReduceAll(comms, few), Result::UnhandledCudaError);
  EXPECT_EQ(takeEvents(), (Events{"GroupStart()", "GroupEnd()", "run 0", "run 1"}));
  EXPECT_EQ(stateOf(comms[0]), Result::Success);
  EXPECT_EQ(stateOf(comms[1]), Result::UnhandledCudaError);
}

TEST_F(Groups, SimulatedOnesAreNccls) {
  for (bool hasJoined : {true, false}) {
    const Comms comms = hasJoined ? makeJoined() : make();
    const std::string name = nameOf(comms[0]);
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    EXPECT_EQ(allReduce(0, comms[0], few), Result::Success);
    EXPECT_EQ(ncclGroupSimulateEnd(nullptr), Result::Success);
    EXPECT_EQ(takeEvents(), (Events{"GroupStart()", "GroupStart()", "GroupSimulateEnd(0x0)"}));
    failNext("AllReduce", hasJoined ? Result::Success : Result::SystemError);
    EXPECT_EQ(ncclGroupSimulateEnd(nullptr), hasJoined ? Result::Success : Result::SystemError);
    EXPECT_EQ(takeEvents(), (Events{event(0, name, few), "GroupSimulateEnd(0x0)"}));
  }
  const Comms comms = makeJoined();
  EXPECT_EQ(allReduceAll(comms, few), Result::Success);
  expectSum(2);
}

// One rank makes its first calls in a group, and the other rank makes them one by one. If programs run all calls, their
// order does not matter. If NCCL runs one of them, the order must be that of the group.
TEST_F(Groups, OtherRanksMayCallOneByOne) {
  for (size_t first : {few, many})
    for (bool isSwapped : {false, first == few}) {
      const std::array<Comms, 2> comms{make(), make()};
      // By communicator and rank: calls on one stream would wait for each other.
      std::array<std::array<Stream, 2>, 2> own{};
      for (auto &ofRanks : own)
        for (size_t rank = 0; rank < 2; ++rank)
          ofRanks[rank] = newStream(rank);
      const auto call = [&](size_t comm, size_t rank) {
        for (size_t count : {first, few})
          EXPECT_EQ(ncclAllReduce(send[rank], recv[rank], count, DataType::Float32, RedOp::Sum, comms[comm][rank],
                                  own[comm][rank]),
                    Result::Success);
      };
      onEachRank(2, [&](size_t rank) {
        EXPECT_EQ(rank == 0 ? ncclGroupStart() : Result::Success, Result::Success);
        call(rank == 1 && isSwapped, rank);
        call(rank == 0 || !isSwapped, rank);
        EXPECT_EQ(rank == 0 ? ncclGroupEnd() : Result::Success, Result::Success);
      });
      expectSum(2);
    }
}

// NCCL's first call on a communicator waits for the other ranks. So a group must forward its calls in their order.
TEST_F(Groups, NcclGetsCallsInTheirOrder) {
  const Comms first = make(3), second = make(2);
  const std::array<Stream, 2> others{newStream(0), newStream(1)};
  onEachRank(3, [&](size_t rank) {
    if (rank == 2) {
      for (Comm comm : second)
        awaitThat([&] { return phaseOf(comm) == gc3::comm::Phase::Ready; });
      yieldToOthers();
      EXPECT_EQ(allReduce(rank, first[rank], many), Result::Success);
      return;
    }
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    EXPECT_EQ(allReduce(rank, first[rank], many), Result::Success);
    EXPECT_EQ(ncclAllReduce(send[rank], recv[rank], many, DataType::Float32, RedOp::Sum, second[rank], others[rank]),
              Result::Success);
    EXPECT_EQ(ncclGroupEnd(), Result::Success);
  });
  const Events events = takeEvents();
  const auto placeOf = [&](Comm comm) {
    return std::find_if(events.begin(), events.end(), [&](const std::string &event) {
      return event.find(", " + nameOf(comm) + ", ") != std::string::npos;
    });
  };
  for (size_t rank = 0; rank < 2; ++rank)
    EXPECT_LT(placeOf(first[rank]), placeOf(second[rank])) << "rank " << rank;
}

// One rank makes its calls in a group. The other rank makes its second call only after NCCL has got the group's first
// call. So calls that NCCL runs on the first communicator must not wait for the second communicator.
TEST_F(Groups, CommunicatorsLeftToNcclDoNotWait) {
  const Comms first = make(), second = make();
  failCalls("CUDA busId", 0);
  onEachRank(2, [&](size_t rank) {
    EXPECT_EQ(rank == 0 ? ncclGroupStart() : Result::Success, Result::Success);
    EXPECT_EQ(allReduce(rank, first[rank], few), Result::Success);
    if (rank == 1)
      await(event(0, nameOf(first[0]), few));
    EXPECT_EQ(allReduce(rank, second[rank], few), Result::Success);
    EXPECT_EQ(rank == 0 ? ncclGroupEnd() : Result::Success, Result::Success);
  });
}

// The communicators share streams. So NCCL gets all calls on the first communicator first, as in its own groups.
TEST_F(Groups, CommunicatorsLeftToNcclKeepTheirOrder) {
  // In the case "CUDA busId", the ranks have gathered. So gc3 knows that the communicators differ, and makes two NCCL
  // groups.
  for (const std::string failing : {"capture", "NCCL CommSplit", "CUDA busId"}) {
    const Comms first = make(), second = make();
    capture(failing == "capture");
    failCalls(failing == "capture" ? "" : failing, failing == "CUDA busId" ? 0 : -1);
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    Events wanted{"GroupStart()", "GroupEnd()", "GroupStart()"};
    for (const Comms *comms : {&first, &first, &second}) {
      if (failing == "CUDA busId" && comms == &second)
        wanted.insert(wanted.end(), {"GroupEnd()", "GroupStart()"});
      for (size_t rank = 0; rank < 2; ++rank) {
        EXPECT_EQ(allReduce(rank, (*comms)[rank], few), Result::Success);
        wanted.push_back(event(rank, nameOf((*comms)[rank]), few));
      }
    }
    EXPECT_EQ(ncclGroupEnd(), Result::Success);
    capture(false);
    wanted.push_back("GroupEnd()");
    EXPECT_EQ(takeEvents(), wanted) << failing;
  }
}

// Rank 0 of the second communicator differs from rank 0 of the first. But both can belong with rank 1 of either.
TEST_F(Groups, RanksThatAThirdOneRelatesKeepTheirOrder) {
  const Comms first = make(), second = make();
  failCalls("NCCL CommSplit");
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  Events wanted{"GroupStart()", "GroupEnd()", "GroupStart()"};
  for (int times = 0; times < 2; ++times)
    for (size_t rank = 0; rank < 2; ++rank)
      for (const Comms *comms : {&first, &second}) {
        EXPECT_EQ(allReduce(rank, (*comms)[rank], few), Result::Success);
        wanted.push_back(event(rank, nameOf((*comms)[rank]), few));
      }
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  wanted.push_back("GroupEnd()");
  EXPECT_EQ(takeEvents(), wanted);
}

// A watchdog aborts a communicator while its call waits in a group. NCCL must not get the call, because the handle is
// freed.
TEST_F(Groups, NcclGetsNoCallOnAnAbortedCommunicator) {
  const Comms late = make(), aborted = make();
  std::thread application([&] {
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    EXPECT_EQ(allReduce(0, late[0], few), Result::Success);
    EXPECT_EQ(allReduce(0, aborted[0], many), Result::Success);
    EXPECT_EQ(ncclGroupEnd(), Result::InvalidUsage);
  });
  onEachRank(2, [&](size_t rank) {
    if (rank == 0)
      return;
    EXPECT_EQ(allReduce(1, aborted[1], many), Result::Success);
    awaitThat([&] { return phaseOf(aborted[0]) == gc3::comm::Phase::Ready; });
    yieldToOthers(); // gc3 lets NCCL run the call, which waits for a call on its stream
    EXPECT_EQ(ncclCommAbort(aborted[0]), Result::Success);
    EXPECT_EQ(allReduce(1, late[1], few), Result::Success);
  });
  application.join();
  expectSum(2);
}

// NCCL frees an operation with its communicator. So gc3 must not destroy the operation of an aborted communicator.
TEST_F(Groups, NcclDestroysNoOperationOfAnAbortedCommunicator) {
  const Comms comms = makeJoined();
  RedOp op{};
  float two = 2;
  EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &two, DataType::Float32, ScalarResidence::HostImmediate, comms[0]),
            Result::Success);
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  EXPECT_EQ(allReduce(0, comms[0], few, op), Result::Success);
  EXPECT_EQ(ncclRedOpDestroy(op, comms[0]), Result::Success);
  std::thread([&] { EXPECT_EQ(ncclCommAbort(comms[0]), Result::Success); }).join();
  EXPECT_EQ(ncclGroupEnd(), Result::InvalidUsage);
}

TEST_F(Groups, SimulatedOnesHaveNoCallOnAnAbortedCommunicator) {
  const Comms comms = makeJoined();
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  EXPECT_EQ(allReduce(0, comms[0], few), Result::Success);
  std::thread([&] { EXPECT_EQ(ncclCommAbort(comms[0]), Result::Success); }).join();
  EXPECT_EQ(ncclGroupSimulateEnd(nullptr), Result::Success);
}

TEST_F(Groups, JoinSeveralCommunicators) {
  const Comms first = make(), second = make(3), third = make(1);
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  for (const Comms *comms : {&third, &second, &first})
    for (size_t rank = 0; rank < comms->size(); ++rank)
      EXPECT_EQ(allReduce(rank, (*comms)[rank], few), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  const Events runs = takeEvents();
  EXPECT_EQ(Events(runs.end() - 5, runs.end()), (Events{"run 0", "run 1", "run 2", "run 0", "run 1"}));
  EXPECT_EQ(std::count(runs.begin(), runs.end(), event(0, "c5", few)), 1) << "one rank";
  ASSERT_TRUE(areIdle());
  EXPECT_EQ(recv[2][0], 1.0f + 11 + 21);
  EXPECT_EQ(recv[1][0], 1.0f + 11);
}

// If a group destroys a communicator, NCCL gets the earlier calls on it, as without gc3. If a group aborts a
// communicator, gc3 drops the calls on it.
TEST_F(Groups, EndCommunicators) {
  const Comms first = makeJoined(), second = makeJoined();
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  EXPECT_EQ(allReduce(0, first[0], few), Result::Success);
  EXPECT_EQ(allReduce(0, second[0], few), Result::Success);
  EXPECT_EQ(allReduce(0, first[0], few), Result::Success);
  EXPECT_EQ(ncclCommDestroy(first[0]), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"GroupStart()", event(0, "c0", few), event(0, "c0", few), "CommDestroy(c0)",
                                  "GroupEnd()", "run 0"}));
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  EXPECT_EQ(allReduce(1, first[1], few), Result::Success);
  EXPECT_EQ(ncclCommAbort(first[1]), Result::Success);
  EXPECT_EQ(allReduce(1, second[1], few), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"GroupStart()", "CommAbort(c1)", "GroupEnd()", "run 1"}));
  expectSum(2);
}

TEST_F(Groups, EndCommunicatorsThatHaveNotJoined) {
  for (bool aborts : {false, true}) {
    const Comms comms = make();
    const std::string name = nameOf(comms[0]);
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    EXPECT_EQ(allReduce(0, comms[0], few), Result::Success);
    EXPECT_EQ(aborts ? ncclCommAbort(comms[0]) : ncclCommDestroy(comms[0]), Result::Success);
    EXPECT_EQ(ncclGroupEnd(), Result::Success);
    EXPECT_EQ(takeEvents(),
              aborts ? (Events{"GroupStart()", "CommAbort(" + name + ")", "GroupEnd()"})
                     : (Events{"GroupStart()", event(0, name, few), "CommDestroy(" + name + ")", "GroupEnd()"}));
    EXPECT_EQ(nccl.takeProbes(), Events{});
  }
}

TEST_F(Groups, ReportFailuresOfForwardedCalls) {
  const Comms first = makeJoined(), second = makeJoined();
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  EXPECT_EQ(allReduce(0, first[0], few), Result::Success);
  EXPECT_EQ(allReduce(0, second[0], few), Result::Success);
  failNext("AllReduce", Result::SystemError);
  EXPECT_EQ(ncclCommDestroy(first[0]), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::SystemError);
  EXPECT_EQ(takeEvents(), (Events{"GroupStart()", event(0, "c0", few), "CommDestroy(c0)", "GroupEnd()"}))
      << "no call runs";
}

// With non-blocking communicators, NCCL enqueues its part of a group in the background. Programs must not run before.
TEST_F(Groups, RunProgramsAfterNcclsPart) {
  for (bool hasJoined : {true, false}) {
    const Comms comms = hasJoined ? makeJoined(2, false) : make(2, false), others = make(1, false);
    if (hasJoined) {
      EXPECT_EQ(allReduce(0, others[0], few), Result::Success);
    }
    takeEvents();
    failNext("GroupEnd", Result::InProgress);
    for (Comm comm : {comms[1], others[0]})
      nccl.asyncError(comm, Result::InProgress);
    std::thread application([&] {
      EXPECT_EQ(ncclGroupStart(), Result::Success);
      EXPECT_EQ(allReduce(0, others[0], many), Result::Success);
      for (size_t rank = 0; rank < 2; ++rank)
        EXPECT_EQ(allReduce(rank, comms[rank], few), Result::Success);
      EXPECT_EQ(ncclGroupEnd(), Result::InProgress);
    });
    for (Comm comm : {comms[1], others[0]}) {
      const uint64_t polls = [&] {
        const Monitor::Lock lock;
        return nccl.used;
      }();
      awaitThat([&] {
        const Monitor::Lock lock;
        return nccl.used > polls + 5;
      });
      const Events events = takeEvents();
      EXPECT_EQ(std::count(events.begin(), events.end(), "run 0"), 0);
      nccl.asyncError(comm, Result::Success);
    }
    application.join();
    expectSum(2);
  }
}

// A group's end must not query a communicator that the group destroys or aborts, because NCCL frees it.
TEST_F(Groups, AwaitNoCommunicatorThatHasEnded) {
  for (Result (*end)(Comm) : {ncclCommDestroy, ncclCommAbort}) {
    const Comms first = makeJoined(2, false), second = makeJoined(2, false);
    failNext("GroupEnd", Result::InProgress);
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    for (size_t rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(allReduce(rank, first[rank], many), Result::Success);
      EXPECT_EQ(allReduce(rank, second[rank], few), Result::Success);
    }
    for (Comm comm : first)
      EXPECT_EQ(end(comm), Result::Success);
    const Result ended = ncclGroupEnd();
    EXPECT_TRUE(ended == Result::Success || ended == Result::InProgress) << static_cast<int>(ended);
    EXPECT_EQ(stateOf(second[0]), Result::Success);
  }
}

// PyTorch aborts communicators in a group. NCCL would run a revocation and an abort in one group concurrently. So gc3
// must not revoke a communicator before it is aborted in a group.
TEST_F(Groups, HaveNoRevocationBesideAnAbort) {
  const Comms comms = make();
  std::thread user([&] { EXPECT_EQ(allReduce(0, comms[0], few), Result::InvalidUsage); });
  Monitor::awaitWaiting("NCCL CommSplit");
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  EXPECT_EQ(ncclCommAbort(comms[0]), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  const Events events = takeEvents();
  EXPECT_TRUE(std::none_of(events.begin(), events.end(),
                           [](const std::string &event) { return event.starts_with("CommRevoke"); }));
  user.join();
}
