// SPDX-License-Identifier: Apache-2.0
// At their first collective call engines take on a communicator of our own with the same ranks.
#include "Nonblocking.h"

using namespace gc3::nccl;
using namespace gc3::ncclapi;
using namespace gc3::nccl::test;

TEST_F(Nonblocking, AreTakenOnAtTheirFirstCall) {
  Comm comm = make();
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(take(), after(loaded, {served}));
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(allReduce(comm, 3), Result::Success);
  EXPECT_EQ(take(), (Events{served, "AllReduce(0x0, 0x0, 3, 7, 0, c0, 0x0)"}));
  EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
  EXPECT_EQ(take(), (Events{"detach c1", "CommDestroy(c1)", "CommDestroy(c0)"}));
}

/// Whoever serves that call: all ranks make it.
TEST_F(Nonblocking, TheFirstCallMayBeNccls) {
  Comm comm = make();
  EXPECT_EQ(allReduce(comm, 3), Result::Success);
  EXPECT_EQ(take(), after(taken, {"AllReduce(0x0, 0x0, 3, 7, 0, c0, 0x0)"}));
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(take(), Events{served});
}

/// NCCL writes a child's handle when its parent has it done, long after it has said Success.
TEST_F(Nonblocking, SoAreTheirChildren) {
  Config blocks{sizeof(Config), 0, 0, 1};
  for (bool inGroup : {false, true})
    for (Config *config : {static_cast<Config *>(nullptr), &blocks}) {
      fakeNcclReset();
      Comm parent = make(), child = nullptr, none = nullptr;
      Result state = Result::Success;
      if (inGroup)
        ncclGroupStart();
      EXPECT_EQ(ncclCommSplit(parent, 0, 0, &child, config), Result::Success);
      EXPECT_EQ(inGroup ? ncclGroupEnd() : Result::InProgress, Result::InProgress);
      EXPECT_EQ(ncclCommSplit(parent, -1, 0, &none, config), Result::Success);
      EXPECT_EQ(child, nullptr);
      EXPECT_EQ(ncclCommGetAsyncError(parent, &state), Result::Success);
      RedOp op = RedOp::Sum;
      float two = 2;
      ncclRedOpCreatePreMulSum(&op, &two, DataType::Float32, ScalarResidence::HostImmediate, child);
      take();
      EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 2, DataType::Float32, op, child, nullptr), Result::Success);
      Events events = take();
      EXPECT_EQ(std::erase(events, "CommGetAsyncError(c1)"), 2u);
      EXPECT_EQ(events, (Events{"CommSplit(c1, 0, 0, config)", "attach c2=0/2", "load for c2",
                                "run 7 AllReduce 8 B float premulsum by 0x40000000 on c2"}));
      Comm unknown = parent;
      ncclCommDestroy(child);
      EXPECT_EQ(Communicators::table().findOrExpected(reinterpret_cast<Comm>(&unknown)), nullptr)
          << "no more than that";
      take();
    }
}

TEST_F(Nonblocking, SoAreThoseOfOtherRanks) {
  for (bool grows : {false, true}) {
    fakeNcclReset();
    Comm parent = make(5), child = nullptr;
    Config blocks{sizeof(Config), 0, 0, 1};
    Result state = Result::Success;
    int excluded = 1;
    EXPECT_EQ(grows ? ncclCommGrow(parent, 6, nullptr, -1, &child, &blocks)
                    : ncclCommShrink(parent, &excluded, 1, &child, &blocks, 0),
              Result::Success);
    EXPECT_EQ(child != nullptr, grows) << "that is written at once";
    EXPECT_EQ(ncclCommGetAsyncError(parent, &state), Result::Success);
    take();
    EXPECT_EQ(allReduce(child, 2), Result::Success);
    Events events = take();
    EXPECT_EQ(std::erase(events, "CommGetAsyncError(c1)"), 2u);
    EXPECT_EQ(events, (Events{"CommSplit(c1, 0, 2, config)", grows ? "attach c2=2/6" : "attach c2=2/4", "load for c2",
                              "run 7 AllReduce 8 B float sum on c2"}));
    ncclCommDestroy(child);
    take();
  }
}

