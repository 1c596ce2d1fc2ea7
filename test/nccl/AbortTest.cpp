// SPDX-License-Identifier: Apache-2.0
// Tests aborts and revocations on a separate thread, as a watchdog makes them. Also tests threads that each use their
// own communicators.
#include "Front.h"

#include <algorithm>
#include <atomic>

using namespace gc3::comm;
using namespace gc3::test;

namespace {

Result revoke(Comm comm) {
  return ncclCommRevoke(comm, 0);
}

using Threads = Front;

/// Each test runs twice. The first run ends a communicator by an abort. The second run uses a revocation, after which
/// the handle remains valid.
class Aborts : public Front, public testing::WithParamInterface<bool> {
protected:
  static Result abort(Comm comm) { return GetParam() ? revoke(comm) : ncclCommAbort(comm); }
  static std::string abortOf(const std::string &name) {
    return GetParam() ? "CommRevoke(" + name + ", 0)" : "CommAbort(" + name + ")";
  }

  /// Makes a call on another thread. Aborts `comm` while the call waits, which it does after `awaitWaiting` has
  /// returned. Checks that the call ends with an error, that NCCL gets no call after the abort, and that gc3's child is
  /// released.
  void endWait(Comm comm, const std::function<Result()> &call, const std::function<void()> &awaitWaiting) {
    nccl.takeProbes(); // so that awaitProbe() finds only probes of this call
    std::thread user([&] { EXPECT_EQ(call(), Result::InvalidUsage); });
    awaitWaiting();
    EXPECT_EQ(abort(comm), Result::Success);
    user.join();
    const Events events = takeEvents();
    const std::string last = abortOf(nameOf(comm));
    EXPECT_EQ(events.back(), last);
    EXPECT_EQ(std::count(events.begin(), events.end(), last), 1);
    awaitThat([&] {
      const Comms children = nccl.children();
      return std::none_of(children.begin(), children.end(),
                          [&](Comm child) { return nameOf(child) == "child of " + nameOf(comm); });
    });
  }
  /// Waits until gc3 has called the function `name` on a communicator of the application.
  void awaitProbe(const std::string &name) {
    awaitThat([&] {
      const Events probes = nccl.takeProbes();
      return std::find(probes.begin(), probes.end(), name) != probes.end();
    });
  }
  /// Waits until gc3 has called the polling function `name` for rank 0 a few more times.
  void awaitPoll(const std::string &name) {
    const uint64_t before = cuda.pollsOf(0, name);
    awaitThat([&] { return cuda.pollsOf(0, name) > before + 3; });
  }
};
INSTANTIATE_TEST_SUITE_P(, Aborts, testing::Bool(),
                         [](const auto &param) { return param.param ? "Revocation" : "Abort"; });

} // namespace

TEST_P(Aborts, EndTheSplit) {
  for (bool grouped : {false, true}) {
    const Comms comms = make();
    endWait(
        comms[0], [&] { return grouped ? allReduceAll({comms[0]}, few) : allReduce(0, comms[0], few); },
        [] { Monitor::awaitWaiting("NCCL CommSplit"); });
  }
}

TEST_P(Aborts, EndTheSplitOfAParentThatDoesNotBlock) {
  const Comms comms = make(2, false);
  endWait(
      comms[0], [&] { return allReduce(0, comms[0], few); },
      [&] {
        awaitProbe("CommSplit");
        awaitProbe("CommGetAsyncError");
      });
}

TEST_P(Aborts, EndTheWaitForTheParent) {
  const Comms comms = make(2, false);
  nccl.asyncError(comms[0], Result::InProgress);
  endWait(
      comms[0], [&] { return allReduce(0, comms[0], few); }, [&] { awaitProbe("CommGetAsyncError"); });
  EXPECT_EQ(nccl.splits, 0u);
}

