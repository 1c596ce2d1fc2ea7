// SPDX-License-Identifier: Apache-2.0
// Tests cases that the table of docs/lifetime.md omits: how callers, errors, deadlines and kernels interact, and which
// communicators the registry keeps.
#include "CommSupport.h"
#include "Monitor.h"

using namespace gc3;
using namespace gc3::test;
using comm::CallChoice;
using comm::CallGroup;
using comm::Communicator;
using comm::Phase;
using comm::WaitLimits;

namespace {

constexpr WaitLimits endless{0, 0};

/// Waits at most 100 ms until `condition` is true, and returns it. On a slow machine, a test that expects false can
/// miss an error, but cannot fail without one.
template <typename Condition>
bool soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (!condition() && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  return condition();
}

class CommLives : public testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(nccl.leaks(), ""); }

  /// Makes two ranks that have not begun to join.
  void make(const WaitLimits &limits, bool blocking) {
    handles = nccl.make(2, blocking);
    const comm::ProgramTable::Files files{open({ringAllReduce(2, true)})};
    for (ncclapi::Comm handle : handles) {
      setups.push_back(setupOf(nccl, files));
      ranks.push_back(std::make_shared<Communicator>(setups.back(), handle, limits));
      comm::Registry::ofProcess().add(ranks.back());
    }
  }
  static void awaitClosed(Communicator &rank) {
    awaitThat([&] { return rank.isClosed(); });
  }
  void abortAll() {
    for (const auto &rank : ranks)
      abort(rank);
    for (const auto &rank : ranks)
      awaitClosed(*rank);
    ranks.clear();
    comm::Registry::ofProcess().sweep();
  }
  void revoke(size_t rank) {
    reinterpret_cast<ncclapi::signature::CommRevoke *>(FakeNccl::applicationFunction("CommRevoke"))(handles[rank], 0);
  }

  FakeCuda fake;
  FakeNccl nccl{fake};
  std::vector<ncclapi::Comm> handles;
  std::vector<std::shared_ptr<comm::Setup>> setups;
  std::vector<std::shared_ptr<Communicator>> ranks;
};

/// Two ranks that have joined and loaded a program.
class ReadyPair {
public:
  explicit ReadyPair(FakeCuda &fake, FakeNccl &nccl, const cuda::Options &options = smallOptions())
      : world(fake, nccl, {ringAllReduce(2, true), under(kernel::Protocol::LL, ringAllReduce(2, true))}, options),
        first(*world.ranks[0]) {
    EXPECT_EQ(world.run(0, {.count = 9}), "");
    wanted.emplace(world.trial(0, {.count = 30}));
    buffers.emplace(fake, *wanted);
  }
  core::Outcome call(size_t rank) {
    std::vector<CallGroup::Call> calls{world.part(rank, buffers->requests[rank])};
    CallGroup::run(calls);
    return calls[0].outcome;
  }
  /// Makes a call on rank 0, whose kernel then waits for rank 1.
  void launchFirst() {
    EXPECT_EQ(call(0).text, "");
    EXPECT_FALSE(world.cuda.isIdle(world.streams[0]));
  }
  void awaitIdle() {
    awaitThat([&] { return world.cuda.isIdle(world.streams[0]); });
  }
  void abortAll() {
    for (const auto &rank : world.ranks)
      abort(rank);
  }

  CommWorld world;
  Communicator &first;
  std::optional<Trial> wanted;
  std::optional<Loopback::Buffers> buffers;
};

TEST_F(CommLives, ASingleRankIsLeftToNccl) {
  const std::vector<core::Outcome> joined =
      joinOutcomes(nccl.make(1), {setupOf(nccl, {open({ringAllReduce(2, true)})})});
  EXPECT_EQ(joined[0].text, "one rank");
  EXPECT_EQ(nccl.splits, 0u);
}

