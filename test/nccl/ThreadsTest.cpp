// SPDX-License-Identifier: Apache-2.0
// Threads with communicators of their own, and one that aborts another's. For the thread sanitizer above all.
#include "Front.h"

#include <algorithm>
#include <barrier>
#include <thread>

using namespace gc3::ncclapi;
using namespace gc3::nccl::test;

using Threads = Front;

TEST_F(Threads, MakeUseAndDestroyCommunicatorsAtOnce) {
  constexpr int threadCount = 4, rounds = 50;
  std::vector<std::thread> threads;
  for (int t = 0; t < threadCount; ++t)
    threads.emplace_back([] {
      for (int round = 0; round < rounds; ++round) {
        Comm comm = nullptr;
        Result error = Result::InvalidUsage;
        RedOp op = RedOp::Sum;
        float two = 2;
        EXPECT_EQ(ncclCommInitRank(&comm, 2, {}, 0), Result::Success);
        EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &two, DataType::Float32, ScalarResidence::HostImmediate, comm),
                  Result::Success);
        ncclGroupStart();
        allReduce(comm, 2);
        allReduce(comm, 3);
        EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 2, DataType::Float32, op, comm, nullptr), Result::Success);
        EXPECT_EQ(ncclRedOpDestroy(op, comm), Result::Success);
        EXPECT_EQ(ncclGroupEnd(), Result::Success);
        EXPECT_EQ(ncclCommGetAsyncError(comm, &error), Result::Success);
        EXPECT_EQ(error, Result::Success);
        EXPECT_EQ(round % 2 ? ncclCommDestroy(comm) : ncclCommAbort(comm), Result::Success);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  size_t runs = 0, destroyed = 0, forwarded = 0, detached = 0, forgotten = 0;
  for (const std::string &event : take()) {
    runs += event.starts_with("run ");
    destroyed += event.starts_with("RedOpDestroy(");
    forwarded += event.starts_with("AllReduce(");
    detached += event.starts_with("detach ");
    forgotten += event.starts_with("forget ");
  }
  EXPECT_EQ(runs, 2 * threadCount * rounds);
  EXPECT_EQ(destroyed, threadCount * rounds);
  EXPECT_EQ(forwarded, threadCount * rounds);
  EXPECT_EQ(detached, threadCount * rounds / 2);
  EXPECT_EQ(forgotten, threadCount * rounds / 2);
}

/// As a watchdog does, of what never ends. NCCL is not asked to finalize what it may have freed.
TEST_F(Threads, OneAbortsWhatAnotherFinalizes) {
  for (auto *finalize : {&ncclCommFinalize, &ncclCommDestroy}) {
    fakeNcclReset();
    Comm comm = makeComm();
    fakeEngine().runs = true;
    std::thread user([&] { EXPECT_EQ(finalize(comm), Result::InvalidUsage); });
    while (take() != Events{"drain c0"})
      std::this_thread::yield();
    Result state = Result::InternalError;
    EXPECT_EQ(ncclCommGetAsyncError(comm, &state), Result::Success);
    EXPECT_EQ(state, Result::Success) << "as NCCL says of one that blocks";
    EXPECT_EQ(ncclCommAbort(comm), Result::Success);
    user.join();
    fakeEngine().runs = false;
    Events events = take();
    std::ranges::sort(events);
    EXPECT_EQ(events, (Events{"CommAbort(c0)", "CommGetAsyncError(c0)", "abort c0", "forget c0"}));
  }
}

/// At any moment: either is first. It is revoked, as NCCL keeps the handle then.
TEST_F(Threads, AnAbortIsNotLostBesideAFinalization) {
  for (int round = 0; round < 200; ++round) {
    fakeEngine().runs = false;
    Comm comm = makeComm();
    fakeEngine().runs = true;
    std::barrier both(2);
    std::thread user([&] {
      both.arrive_and_wait();
      ncclCommFinalize(comm);
    });
    both.arrive_and_wait();
    EXPECT_EQ(ncclCommRevoke(comm, 0), Result::Success);
    user.join();
    EXPECT_EQ(ncclCommAbort(comm), Result::Success);
  }
  fakeEngine().runs = false;
}