TEST_P(Aborts, EndTheJoining) {
  const Comms comms = make();
  const auto isHeld = std::make_shared<std::atomic<bool>>(true); // shared, because the hook can outlive the test
  before([isHeld](int device, const std::string &name, uint64_t) {
    if (device == 1 && name == "NCCL AllGather")
      isHeld->wait(true);
  });
  std::thread other([&] { EXPECT_EQ(allReduce(1, comms[1], few), Result::InvalidUsage); });
  endWait(
      comms[0], [&] { return allReduce(0, comms[0], few); }, [&] { awaitPoll("CUDA query"); });
  *isHeld = false;
  isHeld->notify_all();
  EXPECT_EQ(abort(comms[1]), Result::Success);
  other.join();
}

TEST_P(Aborts, EndTheLoad) {
  const Comms comms = makeJoined();
  endWait(
      comms[0], [&] { return ncclAllGather(send[0], recv[0], few, DataType::Float32, comms[0], streams[0]); },
      [&] { awaitPoll("CUDA query"); });
}

// One thread loads a program. The other threads wait until it has loaded the program, or make their calls later.
TEST_F(Threads, ARevocationEndsAllCalls) {
  const Comms comms = makeJoined();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      EXPECT_EQ(ncclAllGather(send[0], recv[0], few, DataType::Float32, comms[0], streams[0]), Result::InvalidUsage);
    });
  const uint64_t polls = cuda.pollsOf(0, "CUDA query");
  awaitThat([&] { return cuda.pollsOf(0, "CUDA query") > polls + 3; });
  EXPECT_EQ(revoke(comms[0]), Result::Success);
  for (std::thread &thread : threads)
    thread.join();
}

TEST_P(Aborts, EndTheWaitForNcclsPart) {
  for (bool hasJoined : {true, false}) {
    const Comms comms = hasJoined ? makeJoined(2, false) : make(2, false);
    failNext("GroupEnd", Result::InProgress);
    nccl.asyncError(comms[0], Result::InProgress);
    endWait(
        comms[0], [&] { return allReduceAll({comms[0]}, few); }, [&] { awaitProbe("CommGetAsyncError"); });
  }
}

TEST_P(Aborts, EndFinalizations) {
  for (auto *end : {&ncclCommFinalize, &ncclCommDestroy}) {
    const Comms comms = makeJoined();
    EXPECT_EQ(allReduce(0, comms[0], few), Result::Success) << "its kernel waits for rank 1";
    takeEvents();
    if (end == &ncclCommDestroy)
      endWait(
          comms[0], [&] { return end(comms[0]); }, [&] { awaitPoll("CUDA query"); });
    EXPECT_EQ(end == &ncclCommDestroy ? Result::Success : abort(comms[0]), Result::Success);
    awaitThat([&] { return areIdle(); });
  }
}

// NCCL's finalization has returned, but gc3's finalization still waits for a kernel.
TEST_P(Aborts, EndFinalizationsThatNcclHasCompleted) {
  for (bool blocking : {true, false}) {
    const Comms comms = makeJoined(2, blocking);
    EXPECT_EQ(allReduce(0, comms[0], few), Result::Success);
    if (!blocking)
      failNext("CommFinalize", Result::InProgress);
    std::thread user(
        [&] { EXPECT_EQ(ncclCommFinalize(comms[0]), blocking ? Result::InvalidUsage : Result::InProgress); });
    await("CommFinalize(" + nameOf(comms[0]) + ")");
    awaitPoll("CUDA query");
    EXPECT_EQ(abort(comms[0]), Result::Success);
    user.join();
    awaitThat([&] { return areIdle() && nccl.children().size() == 1; });
    EXPECT_EQ(ncclCommAbort(comms[1]), Result::Success);
    awaitThat([&] { return nccl.children().empty(); });
  }
}

/// Makes the calls of an application on one rank. The application stops its calls before its watchdog aborts the
/// communicator.
class Application {
public:
  /// Makes a call and returns true, or returns false if the calls have stopped.
  bool call(const std::function<Result()> &make) {
    if (hasStopped)
      return false;
    const Result result = make();
    EXPECT_TRUE(result == Result::Success || result == Result::InvalidUsage) << static_cast<int>(result);
    return true;
  }
  void stop() { hasStopped = true; }

private:
  std::atomic<bool> hasStopped = false;
};