/// If the parent has an error, gc3 reports none: the application gets the error from its NCCL call.
TEST_F(CommLives, ACommunicatorThatNcclCannotSplitIsLeftToNccl) {
  make(endless, true);
  nccl.fail("CommSplit", FakeNccl::failure);
  ranks[0]->beginJoin();
  EXPECT_EQ(ranks[0]->awaitJoin().text, "");
  EXPECT_EQ(ranks[0]->refusal().text.find("it could not be split: "), 0u);
  nccl.asyncError(handles[1], FakeNccl::failure);
  ranks[1]->beginJoin();
  EXPECT_EQ(ranks[1]->awaitJoin().text, "");
  EXPECT_FALSE(ranks[1]->refusal().ok());
  EXPECT_EQ(nccl.splits, 0u);
  endAll(ranks);
}

TEST_F(CommLives, ARefusedChildIsDestroyedAtOnce) {
  make(endless, true);
  setups[1]->problem = {gc3NotABundle, "no file"};
  joinAll(ranks);
  awaitThat([this] { return nccl.children().empty(); });
  EXPECT_EQ(ranks[0]->status().phase, Phase::Ready);
  endAll(ranks);
}

TEST_F(CommLives, TheFirstErrorStays) {
  ReadyPair pair(fake, nccl);
  pair.first.fail({gc3SystemError, "first"});
  pair.first.fail({gc3InternalError, "second"});
  EXPECT_EQ(pair.first.status().error.text, "first");
  EXPECT_EQ(pair.call(0).text, "first");
  abort(pair.world.ranks[0]);
  EXPECT_EQ(pair.first.status().error.text, "first");
}

/// Kernels of a failed rank continue, because other ranks can need their data.
TEST_F(CommLives, KernelsGoOnAfterAFailure) {
  ReadyPair pair(fake, nccl);
  pair.launchFirst();
  pair.first.fail({gc3SystemError, "a test"});
  EXPECT_EQ(pair.call(1).text, "");
  EXPECT_EQ(pair.world.finish(*pair.wanted, *pair.buffers), "");
}

TEST_F(CommLives, ATimeoutStopsKernels) {
  ReadyPair pair(fake, nccl);
  pair.launchFirst();
  pair.first.fail({gc3Timeout, "a test"});
  pair.awaitIdle();
}

TEST_F(CommLives, AnAbortAfterAFailureStopsKernels) {
  ReadyPair pair(fake, nccl);
  pair.launchFirst();
  pair.first.fail({gc3SystemError, "a test"});
  abort(pair.world.ranks[0]);
  pair.awaitIdle();
}

TEST_F(CommLives, DrainingHasADeadline) {
  cuda::Options options = smallOptions();
  options.timeoutMs = 200;
  ReadyPair pair(fake, nccl, options);
  pair.launchFirst();
  EXPECT_TRUE(pair.first.finalize(true));
  EXPECT_EQ(pair.first.status().error.code, gc3Timeout);
}

TEST_F(CommLives, AKernelHasADeadlineWhileAProgramIsLoaded) {
  cuda::Options options = smallOptions();
  options.timeoutMs = 200;
  ReadyPair pair(fake, nccl, options);
  pair.launchFirst();
  pair.first.beginLoad(1, {});
  awaitThat([&] { return !pair.first.status().error.ok(); });
  EXPECT_EQ(pair.first.status().error.text.find("a kernel has not ended in 200 ms"), 0u);
  pair.abortAll();
}

TEST_F(CommLives, AReportOfKernelsFollowsTheFirstError) {
  cuda::Options options = smallOptions();
  options.timeoutMs = 200;
  ReadyPair pair(fake, nccl, options);
  pair.launchFirst();
  pair.first.fail({gc3SystemError, "first"});
  EXPECT_EQ(awaitStopReport(pair.first).find("first; a kernel has not ended in 200 ms"), 0u);
  EXPECT_EQ(pair.first.status().error.code, gc3SystemError);
}