/// On a rank where it blocks NCCL returns from the split when all have come, which may be never.
TEST_F(Nonblocking, TheWaitingOfAGrownOneMayEnd) {
  static std::atomic<bool> hasCome;
  static uint32_t times = 0; // each text is told once
  const std::string late = std::to_string(100 + ++times);
  for (bool isLate : {false, true}) {
    fakeNcclReset();
    hasCome = false;
    fakeEngine().patience = {0, isLate ? 100 + times : 0};
    Config blocks{sizeof(Config), 0, 0, 1};
    Comm grown = nullptr;
    EXPECT_EQ(ncclCommGrow(nullptr, 6, nullptr, 5, &grown, &blocks), Result::Success);
    take();
    fakeNcclSink([](const char *event) {
      note(event);
      if (event == std::string("CommSplit(c0, 0, 5, config)"))
        hasCome.wait(false);
    });
    const auto come = [] { hasCome = true, hasCome.notify_all(); };
    testing::internal::CaptureStderr();
    std::thread user([&] { EXPECT_EQ(allReduce(grown, 2), isLate ? Result::InvalidUsage : Result::Success); });
    Events events = takeUntil("CommSplit(c0, 0, 5, config)");
    if (!isLate)
      come();
    user.join();
    if (isLate) {
      Result state = Result::Success;
      EXPECT_EQ(ncclCommGetAsyncError(grown, &state), Result::Success);
      EXPECT_EQ(state, Result::RemoteError);
      EXPECT_EQ(ncclCommFinalize(grown), Result::InvalidUsage) << "NCCL is still splitting it";
      EXPECT_EQ(ncclCommDestroy(grown), Result::InvalidUsage);
      come();
      takeUntil("CommAbort(c1)");
    }
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_EQ(told, isLate ? "gc3: after " + late +
                                 " ms NCCL waits for other ranks of a communicator; is gc3, with the "
                                 "same bundles, on all of them?\n"
                           : "");
    EXPECT_EQ(ncclCommDestroy(grown), Result::Success);
    take();
  }
}

/// What their own children inherit, by whom an abort does not wait.
TEST_F(Nonblocking, ItIsKnownWhichMayBlock) {
  Comm parent = make(), child = nullptr, grandchild = nullptr;
  Config undefined{sizeof(Config), 0, 0, configUndefined};
  Result state = Result::Success;
  for (Config *config : {&undefined, static_cast<Config *>(nullptr)}) {
    EXPECT_EQ(ncclCommSplit(parent, 0, 0, &child, config), Result::Success);
    EXPECT_EQ(ncclCommGetAsyncError(parent, &state), Result::Success);
    EXPECT_EQ(ncclCommSplit(child, 0, 0, &grandchild, nullptr), Result::Success);
    EXPECT_EQ(ncclCommGetAsyncError(child, &state), Result::Success);
    for (Comm comm : {child, grandchild}) {
      EXPECT_EQ(Communicators::table().blocking(comm).maybe, config != nullptr);
      EXPECT_FALSE(Communicators::table().blocking(comm).surely);
    }
    EXPECT_EQ(ncclCommRevoke(child, 0), Result::Success);
    EXPECT_EQ(Communicators::table().blocking(child).maybe, config != nullptr);
    ncclCommDestroy(grandchild);
    ncclCommDestroy(child);
  }
  take();
}

/// Before their parents are used.
TEST_F(Nonblocking, SoAreTheirGrandchildren) {
  Config doesNotBlock{sizeof(Config), 0, 0, 0};
  for (Config *config : {static_cast<Config *>(nullptr), &doesNotBlock}) {
    fakeNcclReset();
    Comm parent = make(), child = nullptr, grandchild = nullptr;
    Result state = Result::Success;
    EXPECT_EQ(ncclCommSplit(parent, 0, 0, &child, config), Result::Success);
    EXPECT_EQ(ncclCommGetAsyncError(parent, &state), Result::Success);
    EXPECT_EQ(ncclCommSplit(child, 0, 0, &grandchild, config), Result::Success);
    EXPECT_EQ(grandchild, nullptr);
    EXPECT_EQ(ncclCommGetAsyncError(child, &state), Result::Success);
    EXPECT_EQ(allReduce(grandchild, 3), Result::Success);
    const std::shared_ptr<const Entry> entry = Communicators::table().find(grandchild);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->attached.why, "one rank");
    ncclCommDestroy(grandchild);
    ncclCommDestroy(child);
    take();
  }
}

TEST_F(Nonblocking, SoAreThoseOfGroups) {
  Comm comm = nullptr;
  ncclGroupStart();
  Config config{sizeof(Config), 0, 0, 0};
  ncclCommInitRankConfig(&comm, 4, {}, 2, &config);
  fakeNcclFail("GroupEnd", Result::InProgress);
  EXPECT_EQ(ncclGroupEnd(), Result::InProgress);
  EXPECT_EQ(take(), (Events{"GroupStart()", "CommInitRankConfig(4, id, 2, config)", "GroupEnd()"}));
  made.push_back(comm);
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(take(), after(loaded, {served}));
}

