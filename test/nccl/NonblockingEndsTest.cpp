// SPDX-License-Identifier: Apache-2.0
// How communicators that do not block end, with ours beside them, and what an abort reaches.
#include "Nonblocking.h"

#include <atomic>

using namespace gc3::ncclapi;
using namespace gc3::nccl::test;

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

/// Programs go by it, so its errors are nobody else's to tell.
TEST_F(Nonblocking, NcclIsAskedAboutOursToo) {
  Comm comm = make();
  allReduce(comm, 2);
  take();
  fakeNcclSink([](const char *event) {
    note(event);
    if (event == std::string("CommGetAsyncError(c0)"))
      fakeNcclAsyncError(Result::RemoteError);
  });
  Result state = Result::Success;
  EXPECT_EQ(ncclCommGetAsyncError(comm, &state), Result::Success);
  EXPECT_EQ(state, Result::RemoteError);
  EXPECT_EQ(take(), (Events{"CommGetAsyncError(c0)", "CommGetAsyncError(c1)"}));
}

/// The first communicator was freed without our knowledge.
TEST_F(Nonblocking, AHandleIsUsedAgainBehindTheFinalizing) {
  Comm comm = make();
  const auto useAndFinalize = [&](const std::string &own) {
    EXPECT_EQ(allReduce(comm, 2), Result::Success);
    EXPECT_EQ(ncclCommFinalize(comm), Result::Success);
    takeUntil("CommDestroy(" + own + ")");
  };
  useAndFinalize("c1");
  fakeNcclReuse(comm);
  EXPECT_EQ(make(), comm);
  useAndFinalize("c3");
  EXPECT_EQ(ncclCommDestroy(comm), Result::Success);
  EXPECT_EQ(take(), Events{"CommDestroy(c2)"});
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
  takeUntil("CommAbort(c2)"); // which nobody waits for any more
}

/// A grown one is taken on like them, but where it blocks it is ended like others: who finalizes it waits.
TEST_F(Nonblocking, AGrownOneThatBlocksIsFinalizedAtOnce) {
  Config blocks{sizeof(Config), 0, 0, 1};
  Comm grown = nullptr;
  EXPECT_EQ(ncclCommGrow(nullptr, 6, nullptr, 5, &grown, &blocks), Result::Success);
  EXPECT_EQ(allReduce(grown, 2), Result::Success);
  take();
  fakeEngine().runs = true;
  std::thread user([&] { EXPECT_EQ(ncclCommFinalize(grown), Result::RemoteError); });
  takeUntil("drain c1");
  Result state = Result::InternalError;
  EXPECT_EQ(ncclCommGetAsyncError(grown, &state), Result::Success);
  EXPECT_EQ(state, Result::Success) << "it is never in progress";
  fakeEngine().asyncError = Result::RemoteError;
  fakeEngine().runs = false;
  user.join();
  EXPECT_EQ(ncclCommDestroy(grown), Result::Success);
  fakeEngine().asyncError = Result::Success;
}

/// Its own, where NCCL may wait for other ranks while it destroys it: who destroys the application's waits no more.
TEST_F(Nonblocking, AnAbortIsNotHeldUpByTheDestroyingOfOurs) {
  static std::atomic<bool> isFree;
  isFree = false;
  Comm comm = make();
  allReduce(comm, 2);
  take();
  fakeNcclSink([](const char *event) {
    note(event);
    if (event == std::string("CommDestroy(c1)")) {
      isFree.wait(false);
      note("destroyed");
    }
  });
  std::thread user([&] { EXPECT_EQ(ncclCommDestroy(comm), Result::InvalidUsage); });
  takeUntil("CommDestroy(c1)");
  EXPECT_EQ(ncclCommAbort(comm), Result::Success);
  user.join();
  isFree = true, isFree.notify_all();
  takeUntil("destroyed");
}

/// What engines hold of NCCL's goes while an abort can still end it.
TEST_F(Nonblocking, AnAbortReachesWhatIsGivenBack) {
  Comm comm = make();
  allReduce(comm, 2);
  take();
  fakeEngine().holds = true;
  EXPECT_EQ(ncclCommFinalize(comm), Result::Success);
  takeUntil("give back c1");
  Result state = Result::Success;
  EXPECT_EQ(ncclCommGetAsyncError(comm, &state), Result::Success);
  EXPECT_EQ(state, Result::InProgress);
  EXPECT_EQ(ncclCommAbort(comm), Result::Success);
  Events events = takeUntil("forget c1");
  EXPECT_EQ(std::count(events.begin(), events.end(), "abort c1"), 1);
  fakeEngine().holds = false;
}

/// What is left of the first may wait for CUDA, which may wait for what only the second's abort ends.
TEST_F(Nonblocking, AbortsDoNotWaitForEachOther) {
  static std::atomic<bool> isFree;
  isFree = false;
  fakeEngine().hasAside = true;
  Comm first = makeComm(), second = makeComm();
  fakeEngine().sink = [](const char *event) {
    note(event);
    if (event == std::string("forget c0"))
      isFree.wait(false);
    if (event == std::string("abort c1"))
      isFree = true, isFree.notify_all();
  };
  ncclGroupStart();
  EXPECT_EQ(ncclCommAbort(first), Result::Success);
  EXPECT_EQ(ncclCommAbort(second), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  for (int forgotten = 0; forgotten < 2; std::this_thread::yield())
    for (const std::string &event : take())
      forgotten += event.starts_with("forget");
  fakeEngine().hasAside = false;
}

/// What it waits for in NCCL, with our own communicator.
TEST_F(Nonblocking, AnAbortEndsTheGivingBack) {
  static Comm comm;
  static std::atomic<bool> isFinalized; // by NCCL, as far as it goes
  comm = make();
  isFinalized = false;
  allReduce(comm, 2);
  take();
  fakeEngine().sink = [](const char *event) {
    note(event);
    if (event != std::string("detach c1"))
      return;
    isFinalized.wait(false);
    std::thread([] { EXPECT_EQ(ncclCommAbort(comm), Result::Success); }).join();
  };
  EXPECT_EQ(ncclCommFinalize(comm), Result::Success);
  isFinalized = true, isFinalized.notify_all();
  Events events = takeUntil("leave c1");
  if (std::count(events.begin(), events.end(), "CommAbort(c1)") == 0) // in a thread of its own
    takeUntil("CommAbort(c1)");
  EXPECT_EQ(std::count(events.begin(), events.end(), "CommDestroy(c1)"), 0);
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
    while (std::find(events.begin(), events.end(), "forget c1") == events.end())
      for (const std::string &event : take())
        events.push_back(event);
    std::erase(events, "CommAbort(c1)");
    EXPECT_EQ(events, (Events{"abort c1", "forget c1", name}));
  }
  fakeEngine().revokes = false;
}