/// An application of the interposer gets NCCL's result codes only.
TEST_F(CommLives, TheInterposerLogsErrors) {
  cuda::Options options = smallOptions();
  options.timeoutMs = 200;
  options.fallsBack = true;
  ReadyPair pair(fake, nccl, options);
  pair.launchFirst();
  testing::internal::CaptureStderr();
  pair.first.fail({gc3SystemError, "the error"});
  const std::string complete = awaitStopReport(pair.first);
  pair.abortAll();
  const std::string head = "gc3: rank 0 of 2: ", first = head + "the error\n", last = head + complete + "\n";
  const std::string stopping = head + "the error; a kernel has not ended in 200 ms and is being stopped\n";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), first + stopping + last);
}

TEST_F(CommLives, DrainingWaitsForCallers) {
  ReadyPair pair(fake, nccl);
  EXPECT_EQ(pair.first.enter().text, "");
  EXPECT_TRUE(pair.first.finalize(false));
  EXPECT_FALSE(soon([&] { return pair.first.isClosed(); }));
  pair.first.leave();
  awaitThat([&] { return pair.first.isClosed(); });
}

TEST_F(CommLives, ReleaseWaitsForCallers) {
  ReadyPair pair(fake, nccl);
  EXPECT_EQ(pair.first.enter().text, "");
  abort(pair.world.ranks[0]);
  EXPECT_FALSE(soon([&] { return pair.first.isClosed(); }));
  pair.first.leave();
  awaitThat([&] { return pair.first.isClosed(); });
}

TEST_F(CommLives, CallersTakeTurns) {
  ReadyPair pair(fake, nccl);
  std::atomic<bool> isInside{false};
  EXPECT_EQ(pair.first.enter().text, "");
  std::thread next([&] {
    EXPECT_EQ(pair.first.enter().text, "");
    isInside = true;
    pair.first.leave();
  });
  EXPECT_FALSE(soon([&] { return isInside.load(); }));
  pair.first.leave();
  next.join();
}

TEST_F(CommLives, AnErrorOfTheChildIsAFailure) {
  ReadyPair pair(fake, nccl);
  nccl.asyncError(nccl.children()[0], FakeNccl::failure);
  awaitThat([&] { return !pair.first.status().error.ok(); });
  EXPECT_EQ(pair.first.status().phase, Phase::Failed);
}

/// gc3 aborts a child with an error, and does not destroy it: ncclCommDestroy would leave an NCCL group open in the
/// thread.
TEST_F(CommLives, AChildWithAnErrorIsAborted) {
  ReadyPair pair(fake, nccl);
  nccl.asyncError(nccl.children()[0], FakeNccl::failure);
  pair.first.finalize(true);
  pair.first.release();
  awaitClosed(pair.first);
  EXPECT_EQ(nccl.abortedSplits, 1u);
}

/// NCCL can write the child's handle until the parent is aborted. So gc3 must keep the memory of the handle until then,
/// after a timeout and after its own abort.
TEST_F(CommLives, ASplitOutlivesATimeoutAndAnAbort) {
  make({0, 20}, false);
  ranks[0]->beginJoin();
  EXPECT_EQ(ranks[0]->awaitJoin().code, gc3Timeout);
  EXPECT_FALSE(ranks[0]->finalize(true));
  EXPECT_EQ(ranks[0]->status().phase, Phase::Failed);
  EXPECT_FALSE(ranks[0]->abort());
  EXPECT_FALSE(soon([this] {
    ranks[0]->releaseUnlessPending();
    return ranks[0]->status().phase != Phase::Aborted;
  }));
  ranks[1]->beginJoin();
  for (ncclapi::Result state = ncclapi::Result::InProgress; state == ncclapi::Result::InProgress;)
    EXPECT_EQ(setups[0]->drivers.nccl.CommGetAsyncError(handles[0], &state), ncclapi::Result::Success);
  EXPECT_EQ(nccl.children().size(), 2u);
  // In this phase, NCCL has written the handle for rank 1, too.
  awaitThat([this] { return ranks[1]->status().phase == Phase::Joining; });
  abortAll();
}

