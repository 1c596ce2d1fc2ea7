// SPDX-License-Identifier: Apache-2.0
// Communicators that do not block: at their first collective call engines take on one of our own with the same ranks.
#include "Front.h"
#include "nccl/Communicators.h"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace gc3::nccl;
using namespace gc3::nccl::test;

namespace {

class Nonblocking : public Front {
protected:
  ~Nonblocking() override {
    fakeNcclAsyncError(Result::Success);
    fakeEngine().patience = {};
    fakeEngine().captures = fakeEngine().runs = false;
    fakeEngine().hasThreads = true;
    for (Comm comm : made) // so that nobody asks NCCL about them in the next test
      if (Communicators::table().find(comm))
        ncclCommDestroy(comm);
  }

  Comm make(int ranks = 4, int rank = 2) {
    Comm comm = nullptr;
    Config config{sizeof(Config), 0, 0, 0};
    fakeNcclFail("CommInitRankConfig", Result::InProgress);
    EXPECT_EQ(ncclCommInitRankConfig(&comm, ranks, {}, rank, &config), Result::InProgress);
    EXPECT_EQ(take().size(), 1u) << "nothing but NCCL's";
    made.push_back(comm);
    return comm;
  }
  std::vector<Comm> made;

  /// What becomes of the next split: nothing, until somebody sets CommGetAsyncError.
  static void holdSplit() {
    fakeNcclFail("CommSplit", Result::InProgress);
    fakeNcclSink([](const char *event) {
      note(event);
      if (event == std::string("CommSplit(c0, 0, 2, config)"))
        fakeNcclAsyncError(Result::InProgress);
    });
  }

  /// Until it has happened, what has.
  static Events takeUntil(const std::string &last) {
    Events events;
    while (std::find(events.begin(), events.end(), last) == events.end()) {
      for (std::string &event : take())
        events.push_back(std::move(event));
      std::this_thread::yield();
    }
    return events;
  }

  static inline const std::string served = "run 7 AllReduce 8 B float sum on c1";
  static Events after(Events events, const Events &more) {
    events.insert(events.end(), more.begin(), more.end());
    return events;
  }

