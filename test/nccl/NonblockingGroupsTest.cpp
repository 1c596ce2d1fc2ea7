// SPDX-License-Identifier: Apache-2.0
// Groups with communicators that do not block: NCCL goes on with its part by itself.
#include "Nonblocking.h"

#include <atomic>

using namespace gc3::ncclapi;
using namespace gc3::nccl::test;

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