TEST_F(CommLives, AChildThatIsMadeAfterAnAbortIsFreed) {
  make(endless, true);
  std::atomic<bool> isAborted{false};
  fake.beforeCalls([this, &isAborted](int device, const std::string &name, uint64_t) {
    if (device == 0 && name == "NCCL CommSplit" && !isAborted.exchange(true)) {
      EXPECT_TRUE(ranks[0]->abort());
    }
  });
  for (const auto &rank : ranks)
    rank->beginJoin();
  awaitThat([&] { return isAborted.load(); });
  ranks[0]->awaitSplit();
  EXPECT_EQ(nccl.children().size(), 2u);
  abortAll();
}

/// After gc3's abort returns false, the application may free its communicator at once. So gc3 must not begin a split
/// then.
TEST_F(CommLives, NoSplitBeginsAfterAnAbort) {
  make(endless, true);
  std::atomic<bool> isAborted{false};
  fake.beforeCalls([this, &isAborted](int, const std::string &name, uint64_t) {
    // gc3 calls setDevice between its last query of the parent and the split.
    if (name == "CUDA setDevice" && !isAborted.exchange(true)) {
      EXPECT_FALSE(ranks[0]->abort());
      nccl.free(handles[0]);
    }
  });
  ranks[0]->beginJoin();
  awaitThat([&] { return isAborted.load(); });
  abortAll();
  EXPECT_EQ(nccl.splits, 0u);
}

TEST_F(CommLives, TheSplitHasEndedBeforeTheParentIsFreed) {
  make(endless, true);
  ranks[0]->beginJoin();
  Monitor::awaitWaiting("NCCL CommSplit");
  EXPECT_TRUE(ranks[0]->abort());
  revoke(0);
  ranks[0]->awaitSplit();
  EXPECT_FALSE(ranks[0]->abort()) << "no thread is in the split";
  abortAll();
}

/// An abort ends a load after it has registered its window. gc3 releases the window, although its program is not
/// loaded.
TEST_F(CommLives, AnAbortReleasesTheWindowOfALoad) {
  CommWorld world(fake, nccl, {ringAllReduce(2, true)});
  const Trial wanted = world.trial(0, {.count = 5});
  Loopback::Buffers buffers(fake, wanted);
  std::atomic<int> gathers{0};
  std::atomic<bool> isOpen{false};
  fake.beforeCalls([&](int device, const std::string &name, uint64_t) {
    // The second gather of a load follows the registration.
    if (device == 1 && name == "NCCL AllGather" && ++gathers == 2)
      awaitThat([&] { return isOpen.load(); });
  });
  std::deque<std::vector<CallGroup::Call>> calls;
  std::vector<std::thread> threads;
  for (size_t rank : {0, 1}) {
    calls.push_back({world.part(rank, buffers.requests[rank])});
    threads.emplace_back([&group = calls.back()] { CallGroup::run(group); });
  }
  awaitThat([&] { return gathers == 2; });
  abort(world.ranks[0]);
  awaitClosed(*world.ranks[0]);
  isOpen = true;
  abort(world.ranks[1]);
  for (std::thread &thread : threads)
    thread.join();
  awaitClosed(*world.ranks[1]); // then its executor thread has left the hook
  EXPECT_EQ(calls[0][0].outcome.code, gc3InvalidUsage);
}

TEST_F(CommLives, ALongWaitIsLogged) {
  make({1, 50}, true);
  testing::internal::CaptureStderr();
  ranks[0]->beginJoin();
  EXPECT_EQ(ranks[0]->awaitJoin().code, gc3Timeout);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("after 1 ms a rank still waits"), std::string::npos);
  ranks[0]->abort();
  revoke(0);
  ranks[0]->awaitSplit();
  abortAll();
}