  static inline const Events split{"CommGetAsyncError(c0)", "CommSplit(c0, 0, 2, config)", "CommGetAsyncError(c0)"};
  static inline const Events taken = after(split, {"attach c1=2/4"});
  static inline const Events loaded = after(taken, {"load for c1"});
};

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

/// As NCCL_COMM_BLOCKING=0 would those of our own.
TEST_F(Nonblocking, AreNcclsWhereNoneMayBlock) {
  setenv("NCCL_COMM_BLOCKING", "0", 1);
  Comm comm = make();
  unsetenv("NCCL_COMM_BLOCKING");
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(take(), Events{"AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)"});
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

TEST_F(Nonblocking, OursGoesWhereTheEngineRefuses) {
  Comm comm = make(3, 2);
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  Events events = take();
  ASSERT_GT(events.size(), 3u);
  events.erase(events.begin(), events.end() - 3);
  EXPECT_EQ(events, (Events{"attach c1=2/3", "CommDestroy(c1)", "AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)"}));
}

/// Before the application's, also where the open group has calls on it; in a thread of its own, as NCCL would take it
/// in the group for one that blocks among others that do not.
TEST_F(Nonblocking, OursGoesFirst) {
  Comm comm = make();
  allReduce(comm, 2);
  take();
  ncclGroupStart();
  allReduce(comm, 3);
  EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
  fakeNcclFail("GroupEnd", Result::InProgress);
  EXPECT_EQ(ncclGroupEnd(), Result::InProgress);
  EXPECT_EQ(take(), (Events{"GroupStart()", "AllReduce(0x0, 0x0, 3, 7, 0, c0, 0x0)", "detach c1", "CommDestroy(c1)",
                            "CommDestroy(c0)", "GroupEnd()"}));
}

TEST_F(Nonblocking, AreFinalizedTogether) {
  Comm first = make(), second = make();
  for (bool hasThreads : {true, false}) { // without one it is done at once
    fakeEngine().hasThreads = hasThreads;
    Comm comm = hasThreads ? first : second;
    allReduce(comm, 2);
    take();
    if (hasThreads)
      ncclGroupStart();
    EXPECT_EQ(ncclCommFinalize(comm), Result::Success);
    EXPECT_EQ(hasThreads ? ncclGroupEnd() : Result::Success, Result::Success) << "nothing of ours was in it";
    ncclCommDestroy(comm);
    Events events = take();
    const std::string own = hasThreads ? "c2" : "c3", theirs = hasThreads ? "c0" : "c1";
    EXPECT_EQ(events.back(), "CommDestroy(" + theirs + ")");
    const auto detached = std::find(events.begin(), events.end(), "detach " + own);
    EXPECT_LT(detached, std::find(detached, events.end(), "CommDestroy(" + own + ")"));
    EXPECT_EQ(events.size(), hasThreads ? 6u : 4u);
  }
}

TEST_F(Nonblocking, TheFinalizingIsInProgress) {
  Comm comm = make();
  allReduce(comm, 2);
  fakeEngine().runs = true;
  EXPECT_EQ(ncclCommFinalize(comm), Result::Success);
  Result state = Result::Success;
  EXPECT_EQ(ncclCommGetAsyncError(comm, &state), Result::Success);
  EXPECT_EQ(state, Result::InProgress);
  fakeEngine().runs = false;
  while (state == Result::InProgress)
    EXPECT_EQ(ncclCommGetAsyncError(comm, &state), Result::Success);
  EXPECT_EQ(state, Result::Success);
  EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
}

/// What ran may fail when the application has given the communicator up, and nobody else would say so.
TEST_F(Nonblocking, ErrorsAreKeptBehindTheFinalizing) {
  Comm comm = make();
  allReduce(comm, 2);
  fakeEngine().runs = true;
  EXPECT_EQ(ncclCommFinalize(comm), Result::Success);
  fakeEngine().asyncError = Result::RemoteError;
  Result state = Result::Success;
  EXPECT_EQ(ncclCommGetAsyncError(comm, &state), Result::Success);
  EXPECT_EQ(state, Result::RemoteError);
  fakeEngine().runs = false;
  takeUntil("CommDestroy(c1)");
  fakeEngine().asyncError = Result::Success;
  EXPECT_EQ(ncclCommGetAsyncError(comm, &state), Result::Success);
  EXPECT_EQ(state, Result::RemoteError);
  EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
}

/// A child may block though its parent does not. Its split then waits for the others, who may never come.
TEST_F(Nonblocking, AnAbortPassesASplitThatBlocks) {
  static std::atomic<bool> isHeld, isFree;
  Config undefined{sizeof(Config), 0, 0, configUndefined};
  Comm parent = make(), child = nullptr;
  Result state = Result::Success;
  EXPECT_EQ(ncclCommSplit(parent, 0, 0, &child, &undefined), Result::Success);
  EXPECT_EQ(ncclCommGetAsyncError(parent, &state), Result::Success);
  isHeld = isFree = false;
  fakeNcclSink([](const char *event) {
    note(event);
    if (event == std::string("CommSplit(c1, 0, 0, config)")) {
      isHeld = true, isHeld.notify_all();
      isFree.wait(false);
    }
    if (event == std::string("CommAbort(c1)"))
      isFree = true, isFree.notify_all();
  });
  std::thread user([&] { EXPECT_EQ(allReduce(child, 2), Result::InvalidUsage); });
  isHeld.wait(false);
  EXPECT_EQ(ncclCommAbort(child), Result::Success);
  user.join();
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

/// As NCCL's own goes on by itself: an application may find that it takes too long, and abort.
TEST_F(Nonblocking, AnAbortEndsTheFinalizing) {
  for (bool inGroup : {false, true}) {
    fakeNcclReset();
    Comm comm = make();
    allReduce(comm, 2);
    take();
    fakeEngine().runs = true;
    if (inGroup)
      ncclGroupStart();
    EXPECT_EQ(ncclCommFinalize(comm), Result::Success);
    EXPECT_EQ(ncclCommAbort(comm), Result::Success);
    EXPECT_EQ(inGroup ? ncclGroupEnd() : Result::Success, Result::Success);
    Events events = takeUntil("forget c1");
    if (std::count(events.begin(), events.end(), "CommAbort(c1)") == 0) // in a thread of its own
      takeUntil("CommAbort(c1)");
    EXPECT_EQ(std::count(events.begin(), events.end(), "abort c1"), 1);
    EXPECT_EQ(std::count(events.begin(), events.end(), "CommDestroy(c1)"), 0);
    fakeEngine().runs = false;
  }
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

/// As an application's watchdog does. The communicator is not touched behind that.
TEST_F(Nonblocking, AnAbortEndsTheWaiting) {
  for (bool inGroup : {false, true}) {
    fakeNcclReset();
    Comm comm = make();
    std::thread user([&] {
      if (inGroup) {
        ncclGroupStart();
        EXPECT_EQ(allReduce(comm, 2), Result::Success);
        fakeNcclFail("GroupEnd", Result::InProgress);
        fakeNcclAsyncError(Result::InProgress);
        EXPECT_EQ(ncclGroupEnd(), Result::InvalidUsage);
      } else {
        holdSplit();
        EXPECT_EQ(allReduce(comm, 2), Result::InvalidUsage);
      }
    });
    if (!inGroup) // there it waits for what NCCL does in the group
      takeUntil("CommSplit(c0, 0, 2, config)");
    takeUntil("CommGetAsyncError(c0)");
    EXPECT_EQ(ncclCommAbort(comm), Result::Success);
    user.join();
    const Events events = take();
    EXPECT_EQ(events.back(), "CommAbort(c0)");
    EXPECT_EQ(std::count(events.begin(), events.end(), "AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)"), 0);
    fakeNcclSink(note);
  }
}

/// Nor is it split then.
TEST_F(Nonblocking, AnAbortEndsTheSplitting) {
  static Comm comm;
  comm = make();
  fakeEngine().sink = [](const char *event) {
    note(event);
    if (event == std::string("look at a stream"))
      std::thread([] { EXPECT_EQ(ncclCommAbort(comm), Result::Success); }).join();
  };
  EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 2, DataType::Float32, RedOp::Sum, comm, reinterpret_cast<Stream>(16)),
            Result::InvalidUsage);
  EXPECT_EQ(take(), (Events{"look at a stream", "CommAbort(c0)"}));
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
    EXPECT_NE(told.find("gc3: after " + std::to_string(ms) +
                        " ms NCCL waits for other ranks of a communicator that does "
                        "not block; is gc3, with the same bundles, on all of them?\n"),
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

/// While it is asked, which may take its time. What waits in NCCL for others ends.
TEST_F(Nonblocking, AnAbortReachesTheEngine) {
  static Comm comm;
  comm = make();
  fakeEngine().sink = [](const char *event) {
    note(event);
    if (event == std::string("attach c1=2/4"))
      std::thread([] { EXPECT_EQ(ncclCommAbort(comm), Result::Success); }).join();
  };
  EXPECT_EQ(allReduce(comm, 2), Result::InvalidUsage);
  Events events = take();
  if (std::erase(events, "CommAbort(c1)") == 0) { // by a thread of its own
    EXPECT_EQ(takeUntil("CommAbort(c1)"), Events{"CommAbort(c1)"});
  }
  EXPECT_EQ(events, after(taken, {"CommAbort(c0)", "stop attaching c1", "abort c1", "forget c1"}));
}

TEST_F(Nonblocking, AnAbortIsOursToo) {
  fakeEngine().revokes = true; // our own: the application's is still to be revoked
  for (auto [death, name] : {std::pair(&ncclCommAbort, "CommAbort(c0)"),
                             std::pair<Result (*)(Comm), const char *>(
                                 [](Comm comm) { return ncclCommRevoke(comm, 0); }, "CommRevoke(c0, 0)")}) {
    fakeNcclReset();
    Comm comm = make();
    allReduce(comm, 2);
    take();
    EXPECT_EQ(death(comm), Result::Success);
    Events events = takeUntil("CommAbort(c1)"); // by a thread of its own
    while (std::find(events.begin(), events.end(), name) == events.end())
      for (const std::string &event : take())
        events.push_back(event);
    std::erase(events, "CommAbort(c1)");
    EXPECT_EQ(events, (Events{"abort c1", "forget c1", name}));
  }
  fakeEngine().revokes = false;
}

TEST_F(Nonblocking, CallsInGroupsAreKept) {
  Comm comm = make();
  ncclGroupStart();
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(allReduce(comm, 3), Result::Success);
  EXPECT_EQ(take(), Events{"GroupStart()"});
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(take(), after(Events{"GroupEnd()"}, after(loaded, {"GroupStart()", "AllReduce(0x0, 0x0, 3, 7, 0, c0, 0x0)",
                                                               "GroupEnd()", served})));
  ncclGroupStart();
  allReduce(comm, 3);
  EXPECT_EQ(take(), (Events{"GroupStart()", "AllReduce(0x0, 0x0, 3, 7, 0, c0, 0x0)"})) << "as ever";
  ncclGroupEnd();
}

/// Others may wait for NCCL's call before they come to the program's.
TEST_F(Nonblocking, NothingIsLoadedAheadOfNcclsCall) {
  Comm comm = make();
  ncclGroupStart();
  allReduce(comm, 3);
  allReduce(comm, 2);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(take(),
            after(Events{"GroupStart()", "GroupEnd()"},
                  after(taken, {"GroupStart()", "AllReduce(0x0, 0x0, 3, 7, 0, c0, 0x0)", "GroupEnd()", served})));
}

/// Other ranks may make their first calls on several one by one, in any order: no split waits for what another needs.
TEST_F(Nonblocking, EachIsTakenOnByItself) {
  static std::atomic<bool> isLoaded;
  static std::string held;
  for (const char *split : {"CommSplit(c0, 0, 0, config)", "CommSplit(c1, 0, 1, config)"}) {
    fakeNcclReset();
    Comm c0 = make(4, 0), c1 = make(4, 1), c2 = makeComm(4, 3);
    held = split, isLoaded = false;
    fakeEngine().sink = [](const char *event) {
      note(event);
      if (event == std::string("load for c3") || event == std::string("load for c4")) // not what is split meanwhile
        isLoaded = true, isLoaded.notify_all();
    };
    fakeNcclSink([](const char *event) {
      note(event);
      if (event == held)
        isLoaded.wait(false);
    });
    ncclGroupStart();
    for (Comm comm : {c0, c2, c1, c0})
      allReduce(comm, 2);
    EXPECT_EQ(ncclGroupEnd(), Result::Success);
    const Events events = take();
    for (const char *taken : {"CommSplit(c0, 0, 0, config)", "CommSplit(c1, 0, 1, config)"})
      EXPECT_EQ(std::count(events.begin(), events.end(), taken), 1) << taken;
    const bool isSwapped = std::find(events.begin(), events.end(), "attach c3=1/4") != events.end();
    const std::string first = isSwapped ? "c4" : "c3", second = isSwapped ? "c3" : "c4";
    for (const std::string &taken : {"attach " + first + "=0/4", "attach " + second + "=1/4"})
      EXPECT_EQ(std::count(events.begin(), events.end(), taken), 1) << taken;
    for (const std::string &taken : {"load for " + first, "load for " + second, std::string("load for c2")})
      EXPECT_EQ(std::count(events.begin(), events.end(), taken), 1) << taken;
    const std::string run = "run 7 AllReduce 8 B float sum on ";
    EXPECT_EQ(Events(events.end() - 5, events.end()),
              (Events{"together 4", run + first, run + "c2", run + second, run + first}));
    EXPECT_EQ(events.size(), 18u);
    fakeNcclSink(note);
    ncclCommDestroy(c2);
    take();
  }
}

TEST_F(Nonblocking, FailsWhereThereIsNoThread) {
  Comm c0 = make(4, 0), c1 = make(4, 1);
  fakeEngine().hasThreads = false;
  for (int times = 0; times < 2; ++times) {
    ncclGroupStart();
    allReduce(c0, 2);
    allReduce(c1, 2);
    EXPECT_EQ(ncclGroupEnd(), Result::InvalidUsage);
    fakeEngine().hasThreads = true;
  }
  Events events = take();
  std::erase_if(events,
                [](const std::string &event) { return !event.starts_with("run") && !event.starts_with("AllReduce"); });
  EXPECT_EQ(events, Events(2, "run 7 AllReduce 8 B float sum on c2"));
}

/// NCCL launches its part from a thread of its own, and on other ranks it might be the other way round.
TEST_F(Nonblocking, ProgramsRunBehindNcclsPart) {
  Comm comm = make();
  allReduce(comm, 2);
  take();
  ncclGroupStart();
  allReduce(comm, 3);
  allReduce(comm, 2);
  fakeNcclFail("GroupEnd", Result::InProgress);
  EXPECT_EQ(ncclGroupEnd(), Result::InProgress);
  EXPECT_EQ(take(), (Events{"GroupStart()", "AllReduce(0x0, 0x0, 3, 7, 0, c0, 0x0)", "GroupEnd()",
                            "CommGetAsyncError(c0)", served}));
}

/// Those that the group has no call on may be other ranks', in other threads.
TEST_F(Nonblocking, ProgramsRunBehindAllOfNcclsPart) {
  Comm served = make(), unserved = make(), refused = make(3, 2), other = make();
  for (Comm comm : {served, unserved, refused})
    allReduce(comm, 2);
  take();
  for (bool inFirst : {true, false}) {
    ncclGroupStart();
    allReduce(unserved, 3);
    allReduce(refused, 2);
    allReduce(served, 2);
    if (!inFirst) // in a group of ours, since it is kept
      allReduce(other, 3);
    fakeNcclSink([](const char *event) {
      note(event);
      if (event == std::string("AllReduce(0x0, 0x0, 3, 7, 0, c3, 0x0)"))
        fakeNcclFail("GroupEnd", Result::InProgress);
    });
    if (inFirst)
      fakeNcclFail("GroupEnd", Result::InProgress);
    EXPECT_EQ(ncclGroupEnd(), Result::InProgress);
    Events events = take();
    Events wanted{"GroupEnd()", "CommGetAsyncError(c1)", "CommGetAsyncError(c2)", "CommGetAsyncError(c0)",
                  "run 7 AllReduce 8 B float sum on c4"};
    if (!inFirst)
      wanted.insert(wanted.begin() + 3, "CommGetAsyncError(c3)");
    ASSERT_GT(events.size(), wanted.size());
    events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(wanted.size()));
    EXPECT_EQ(events, wanted);
  }
}

TEST_F(Nonblocking, ProgramsDoNotRunWhereNcclsPartDoesNotCome) {
  fakeEngine().patience = {0, 5};
  Comm comm = make();
  allReduce(comm, 2);
  take();
  ncclGroupStart();
  allReduce(comm, 3);
  allReduce(comm, 2);
  fakeNcclFail("GroupEnd", Result::InProgress);
  fakeNcclAsyncError(Result::InProgress);
  EXPECT_EQ(ncclGroupEnd(), Result::RemoteError);
  Events events = take();
  EXPECT_EQ(events.back(), "break c1");
  events.pop_back();
  EXPECT_EQ(events.back(), "CommGetAsyncError(c0)");
  fakeNcclAsyncError(Result::Success);
  EXPECT_EQ(allReduce(comm, 2), Result::InternalError) << "the others are one call behind";
  EXPECT_EQ(take(), Events{});
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

TEST_F(Nonblocking, ErrorsOfGroupsComeOut) {
  Comm comm = make(3, 2); // which the engine refuses
  fakeNcclFail("AllReduce", Result::InvalidArgument);
  ncclGroupStart();
  allReduce(comm, 2);
  EXPECT_EQ(ncclGroupEnd(), Result::InvalidArgument);
  ncclGroupStart();
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  fakeNcclFail("GroupEnd", Result::InProgress);
  take();
  EXPECT_EQ(ncclGroupEnd(), Result::InProgress);
  EXPECT_EQ(take(), Events{"GroupEnd()"}) << "nobody waits for it";
}

/// A thread's ranks would wait for each other one by one.
TEST_F(Nonblocking, NothingIsHandedOverWithoutAGroup) {
  Comm comm = make();
  fakeNcclSink([](const char *event) {
    note(event);
    if (std::string(event).starts_with("CommSplit"))
      fakeNcclFail("GroupStart", Result::SystemError); // the next one
  });
  ncclGroupStart();
  allReduce(comm, 3);
  EXPECT_EQ(ncclGroupEnd(), Result::SystemError);
  EXPECT_EQ(take(), after(Events{"GroupStart()", "GroupEnd()"}, after(taken, {"GroupStart()"})));
}

TEST_F(Nonblocking, GroupsThatEndOtherwise) {
  Comm comm = make();
  ncclGroupStart();
  allReduce(comm, 2);
  EXPECT_EQ(ncclGroupSimulateEnd(nullptr), Result::Success);
  EXPECT_EQ(take(), (Events{"GroupStart()", "AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)", "GroupSimulateEnd(0x0)"}));
  ncclGroupStart();
  allReduce(comm, 2);
  EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(take(), (Events{"GroupStart()", "AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)", "CommDestroy(c0)", "GroupEnd()"}));
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

} // namespace