using NonblockingDeathTest = Nonblocking;

/// As NCCL_COMM_BLOCKING=0 would those of our own.
TEST_F(NonblockingDeathTest, AreNcclsWhereNoneMayBlock) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // the process reads its settings once
  const auto callWithoutBlocking = [&] {
    setenv("NCCL_COMM_BLOCKING", "0", 1);
    const bool isSuccess = allReduce(make(), 2) == Result::Success;
    std::exit(isSuccess && take() == Events{"AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)"} ? 0 : 1);
  };
  EXPECT_EXIT(callWithoutBlocking(), testing::ExitedWithCode(0), "");
}

TEST_F(Nonblocking, OfOneRankAreNccls) {
  Comm comm = make(1, 0);
  for (const char *asked : {"CommGetAsyncError(c0)", ""}) {
    EXPECT_EQ(allReduce(comm, 2), Result::Success);
    Events events = take();
    if (*asked) {
      EXPECT_EQ(events.front(), asked);
      events.erase(events.begin());
    }
    EXPECT_EQ(events, Events{"AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)"});
  }
}

/// NCCL says what is wrong, and it may be well later.
TEST_F(Nonblocking, WaitOnWhereTheyAreNotReady) {
  Comm comm = make();
  fakeNcclAsyncError(Result::RemoteError);
  fakeNcclFail("AllReduce", Result::InvalidArgument);
  EXPECT_EQ(allReduce(comm, 2), Result::InvalidArgument);
  EXPECT_EQ(take(), (Events{"CommGetAsyncError(c0)", "AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)"}));
  fakeNcclAsyncError(Result::Success);
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(take(), after(loaded, {served}));
}

TEST_F(Nonblocking, AreNcclsWhereTheyCantBeSplit) {
  Comm comm = make();
  fakeNcclFail("CommSplit", Result::SystemError);
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(take(),
            (Events{"CommGetAsyncError(c0)", "CommSplit(c0, 0, 2, config)", "AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)"}));
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(take(), Events{"AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)"});
  EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
  EXPECT_EQ(take(), Events{"CommDestroy(c0)"});
}

/// Nothing can be made in a capture, and all ranks capture the call or none.
TEST_F(Nonblocking, CapturedFirstCallsAreNccls) {
  const auto stream = reinterpret_cast<Stream>(16);
  auto call = [&](Comm comm) {
    return ncclAllReduce(nullptr, nullptr, 2, DataType::Float32, RedOp::Sum, comm, stream);
  };
  Comm comm = make();
  fakeEngine().captures = true;
  EXPECT_EQ(call(comm), Result::Success);
  EXPECT_EQ(take(), (Events{"look at a stream", "AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x10)"}));
  ncclGroupStart();
  call(comm);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(take(), (Events{"GroupStart()", "GroupEnd()", "look at a stream", "GroupStart()",
                            "AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x10)", "GroupEnd()"}));
  fakeEngine().captures = false;
  EXPECT_EQ(call(comm), Result::Success);
  EXPECT_EQ(take(), after(Events{"look at a stream"}, after(loaded, {served})));
  EXPECT_EQ(call(comm), Result::Success);
  EXPECT_EQ(take(), Events{served});
}

/// Also where others are made ready by other threads: a handle may stand for one stream in each.
TEST_F(Nonblocking, WhoCallsKnowsWhatIsCaptured) {
  static const std::thread::id caller = std::this_thread::get_id();
  Comm first = make(), second = make();
  fakeEngine().captures = true;
  fakeEngine().sink = [](const char *event) {
    note(event);
    EXPECT_TRUE(event != std::string("look at a stream") || std::this_thread::get_id() == caller);
  };
  ncclGroupStart();
  for (Comm comm : {first, second})
    ncclAllReduce(nullptr, nullptr, 2, DataType::Float32, RedOp::Sum, comm, reinterpret_cast<Stream>(16));
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(take(),
            (Events{"GroupStart()", "GroupEnd()", "look at a stream", "look at a stream", "GroupStart()",
                    "AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x10)", "AllReduce(0x0, 0x0, 2, 7, 0, c1, 0x10)", "GroupEnd()"}));
}

TEST_F(Nonblocking, OursGoesWhereTheEngineRefuses) {
  Comm comm = make(3, 2);
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  Events events = take();
  ASSERT_GT(events.size(), 3u);
  events.erase(events.begin(), events.end() - 3);
  EXPECT_EQ(events, (Events{"attach c1=2/3", "CommDestroy(c1)", "AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)"}));
}