/// What is left of it is not touched, nor is NCCL asked to finalize what it may have freed.
TEST_F(Threads, OneAbortsWhatAnotherGivesBack) {
  static Comm comm;
  for (auto *end : {&ncclCommFinalize, &ncclCommDestroy}) {
    fakeNcclReset();
    comm = makeComm();
    fakeEngine().sink = [](const char *event) {
      note(event);
      if (event == std::string("detach c0"))
        std::thread([] { EXPECT_EQ(ncclCommAbort(comm), Result::Success); }).join();
    };
    EXPECT_EQ(end(comm), Result::InvalidUsage);
    EXPECT_EQ(take(), (Events{"detach c0", "CommAbort(c0)", "leave c0"}));
  }
}

/// A watchdog that asks while another thread finalizes must not be the last who holds what is given back then.
TEST_F(Threads, WhoAsksGivesNothingBack) {
  static std::atomic<std::thread::id> givenBackBy;
  static std::atomic<bool> isFinalized;
  isFinalized = false;
  Comm comm = makeComm();
  fakeEngine().sink = [](const char *event) {
    if (event == std::string("detach c0"))
      givenBackBy = std::this_thread::get_id();
  };
  fakeNcclSink([](const char *event) { isFinalized = isFinalized || event == std::string("CommFinalize(c0)"); });
  std::thread finalizing;
  std::thread::id finalizer;
  fakeEngine().whileAsked = [&] {
    finalizing = std::thread([&] { EXPECT_EQ(ncclCommFinalize(comm), Result::Success); });
    finalizer = finalizing.get_id();
    for (int times = 0; times < 1000 && !isFinalized; ++times) // it waits for this question, or does not
      std::this_thread::yield();
  };
  Result state = Result::InternalError;
  EXPECT_EQ(ncclCommGetAsyncError(comm, &state), Result::Success);
  EXPECT_EQ(state, Result::Success);
  finalizing.join();
  EXPECT_EQ(givenBackBy.load(), finalizer);
}

/// As ranks of one process do until all of them have finalized: a tight loop each.
TEST_F(Threads, WhoAsksKeepsNobodyOut) {
  Comm comm = makeComm();
  std::atomic<bool> over = false;
  std::vector<std::thread> asking;
  for (int t = 0; t < 8; ++t)
    asking.emplace_back([&] {
      Result state = Result::InternalError;
      while (!over)
        EXPECT_EQ(ncclCommGetAsyncError(comm, &state), Result::Success);
    });
  for (int round = 0; round < 100; ++round) {
    Comm other = makeComm();
    EXPECT_EQ(allReduce(other, 2), Result::Success);
    EXPECT_EQ(ncclCommDestroy(other), Result::Success);
  }
  over = true;
  for (std::thread &thread : asking)
    thread.join();
}

TEST_F(Threads, AFinalizationSaysWhatHasFailed) {
  Comm comm = makeComm();
  fakeEngine().asyncError = Result::RemoteError;
  EXPECT_EQ(ncclCommFinalize(comm), Result::RemoteError);
  EXPECT_EQ(take(), Events{"detach c0"});
  fakeEngine().asyncError = Result::Success;
  EXPECT_EQ(ncclCommAbort(comm), Result::Success);
  EXPECT_EQ(take(), Events{"CommAbort(c0)"});
}

// As a watchdog does. The stand-in for NCCL frees the communicator, which the caller must then not use.
TEST_F(Threads, OneRevokesWhatAnotherUses) {
  Comm comm = makeComm();
  std::atomic<int> calls{0};
  std::thread user([&] {
    Result result = Result::Success;
    for (int i = 0; i < 1000; ++i, ++calls)
      if (Result got = allReduce(comm, 2); got != Result::Success)
        result = got;
    EXPECT_TRUE(result == Result::Success || result == Result::InternalError) << static_cast<int>(result);
  });
  while (calls < 10)
    std::this_thread::yield();
  EXPECT_EQ(ncclCommRevoke(comm, 0), Result::Success);
  user.join();
  Events events = take();
  EXPECT_EQ(std::count(events.begin(), events.end(), "abort c0"), 1);
  EXPECT_EQ(std::count(events.begin(), events.end(), "forget c0"), 1);
}