/// Aborts a communicator on a separate thread. A hook owns a share of this object, because the hook can outlive its
/// test.
class Watchdog {
public:
  /// Starts the abort, unless it has begun. If `isAborted` is not null, waits until it returns true, so that the
  /// interrupted call continues only after the abort.
  void begin(const std::function<void()> &abort, const std::function<bool()> &isAborted) {
    if (isBegun.exchange(true))
      return;
    thread = std::thread(abort);
    hasThread = true;
    while (isAborted && !isAborted())
      std::this_thread::yield();
  }
  /// Waits until the abort has ended, and returns true. If the abort has not begun, prevents it, and returns false.
  bool end() {
    if (!isBegun.exchange(true))
      return false;
    while (!hasThread)
      std::this_thread::yield();
    thread.join();
    return true;
  }

private:
  std::atomic<bool> isBegun = false, hasThread = false;
  std::thread thread;
};

#ifdef __SANITIZE_THREAD__
constexpr uint64_t callsBetweenAborts = 5; // with this sanitizer, an abort takes ten times as long
#else
constexpr uint64_t callsBetweenAborts = 1;
#endif

// For each n, aborts rank 0 before the n-th CUDA or NCCL call that gc3 makes for rank 0.
TEST_P(Aborts, EndWhateverRuns) {
  for (Comm comm : makeJoined()) // so that the environment is already read
    EXPECT_EQ(ncclCommAbort(comm), Result::Success);
  awaitThat([] { return Registry::ofProcess().sweep() == 0; }); // their executors would make calls, too
  for (bool blocking : {true, false}) {
    bool isOver = false;
    for (uint64_t at = 1; !isOver; at += callsBetweenAborts) {
      const Comms comms = make(2, blocking);
      std::array<Application, 2> applications;
      const auto watchdog = std::make_shared<Watchdog>();
      const auto isEnding = std::make_shared<std::atomic<bool>>(false);
      before([&, watchdog, isEnding, at,
              calls = std::make_shared<std::atomic<uint64_t>>(0)](int device, const std::string &name, uint64_t) {
        // Ignores setDevice: a thread of rank 1 starts on device 0, and its return to device 0 counts there. During a
        // query of the parent, the thread can hold the communicator's mutex, so the hook must not wait for the abort.
        const bool isQuery = name.starts_with("NCCL Comm") && name != "NCCL CommSplit";
        if (device != 0 || name == "CUDA setDevice")
          return;
        // Once the application destroys the communicator, NCCL can free it at any time. ncclCommDestroy waits for this
        // call only while gc3 drains or closes the communicator, so only then may the watchdog abort it.
        const bool isHeld =
            *isEnding && !isQuery && (phaseOf(comms[0]) == Phase::Draining || phaseOf(comms[0]) == Phase::Closing);
        if ((*isEnding && !isHeld) || ++*calls != at || (!isHeld && isEnding->exchange(true)))
          return;
        const auto isAborted = [comm = comms[0]] {
          const auto known = Registry::ofProcess().find(comm);
          return !known || known->status().isAborted();
        };
        applications[0].stop();
        watchdog->begin([comm = comms[0]] { EXPECT_EQ(abort(comm), Result::Success); },
                        isQuery ? std::function<bool()>() : std::function<bool()>(isAborted));
      });
      const auto use = [&](size_t rank) {
        FakeCuda::currentDevice = static_cast<int>(rank);
        for (int times = 0; times < 2; ++times)
          if (!applications[rank].call([&] { return allReduce(rank, comms[rank], few); }))
            return;
        applications[rank].call(
            [&] { return ncclAllGather(send[rank], recv[rank], few, DataType::Float32, comms[rank], streams[rank]); });
      };
      std::thread other([&] { use(1); });
      use(0);
      if (!isEnding->exchange(true))
        applications[0].call([&] { return ncclCommDestroy(comms[0]); });
      isOver = !watchdog->end();
      before(nullptr);
      if (!isOver) {
        applications[1].stop();
        EXPECT_EQ(revoke(comms[1]), Result::Success) << "it can wait for rank 0";
      }
      other.join();
      EXPECT_EQ(ncclCommDestroy(comms[1]), Result::Success);
      if (Registry::ofProcess().find(comms[0])) { // after a revocation, NCCL keeps the handle
        EXPECT_EQ(ncclCommDestroy(comms[0]), Result::Success);
      }
      awaitThat([] { return Registry::ofProcess().sweep() == 0; });
      EXPECT_TRUE(nccl.children().empty());
      EXPECT_TRUE(areIdle());
      fill();
    }
  }
}