TEST_F(Nonblocking, FailsWhereThereIsNoMemory) {
  Comm comm = make();
  fakeEngine().hasMemory = false;
  EXPECT_EQ(allReduce(comm, 2), Result::InvalidUsage);
  fakeEngine().hasMemory = true;
  takeUntil("CommAbort(c1)"); // by a thread of its own
  EXPECT_EQ(allReduce(comm, 2), Result::InvalidUsage) << "others may have made their first";
  EXPECT_EQ(take(), Events{});
}

TEST_F(Nonblocking, TheSplitIsWaitedFor) {
  Comm comm = make();
  holdSplit();
  std::thread user([&] { EXPECT_EQ(allReduce(comm, 2), Result::Success); });
  Events events = takeUntil("CommSplit(c0, 0, 2, config)");
  for (int times = 0; times < 3; ++times)
    for (const std::string &event : takeUntil("CommGetAsyncError(c0)"))
      EXPECT_EQ(event, "CommGetAsyncError(c0)");
  fakeNcclSink(note);
  fakeNcclAsyncError(Result::Success);
  events = takeUntil(served);
  user.join();
  std::erase(events, "CommGetAsyncError(c0)");
  EXPECT_EQ(events, (Events{"attach c1=2/4", "load for c1", served}));
}

/// As it may be that the others come late, that is told, and an error only if it is asked for. Then it stays one: who
/// has come late waits for programs.
TEST_F(Nonblocking, TheWaitingMayEnd) {
  static uint32_t times = 0; // each text is told once
  ++times;
  fakeEngine().patience = {5 + times, 200 + times};
  Comm comm = make();
  testing::internal::CaptureStderr();
  holdSplit();
  EXPECT_EQ(allReduce(comm, 2), Result::InvalidUsage);
  const std::string told = testing::internal::GetCapturedStderr();
  for (uint32_t ms : {fakeEngine().patience.tellMs, fakeEngine().patience.endMs})
    EXPECT_NE(
        told.find("gc3: after " + std::to_string(ms) +
                  " ms NCCL waits for other ranks of a communicator; is gc3, with the same bundles, on all of them?\n"),
        std::string::npos)
        << told;
  fakeNcclSink(note);
  fakeNcclAsyncError(Result::Success);
  take();
  EXPECT_EQ(allReduce(comm, 2), Result::InvalidUsage);
  ncclGroupStart();
  allReduce(comm, 3);
  EXPECT_EQ(ncclGroupEnd(), Result::InvalidUsage);
  EXPECT_EQ(take(), (Events{"GroupStart()", "GroupEnd()"}));
}

/// Whose first call the others may have made by then.
TEST_F(Nonblocking, CallsFailWhereTheyAreReadyTooLate) {
  fakeEngine().patience = {0, 5};
  for (bool grouped : {false, true}) {
    Comm comm = make();
    for (Result state : {Result::InProgress, Result::Success}) {
      fakeNcclAsyncError(state);
      if (grouped)
        ncclGroupStart();
      EXPECT_EQ(allReduce(comm, 2), grouped ? Result::Success : Result::InvalidUsage);
      EXPECT_EQ(grouped ? ncclGroupEnd() : Result::InvalidUsage, Result::InvalidUsage);
    }
    Events events = take();
    std::erase_if(events, [](const std::string &event) {
      return !event.starts_with("AllReduce") && !event.starts_with("CommSplit");
    });
    EXPECT_EQ(events, Events{});
  }
}

/// What is refused anyway is not split for that, which would wait for others.
TEST_F(Nonblocking, AreNcclsWhereThereIsNoEngine) {
  fakeEngine().refusal = "no GPU";
  Comm comm = make();
  fakeEngine().refusal.clear();
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(take(), Events{"AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)"});
}

TEST_F(Nonblocking, OperationsMadeBeforeAreKnown) {
  Comm comm = make();
  RedOp op = RedOp::Sum;
  float two = 2;
  ncclRedOpCreatePreMulSum(&op, &two, DataType::Float32, ScalarResidence::HostImmediate, comm);
  take();
  for (int times = 0; times < 2; ++times)
    EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 2, DataType::Float32, op, comm, nullptr), Result::Success);
  EXPECT_EQ(take(), after(loaded, {"run 7 AllReduce 8 B float premulsum by 0x40000000 on c1",
                                   "run 7 AllReduce 8 B float premulsum by 0x40000000 on c1"}));
}