TEST_F(CommLives, NcclsPartOfAGroupHasADeadline) {
  make({0, 20}, true);
  EXPECT_EQ(ranks[0]->awaitParent().text, "");
  nccl.asyncError(handles[0], ncclapi::Result::InProgress);
  EXPECT_EQ(ranks[0]->awaitParent().code, gc3Timeout);
  EXPECT_EQ(ranks[0]->status().phase, Phase::Failed);
  abortAll();
}

TEST_F(CommLives, AnAbortEndsTheWaitForNcclsPart) {
  make(endless, true);
  nccl.asyncError(handles[0], ncclapi::Result::InProgress);
  std::atomic<bool> isDone{false};
  std::thread waiter([&] {
    EXPECT_EQ(ranks[0]->awaitParent().code, gc3InvalidUsage);
    isDone = true;
  });
  EXPECT_FALSE(soon([&] { return isDone.load(); }));
  ranks[0]->abort();
  waiter.join();
  abortAll();
}

/// While the executor thread queries the parent, this thread queries it, too. The fake ends the process if both do at
/// once.
TEST_F(CommLives, OneThreadAtATimeQueriesTheParent) {
  make(endless, false);
  ranks[0]->beginJoin();
  for (int i = 0; i < 2000; ++i) {
    ncclapi::Result state = ncclapi::Result::Success;
    EXPECT_EQ(ranks[0]->queryState(state), ncclapi::Result::Success);
  }
  abortAll();
}

TEST_F(CommLives, ARankThatCannotQueryItsStreamFollowsTheOthers) {
  CommWorld world(fake, nccl, {ringAllReduce(2, true)});
  const Trial wanted = world.trial(0, {.count = 5});
  Loopback::Buffers buffers(fake, wanted);
  std::vector<CallGroup::Call> calls{world.part(0, buffers.requests[0]), world.part(1, buffers.requests[1])};
  fake.captured = true;
  // The second CUDA call of rank 0 from here on queries whether its stream is captured. This call fails.
  fake.failing = {0, fake.callsOf(0).size() + 2};
  CallGroup::run(calls);
  fake.captured = false;
  EXPECT_EQ(fake.failed, "CUDA capture");
  EXPECT_TRUE(isRunByNccl(calls[0]) && isRunByNccl(calls[1]));
  EXPECT_EQ(nccl.registrations, 0u);
}

TEST_F(CommLives, CallsThatNcclDropsFailTheCommunicator) {
  CommWorld world(fake, nccl, {ringAllReduce(2, true)});
  const Trial wanted = world.trial(0, {.count = 5});
  Loopback::Buffers buffers(fake, wanted);
  struct : CallGroup::Fallback {
    core::Outcome outcome;
    CallChoice choose(const CallGroup::Call &) override { return {}; }
    core::Outcome run(std::span<CallGroup::Call *const> declined) override {
      EXPECT_EQ(declined.size(), 2u);
      return outcome;
    }
  } ofNccl;
  const auto callBoth = [&] {
    std::vector<CallGroup::Call> calls{world.part(0, buffers.requests[0]), world.part(1, buffers.requests[1])};
    CallGroup::run(calls, &ofNccl);
    EXPECT_EQ(calls[0].outcome.text, ofNccl.outcome.text);
  };
  fake.captured = true;
  callBoth();
  EXPECT_EQ(world.ranks[1]->status().error.text, "");
  ofNccl.outcome = {gc3Timeout, "late"};
  callBoth();
  fake.captured = false;
  EXPECT_EQ(world.ranks[1]->status().error.text, "a call that NCCL runs reached the timeout");
}