TEST_F(Threads, UseCommunicatorsOfTheirOwn) {
  constexpr size_t threadCount = 4;
  constexpr int rounds = 20;
  struct Own {
    std::array<Stream, 2> streams;
    std::array<float *, 2> buffers;
  };
  std::vector<Own> all(threadCount);
  std::vector<std::vector<float>> memory(2 * threadCount, std::vector<float>(many));
  for (size_t t = 0; t < threadCount; ++t)
    for (size_t rank = 0; rank < 2; ++rank) {
      all[t].streams[rank] = newStream(rank);
      all[t].buffers[rank] = memory[2 * t + rank].data();
    }
  onEachRank(threadCount, [&](size_t thread) {
    FakeCuda::currentDevice = 0;
    const Own &own = all[thread];
    for (int round = 0; round < rounds; ++round) {
      const Comms comms = nccl.make(2, round % 4 < 2);
      std::array<RedOp, 2> ops{};
      float two = 2;
      const auto call = [&](size_t rank, size_t count, RedOp op) {
        EXPECT_EQ(ncclAllReduce(own.buffers[rank], own.buffers[rank], count, DataType::Float32, op, comms[rank],
                                own.streams[rank]),
                  Result::Success);
      };
      for (size_t rank = 0; rank < 2; ++rank)
        EXPECT_EQ(
            ncclRedOpCreatePreMulSum(&ops[rank], &two, DataType::Float32, ScalarResidence::HostImmediate, comms[rank]),
            Result::Success);
      EXPECT_EQ(ncclGroupStart(), Result::Success);
      for (size_t rank = 0; rank < 2; ++rank) {
        call(rank, few, RedOp::Sum);
        call(rank, many, RedOp::Sum);
        call(rank, few, ops[rank]);
        EXPECT_EQ(ncclRedOpDestroy(ops[rank], comms[rank]), Result::Success);
      }
      EXPECT_EQ(ncclGroupEnd(), Result::Success);
      for (Comm comm : comms) {
        EXPECT_EQ(stateOf(comm), Result::Success);
        EXPECT_EQ(round % 2 ? ncclCommDestroy(comm) : ncclCommAbort(comm), Result::Success);
      }
    }
  });
  const Events events = takeEvents();
  const auto countOf = [&](const std::string &prefix) {
    return static_cast<size_t>(
        std::count_if(events.begin(), events.end(), [&](const auto &each) { return each.starts_with(prefix); }));
  };
  EXPECT_EQ(countOf("RedOpDestroy("), 2 * threadCount * rounds);
  EXPECT_EQ(countOf("AllReduce("), 2 * threadCount * rounds);
  EXPECT_EQ(countOf("run "), 3 * 2 * threadCount * rounds) << "two calls, and a kernel that multiplies";
  EXPECT_EQ(countOf("CommDestroy("), threadCount * rounds);
}

// Watchdog threads query the state in a tight loop. NCCL allows only one query at a time.
TEST_F(Threads, QueryStates) {
  const Comms comms = make();
  std::atomic<bool> isOver = false;
  std::vector<std::thread> watchdogs;
  for (int t = 0; t < 4; ++t)
    watchdogs.emplace_back([&] {
      while (!isOver)
        EXPECT_EQ(stateOf(comms[0]), Result::Success);
    });
  for (int times = 0; times < 20; ++times) {
    EXPECT_EQ(allReduceAll(comms, few), Result::Success);
    expectSum(2);
  }
  isOver = true;
  for (std::thread &watchdog : watchdogs)
    watchdog.join();
}