/// If a call fails on one rank, other ranks may already run it. All later calls of the rank must fail, so that none is
/// matched with it.
TEST_F(CommLives, ACallThatFailsFailsTheCommunicator) {
  uint64_t failures = 0;
  for (uint64_t index = 1; index <= 16; ++index) {
    ReadyPair pair(fake, nccl);
    fake.failing = {0, fake.callsOf(0).size() + index};
    const core::Outcome outcome = pair.call(0);
    fake.failing.reset();
    EXPECT_EQ(pair.first.status().error.text, outcome.text) << fake.failed;
    failures += !outcome.ok();
    pair.abortAll();
  }
  EXPECT_GE(failures, 3u);
}

/// If one rank can't load a program, all ranks refuse the program, so NCCL can run the call.
TEST_F(CommLives, AProgramThatOneRankCannotLoadIsRefusedByAll) {
  nccl.version = ncclapi::devicePointerVersion;
  for (const char *function : {"MemAlloc", "GetLsaDevicePointer"}) {
    CommWorld world(fake, nccl, {ringAllReduce(2, true)});
    const Trial wanted = world.trial(0, {.count = 5});
    Loopback::Buffers buffers(fake, wanted);
    std::vector<CallGroup::Call> calls{world.part(0, buffers.requests[0]), world.part(1, buffers.requests[1])};
    nccl.fail(function, FakeNccl::failure);
    const uint64_t before = nccl.registrations;
    CallGroup::run(calls);
    EXPECT_TRUE(isRunByNccl(calls[0]) && isRunByNccl(calls[1])) << function;
    EXPECT_EQ(nccl.registrations - before, std::string(function) == "MemAlloc" ? 0u : 2u);
    EXPECT_EQ(world.run(0, {}), calls[0].outcome.text) << "no rank loads it again";
  }
}

/// Two threads make calls on two communicators, in opposite orders, and the calls load programs. No thread waits
/// forever.
TEST_F(CommLives, NoCommunicatorWaitsForAnother) {
  const std::vector<ProgramSpec> programs{ringAllReduce(2, true), allToAll(2, 1)};
  std::array<CommWorld, 2> worlds{{{fake, nccl, programs}, {fake, nccl, programs}}};
  std::deque<Trial> trials;
  std::deque<Loopback::Buffers> buffers; // by communicator, then program
  std::array<std::vector<CallGroup::Call>, 2> calls;
  for (CommWorld &world : worlds)
    for (size_t program : {0, 1}) {
      const Loopback::Buffers &own =
          buffers.emplace_back(fake, trials.emplace_back(world.trial(program, {.count = 5})));
      for (size_t rank : {0, 1})
        calls[rank].push_back(world.part(rank, own.requests[rank]));
    }
  std::rotate(calls[1].begin(), calls[1].begin() + 2, calls[1].end());
  std::thread second([&] { CallGroup::run(calls[1]); });
  CallGroup::run(calls[0]);
  second.join();
  for (size_t i = 0; i < trials.size(); ++i)
    EXPECT_EQ(worlds[i / 2].finish(trials[i], buffers[i]), "") << i;
}

/// The executor thread checks kernels after a failure, too. A later error of CUDA extends the text, but does not change
/// the code.
TEST_F(CommLives, ALaterErrorOfCudaKeepsTheCodeOfTheFirst) {
  ReadyPair pair(fake, nccl);
  pair.first.fail({gc3SystemError, "first"});
  {
    const Monitor::Lock lock;
    fake.failFunction = {"CUDA query", 0};
  }
  const uint64_t before = fake.pollsOf(0, "CUDA query");
  awaitThat([&] { return fake.pollsOf(0, "CUDA query") > before + 2; });
  {
    const Monitor::Lock lock;
    fake.failFunction.reset();
  }
  const core::Outcome error = pair.first.status().error;
  EXPECT_EQ(error.code, gc3SystemError);
  EXPECT_EQ(error.text.find("first; "), 0u) << error.text;
  pair.abortAll();
}

/// A call fails if its communicator is finalized during the load. NCCL must not run the call, because other ranks run a
/// program.
TEST_F(CommLives, ACallThatLoadsAtFinalizeFails) {
  CommWorld world(fake, nccl, {ringAllReduce(2, true)});
  const Trial wanted = world.trial(0, {.count = 5});
  Loopback::Buffers buffers(fake, wanted);
  std::vector<CallGroup::Call> calls{world.part(0, buffers.requests[0])};
  std::thread caller([&] { CallGroup::run(calls); });
  awaitThat([&] {
    const auto made = fake.callsOf(0);
    return std::count(made.begin(), made.end(), "NCCL AllGather") >= 3;
  });
  world.ranks[0]->finalize(false);
  caller.join();
  EXPECT_EQ(calls[0].state, CallGroup::Call::State::Failed);
  EXPECT_EQ(calls[0].outcome.text, "the communicator was finalized while it loaded the program");
  for (const auto &rank : world.ranks)
    abort(rank);
}

/// Two ranks with the same number belong to different NCCL communicators. gc3 knows the numbers before ranks exchange
/// RankInfos.
TEST_F(CommLives, OneRankOfTwoCommunicatorsIsKnown) {
  const comm::ProgramTable::Files files{open({ringAllReduce(2, true)})};
  const std::vector<ncclapi::Comm> handles{nccl.make(2)[0], nccl.make(2)[0]};
  std::vector<std::shared_ptr<Communicator>> own;
  for (ncclapi::Comm handle : handles)
    own.push_back(comm::Registry::ofProcess().findOrAdd(
        handle, [&] { return std::make_shared<Communicator>(setupOf(nccl, files), handle, endless); }));
  EXPECT_TRUE(own[0]->mayShareCommunicator(*own[1])) << "nothing is known";
  for (const auto &each : own)
    each->beginJoin();
  awaitThat([&] { return own[0]->ranks() != 0 && own[1]->ranks() != 0; });
  EXPECT_FALSE(own[0]->mayShareCommunicator(*own[1]));
  for (size_t i : {0, 1})
    abort(own[i], handles[i]);
}

/// A call on a failed communicator fails at once. gc3 neither chooses a program for it nor lets NCCL run it.
TEST_F(CommLives, ACallOnAFailedCommunicatorIsNotDecided) {
  CommWorld world(fake, nccl, {ringAllReduce(2, true)});
  const Trial wanted = world.trial(0, {.count = 5});
  Loopback::Buffers buffers(fake, wanted);
  struct : CallGroup::Fallback {
    CallChoice choose(const CallGroup::Call &) override {
      ADD_FAILURE() << "decided";
      return {};
    }
    core::Outcome run(std::span<CallGroup::Call *const>) override {
      ADD_FAILURE() << "run";
      return {};
    }
  } ofNccl;
  world.ranks[0]->fail({gc3SystemError, "before"});
  CallGroup::Call call{world.ranks[0], buffers.requests[0]};
  CallGroup::run({&call, 1}, &ofNccl);
  EXPECT_EQ(call.state, CallGroup::Call::State::Failed);
  EXPECT_EQ(call.outcome.text, "before");
}

TEST_F(CommLives, TheRegistryKeepsACommunicatorUntilItIsClosed) {
  comm::Registry registry;
  const ncclapi::Comm handle = nccl.make(2)[0];
  int made = 0;
  const auto makeOne = [&] {
    ++made;
    return std::make_shared<Communicator>(setupOf(nccl, {}), handle, endless);
  };
  EXPECT_EQ(registry.find(handle), nullptr);
  const std::weak_ptr<Communicator> kept = registry.findOrAdd(handle, makeOne);
  EXPECT_EQ(registry.findOrAdd(handle, makeOne), kept.lock());
  EXPECT_EQ(made, 1);
  registry.remove(handle);
  EXPECT_EQ(registry.find(handle), nullptr);
  ASSERT_FALSE(kept.expired());
  kept.lock()->finalize(false);
  registry.sweep();
  EXPECT_TRUE(kept.expired());
}

} // namespace
