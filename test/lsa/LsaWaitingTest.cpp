// SPDX-License-Identifier: Apache-2.0
// Ranks on several GPUs that wait for others in vain, or until somebody aborts: in calls, in joining, and in loading.
#include "LsaSupport.h"
#include "Programs.h"
#include "lsa/Deadline.h"

#include <atomic>
#include <thread>

using namespace gc3;
using namespace gc3::test;

namespace {

/// A rank that never comes: the others' kernels are stopped.
TEST(LsaWaiting, AMissingRankIsATimeout) {
  FakeCuda fake;
  FakeWindows windows(fake);
  cuda::Options options = smallOptions();
  options.timeoutMs = 1000;
  {
    LsaWorld world(fake, windows, {ringAllReduce(3, true)}, options);
    ASSERT_EQ(world.run(0, {}), "");
    const Trial trial = world.trial(0, {});
    Loopback::Buffers buffers(fake, trial);
    std::vector<lsa::RankCall> calls{world.part(0, buffers.requests[0]), world.part(2, buffers.requests[2])};
    lsa::run(calls, world.nccl);
    EXPECT_EQ(calls[0].outcome.text + calls[1].outcome.text, "");
    const cuda::Watchdog::Clock::time_point start{};
    lsa::Rank &rank = *world.joined[2].rank;
    EXPECT_TRUE(rank.watch(start).ok());
    EXPECT_TRUE(rank.watch(start + std::chrono::milliseconds(999)).ok());
    EXPECT_EQ(rank.watch(start + std::chrono::milliseconds(1000)).code, gc3Timeout);
    EXPECT_EQ(rank.watch(start + std::chrono::milliseconds(1001)).text,
              "a kernel has not ended in 1000 ms and was stopped; program 'ring3_aliased_1':\n"
              "  rank 2 thread block 0 step 1 (rrs, tile 0) waits for a message from rank 1 on channel 0");
    EXPECT_EQ(windows.revoked, std::vector{world.comms[2]}) << "what NCCL runs on it ends, too";
    std::vector<lsa::RankCall> later{world.part(2, buffers.requests[2])};
    lsa::run(later, world.nccl);
    EXPECT_EQ(later[0].outcome.code, gc3Timeout);
    world.joined[0].rank->watch(start);
    world.joined[0].rank->watch(start + std::chrono::milliseconds(1000));
  }
  EXPECT_EQ(windows.leaks(), "");
}

/// The communicator may be gone by then.
TEST(LsaWaiting, NothingIsRevokedBehindTheEnd) {
  static std::vector<std::function<void()>> later;
  for (bool aborts : {false, true}) {
    FakeCuda fake;
    FakeWindows windows(fake);
    cuda::Options options = smallOptions();
    options.timeoutMs = 1000;
    LsaWorld world(fake, windows, {ringAllReduce(2, true)}, options,
                   [](const std::function<void()> &work) { later.push_back(work); });
    ASSERT_EQ(world.run(0, {}), "");
    const Trial trial = world.trial(0, {});
    Loopback::Buffers buffers(fake, trial);
    std::vector<lsa::RankCall> calls{world.part(0, buffers.requests[0])};
    lsa::run(calls, world.nccl);
    const cuda::Watchdog::Clock::time_point start{};
    world.joined[0].rank->watch(start);
    world.joined[0].rank->watch(start + std::chrono::milliseconds(1000));
    ASSERT_EQ(later.size(), 1u);
    if (aborts)
      world.joined[0].rank->abort();
    else
      world.joined[0].rank.reset();
    windows.free(world.comms[0]);
    std::exchange(later, {})[0]();
    EXPECT_TRUE(windows.revoked.empty());
  }
}

/// CUDA may answer nobody before the kernel ends: another thread may be in a launch for which there is no room.
TEST(LsaWaiting, AStuckKernelIsStoppedBeforeCudaIsAsked) {
  FakeCuda fake;
  FakeWindows windows(fake);
  cuda::Options options = smallOptions();
  options.timeoutMs = 1000;
  LsaWorld world(fake, windows, {ringAllReduce(2, true)}, options);
  ASSERT_EQ(world.run(0, {}), "");
  const Trial trial = world.trial(0, {});
  Loopback::Buffers buffers(fake, trial);
  std::vector<lsa::RankCall> calls{world.part(0, buffers.requests[0])};
  lsa::run(calls, world.nccl);
  lsa::Rank &rank = *world.joined[0].rank;
  const cuda::Watchdog::Clock::time_point start{};
  EXPECT_TRUE(rank.watch(start).ok());
  EXPECT_FALSE(fake.isIdle(world.streams[0]));
  int asked = 0;
  fake.whileAsked = [&] {
    ++asked;
    EXPECT_TRUE(fake.isIdle(world.streams[0])) << "the kernel has been stopped";
    EXPECT_EQ(windows.revoked, std::vector{world.comms[0]});
  };
  EXPECT_EQ(rank.watch(start + std::chrono::milliseconds(1000)).code, gc3Timeout);
  EXPECT_EQ(asked, 1);
  fake.whileAsked = nullptr;
}

/// Each could hold what the other needs of its GPU, and wait for the same ranks.
TEST(LsaWaiting, GathersBeginBehindCalls) {
  FakeCuda fake;
  FakeWindows windows(fake);
  cuda::Options options = smallOptions();
  options.timeoutMs = 1;
  LsaWorld world(fake, windows, {ringAllReduce(2, true), allToAll(2, 1)}, options);
  ASSERT_EQ(world.run(0, {}), "");
  const Trial first = world.trial(0, {}), second = world.trial(1, {});
  Loopback::Buffers ofFirst(fake, first), ofSecond(fake, second);
  const uint64_t before = windows.gathersBegun;
  std::vector<lsa::RankCall> call{world.part(0, ofFirst.requests[0])}, next{world.part(0, ofSecond.requests[0])};
  lsa::run(call, world.nccl);
  EXPECT_EQ(call[0].outcome.text, "");
  lsa::run(next, world.nccl);
  EXPECT_EQ(next[0].outcome.code, gc3Timeout) << "it has to be loaded";
  EXPECT_EQ(windows.gathersBegun, before);
}

/// Replays are launched by nobody who could tell, and watched all the same.
TEST(LsaWaiting, AMissingRankInAReplay) {
  FakeCuda fake;
  FakeWindows windows(fake);
  cuda::Options options = smallOptions();
  options.timeoutMs = 1000;
  {
    LsaWorld world(fake, windows, {ringAllReduce(2, true)}, options);
    ASSERT_EQ(world.run(0, {}), "");
    const Trial trial = world.trial(0, {});
    Loopback::Buffers buffers(fake, trial);
    std::vector<lsa::RankCall> calls{world.part(0, buffers.requests[0]), world.part(1, buffers.requests[1])};
    lsa::Rank &rank = *calls[0].rank;
    fake.captured = true;
    lsa::run({calls.data(), 1}, world.nccl);
    fake.captured = false;
    const cuda::Watchdog::Clock::time_point start{};
    for (int replay = 0; replay < 3; ++replay) { // each ends in time, all of them together do not
      fake.replay();
      EXPECT_FALSE(fake.isIdle(world.streams[0]));
      EXPECT_TRUE(rank.watch(start + std::chrono::milliseconds(999 * replay)).ok());
      EXPECT_TRUE(rank.watch(start + std::chrono::milliseconds(999 * replay + 998)).ok());
      lsa::run({&calls[1], 1}, world.nccl);
      EXPECT_TRUE(fake.isIdle(world.streams[0]));
    }
    fake.replay();
    EXPECT_TRUE(rank.watch(start + std::chrono::milliseconds(5000)).ok());
    EXPECT_EQ(rank.watch(start + std::chrono::milliseconds(6000)).code, gc3Timeout);
    EXPECT_EQ(rank.watch(start + std::chrono::milliseconds(6001)).text,
              "a kernel has not ended in 1000 ms and was stopped; program 'ring2_aliased_1':\n"
              "  rank 0 thread block 0 step 1 (rrcs, tile 0) waits for a message from rank 1 on channel 0");
    EXPECT_TRUE(fake.isIdle(world.streams[0]));
  }
  EXPECT_EQ(windows.leaks(), "");
}

/// Also where nothing is watched.
TEST(LsaWaiting, AFailedKernelIsTold) {
  FakeCuda fake;
  FakeWindows windows(fake);
  LsaWorld world(fake, windows, {ringAllReduce(2, true)});
  ASSERT_EQ(world.run(0, {}), "");
  fake.failAt = fake.calls + 1;
  EXPECT_EQ(world.joined[0].rank->watch({}).text, "a call that was under way: fake failure (CUDA error 2)");
  EXPECT_EQ(world.joined[0].rank->broken().code, gc3UnhandledCudaError);
  EXPECT_TRUE(world.joined[1].rank->watch({}).ok());
}

/// Threads that look after kernels do so until the process is gone, and CUDA goes before.
TEST(LsaWaiting, TheEndOfTheProcessIsNoFailure) {
  FakeCuda fake;
  FakeWindows windows(fake);
  LsaWorld world(fake, windows, {ringAllReduce(2, true)});
  ASSERT_EQ(world.run(0, {}), "");
  fake.unloading = true;
  EXPECT_EQ(world.joined[0].rank->watch({}).text, "");
  EXPECT_EQ(world.joined[0].rank->broken().text, "");
}

/// Who gives up a rank whose kernel is stuck gets it back, as nobody else would end it.
TEST(LsaWaiting, ARankThatIsStuckEndsAfterTheTimeout) {
  FakeCuda fake;
  FakeWindows windows(fake);
  cuda::Options options = smallOptions();
  options.timeoutMs = 20;
  {
    LsaWorld world(fake, windows, {ringAllReduce(2, true)}, options);
    ASSERT_EQ(world.run(0, {}), "");
    const Trial trial = world.trial(0, {});
    Loopback::Buffers buffers(fake, trial);
    std::vector<lsa::RankCall> calls{world.part(0, buffers.requests[0])};
    lsa::run(calls, world.nccl);
    EXPECT_FALSE(fake.isIdle(world.streams[0]));
    world.joined.clear();
    EXPECT_TRUE(fake.isIdle(world.streams[0]));
  }
  EXPECT_EQ(windows.leaks(), "");
}

/// Where the others never join, as without gc3, it is told, and what NCCL still waits with is left to it.
TEST(LsaWaiting, RanksThatNeverJoin) {
  FakeCuda fake;
  FakeWindows windows(fake);
  cuda::Options options = smallOptions();
  options.timeoutMs = 5; // of kernels, which are shorter
  options.joiningMs = 20;
  const std::vector<ncclapi::Comm> comms = windows.make(2);
  const ncclapi::Nccl nccl = windows.table();
  const std::vector<lsa::Applicant> applicants{applicant(comms[0], {open({ringAllReduce(2, true)})}, options)};
  std::vector<lsa::Joined> joined = lsa::join({FakeCuda::table(), nccl}, applicants);
  ASSERT_NE(joined[0].rank, nullptr);
  EXPECT_EQ(joined[0].outcome.code, gc3Timeout);
  EXPECT_EQ(joined[0].outcome.text,
            "after 20 ms not all ranks have joined; is gc3, with the same bundles, on all of them?");
  EXPECT_EQ(joined[0].rank->broken().code, gc3Timeout);
  EXPECT_EQ(windows.revoked, std::vector{comms[0]});
  joined.clear();
  EXPECT_EQ(windows.leaks(), "1 pieces of memory 1 pieces of pinned memory 1 streams ");
}

/// As NCCL waits, too, where it connects ranks at the end of the group.
TEST(LsaWaiting, RanksThatNeverJoinWhileNcclWaits) {
  FakeCuda fake;
  FakeWindows windows(fake);
  cuda::Options options = smallOptions();
  options.joiningMs = 20;
  const std::vector<ncclapi::Comm> comms = windows.make(2);
  ncclapi::Nccl nccl = windows.table();
  static std::atomic<ncclapi::Comm> revoked;
  revoked = nullptr;
  static ncclapi::signature::GroupEnd *end;
  end = nccl.GroupEnd;
  nccl.CommRevoke = [](ncclapi::Comm comm, int) {
    revoked = comm;
    return ncclapi::Result::Success;
  };
  nccl.GroupEnd = [] {
    end();
    while (!revoked)
      std::this_thread::yield();
    return ncclapi::Result::RemoteError;
  };
  const std::vector<lsa::Applicant> applicants{applicant(comms[0], {open({ringAllReduce(2, true)})}, options)};
  std::vector<lsa::Joined> joined = lsa::join({FakeCuda::table(), nccl}, applicants);
  EXPECT_EQ(joined[0].outcome.code, gc3Timeout);
  EXPECT_EQ(joined[0].outcome.text,
            "after 20 ms not all ranks have joined; is gc3, with the same bundles, on all of them?");
  EXPECT_EQ(revoked, comms[0]);
  joined.clear();
  EXPECT_EQ(windows.leaks(), "1 pieces of memory 1 pieces of pinned memory 1 streams ");
}

/// A rank that comes when others have given up does not go on to where NCCL lets nobody stop waiting.
TEST(LsaWaiting, ARankThatJoinsTooLate) {
  FakeCuda fake;
  FakeWindows windows(fake);
  windows.teamSize = 1; // over a network
  cuda::Options options = smallOptions();
  options.joiningMs = 20;
  const std::vector<ncclapi::Comm> comms = windows.make(2);
  const ncclapi::Nccl nccl = windows.table();
  const lsa::Catalog::Files files{open({ringAllReduce(2, true)})};
  for (ncclapi::Comm comm : comms) {
    const std::vector<lsa::Applicant> alone{applicant(comm, files, options)};
    const std::vector<lsa::Joined> joined = lsa::join({FakeCuda::table(), nccl, &FakeWindows::part}, alone);
    EXPECT_EQ(joined[0].outcome.code, gc3Timeout);
    EXPECT_NE(joined[0].rank, nullptr) << "the other one may come to something else";
  }
  EXPECT_EQ(windows.partCalls, 0u);
}

/// Where another one never loads a program: as above.
TEST(LsaWaiting, RanksThatNeverLoad) {
  FakeCuda fake;
  FakeWindows windows(fake);
  cuda::Options options = smallOptions();
  options.timeoutMs = 20;
  {
    LsaWorld world(fake, windows, {ringAllReduce(2, true)}, options);
    ASSERT_EQ(world.made(), "");
    const Trial trial = world.trial(0, {});
    Loopback::Buffers buffers(fake, trial);
    std::vector<lsa::RankCall> calls{world.part(0, buffers.requests[0])};
    fake.whileAsked = [asked = 0]() mutable {
      if (++asked == 20000) // each time it sleeps for 20 us
        throw std::runtime_error("it waits for longer than the timeout");
    };
    lsa::run(calls, world.nccl);
    fake.whileAsked = nullptr;
    EXPECT_FALSE(calls[0].declined);
    EXPECT_EQ(calls[0].outcome.code, gc3Timeout);
    EXPECT_EQ(calls[0].outcome.text, "after 20 ms not all ranks have loaded the program");
    lsa::run(calls, world.nccl);
    EXPECT_EQ(calls[0].outcome.text, "after 20 ms not all ranks have loaded the program");
    EXPECT_TRUE(world.joined[1].rank->broken().ok()) << "that one's own business";
    EXPECT_EQ(windows.revoked, std::vector{world.comms[0]});
  }
  EXPECT_EQ(windows.leaks(), "2 pieces of memory 2 pieces of pinned memory 1 streams 1 pieces of symmetric memory ")
      << "of the rank that waited: giving it back would wait for NCCL's kernel";
}

/// What one rank of a thread waits for in vain, its others may have kernels of NCCL's for, too.
TEST(LsaWaiting, RanksOfAThreadThatWaitInVain) {
  FakeCuda fake;
  FakeWindows windows(fake);
  cuda::Options options = smallOptions();
  options.timeoutMs = 20;
  {
    LsaWorld world(fake, windows, {ringAllReduce(3, true)}, options);
    ASSERT_EQ(world.made(), "");
    const Trial trial = world.trial(0, {});
    Loopback::Buffers buffers(fake, trial);
    std::vector<lsa::RankCall> calls{world.part(0, buffers.requests[0]), world.part(2, buffers.requests[2])};
    lsa::run(calls, world.nccl);
    for (const lsa::RankCall &call : calls)
      EXPECT_EQ(call.outcome.text, "after 20 ms not all ranks have loaded the program");
  }
  EXPECT_EQ(windows.leaks(), "4 pieces of memory 4 pieces of pinned memory 2 streams 2 pieces of symmetric memory ");
}

/// A rank that comes when the others have given up does not go on to where NCCL lets nobody stop waiting.
TEST(LsaWaiting, ARankThatLoadsTooLate) {
  FakeCuda fake;
  FakeWindows windows(fake);
  cuda::Options options = smallOptions();
  options.timeoutMs = 20;
  LsaWorld world(fake, windows, {ringAllReduce(3, true)}, options);
  ASSERT_EQ(world.made(), "");
  const Trial trial = world.trial(0, {});
  Loopback::Buffers buffers(fake, trial);
  for (const std::vector<size_t> &ranks : {std::vector<size_t>{0, 2}, std::vector<size_t>{1}}) {
    std::vector<lsa::RankCall> calls;
    for (size_t rank : ranks)
      calls.push_back(world.part(rank, buffers.requests[rank]));
    lsa::run(calls, world.nccl);
    for (const lsa::RankCall &call : calls) {
      EXPECT_EQ(call.outcome.text, "after 20 ms not all ranks have loaded the program");
      EXPECT_FALSE(call.declined) << "others may come to something else";
    }
  }
  EXPECT_EQ(windows.registrations, 0u);
}

/// A thread's ranks of a communicator whose ranks have all come are not to suffer from another one's.
TEST(LsaWaiting, OtherCommunicatorsJoin) {
  FakeCuda fake;
  FakeWindows windows(fake);
  cuda::Options options = smallOptions();
  options.joiningMs = 20;
  const std::vector<ncclapi::Comm> whole = windows.make(2), lacking = windows.make(3);
  const ncclapi::Nccl nccl = windows.table();
  const lsa::Catalog::Files two{open({ringAllReduce(2, true)})}, three{open({ringAllReduce(3, true)})};
  const std::vector<lsa::Joined> joined = lsa::join(
      {FakeCuda::table(), nccl}, {{applicant(lacking[0], three, options), applicant(whole[0], two, options),
                                   applicant(lacking[2], three, options), applicant(whole[1], two, options)}});
  for (size_t rank : {1, 3})
    EXPECT_EQ(joined[rank].outcome.text, "");
  for (size_t rank : {0, 2}) {
    EXPECT_EQ(joined[rank].outcome.code, gc3Timeout);
    EXPECT_EQ(joined[rank].rank->broken().code, gc3Timeout);
  }
  EXPECT_EQ(windows.revoked, (std::vector{lacking[0], lacking[2]}));
}

/// Or else the rank would go on with a communicator that is not the others' any more.
TEST(LsaWaiting, WhatCameInTimeIsNotRevoked) {
  FakeCuda fake;
  FakeWindows windows(fake);
  cuda::Options options = smallOptions();
  options.timeoutMs = 20;
  LsaWorld world(fake, windows, {ringAllReduce(2, true)}, options);
  const std::vector<lsa::Rank *> ranks{world.joined[0].rank.get(), world.joined[1].rank.get()};
  bool inTime = false;
  {
    lsa::Deadline deadline(ranks);
    inTime = deadline.outcome().ok();
    for (const auto over = lsa::Rank::Clock::now() + std::chrono::milliseconds(50); lsa::Rank::Clock::now() < over;)
      std::this_thread::yield();
    EXPECT_EQ(deadline.outcome().ok(), inTime);
  }
  EXPECT_EQ(windows.revoked.empty(), inTime);
}

/// A call waits for a rank that never comes, and then another one's program does.
class LsaStuckBehind : public testing::Test {
protected:
  void make(uint32_t timeoutMs) {
    cuda::Options options = smallOptions();
    options.timeoutMs = timeoutMs;
    world.emplace(fake, windows, std::vector{ringAllReduce(2, true), pairs(2)}, options);
    ASSERT_EQ(world->run(0, {}), "");
    trials.push_back(world->trial(0, {}));
    trials.push_back(world->trial(1, {}));
    for (const Trial &trial : trials)
      buffers.push_back(std::make_unique<Loopback::Buffers>(fake, trial));
    call(0);
    EXPECT_FALSE(fake.isIdle(world->streams[0]));
  }
  core::Outcome call(size_t program) {
    std::vector<lsa::RankCall> calls{world->part(0, buffers[program]->requests[0])};
    lsa::run(calls, world->nccl);
    return calls[0].outcome;
  }

  FakeCuda fake;
  FakeWindows windows{fake};
  std::vector<Trial> trials;
  std::vector<std::unique_ptr<Loopback::Buffers>> buffers;
  std::optional<LsaWorld> world;
};

TEST_F(LsaStuckBehind, WhoGivesUpStopsItsKernels) {
  make(20);
  EXPECT_EQ(call(1).text, "after 20 ms not all ranks have loaded the program");
  EXPECT_TRUE(fake.isIdle(world->streams[0]));
}

TEST_F(LsaStuckBehind, WhatIsBrokenIsStillWatched) {
  make(20);
  lsa::Rank &rank = *world->joined[0].rank;
  rank.fail({gc3SystemError, "a later call has failed"});
  const cuda::Watchdog::Clock::time_point start{};
  EXPECT_EQ(rank.watch(start).text, "a later call has failed");
  rank.watch(start + std::chrono::milliseconds(20));
  EXPECT_TRUE(fake.isIdle(world->streams[0]));
  const core::Outcome outcome = rank.watch(start + std::chrono::milliseconds(21));
  EXPECT_EQ(outcome.code, gc3SystemError);
  EXPECT_EQ(outcome.text, "a later call has failed; a kernel has not ended in 20 ms and was stopped; program "
                          "'ring2_aliased_1':\n"
                          "  rank 0 thread block 0 step 1 (rrcs, tile 0) waits for a message from rank 1 on channel 0");
}

TEST_F(LsaStuckBehind, WhatIsBrokenMayBeDestroyed) {
  make(20);
  world->joined[0].rank->fail({gc3SystemError, "a later call has failed"});
  world->joined[0].rank.reset();
  EXPECT_TRUE(fake.isIdle(world->streams[0]));
}

/// What NCCL has under way is not waited for to tell of a kernel.
TEST_F(LsaStuckBehind, AStoryWaitsForNobody) {
  make(100);
  world->nccl.CommRevoke = nullptr;
  const cuda::Watchdog::Clock::time_point start{};
  std::string story;
  fake.whileAsked = [&] {
    if (story.empty())
      for (int ms : {0, 100, 101})
        story = "?", story = world->joined[0].rank->watch(start + std::chrono::milliseconds(ms)).text;
  };
  EXPECT_EQ(call(1).code, gc3Timeout);
  fake.whileAsked = nullptr;
  EXPECT_NE(story.find("waits for a message from rank 1"), std::string::npos) << story;
}

/// CUDA may hold it up, behind another communicator's kernel that only who asks can end.
TEST_F(LsaStuckBehind, NobodyWaitsForAStory) {
  make(20);
  lsa::Rank &rank = *world->joined[0].rank;
  const cuda::Watchdog::Clock::time_point start{}, stuck = start + std::chrono::milliseconds(20),
                                                   stopped = start + std::chrono::milliseconds(21);
  rank.watch(start);
  rank.watch(stuck);
  core::Outcome asked;
  fake.whileCalled = [&] { std::thread([&] { asked = rank.glance(stopped); }).join(); };
  const core::Outcome told = rank.watch(stopped);
  fake.whileCalled = nullptr;
  EXPECT_NE(told.text.find("waits for a message from rank 1"), std::string::npos) << told.text;
  EXPECT_EQ(asked.text, "a kernel has not ended in 20 ms and is being stopped");
}

/// That is what the call tells, and not what the gather has brought: nothing.
TEST_F(LsaStuckBehind, ARevocationEndsWhatWaits) {
  make(100);
  const cuda::Watchdog::Clock::time_point start{};
  fake.whileAsked = [&, ms = 0]() mutable {
    const auto hook = std::exchange(fake.whileAsked, nullptr);
    world->joined[0].rank->watch(start + std::chrono::milliseconds(ms));
    ms += 100;
    fake.whileAsked = hook;
  };
  const core::Outcome outcome = call(1);
  fake.whileAsked = nullptr;
  EXPECT_EQ(windows.revoked, std::vector{world->comms[0]});
  EXPECT_EQ(outcome.code, gc3Timeout);
  EXPECT_EQ(outcome.text.find("a kernel has not ended in 100 ms and "), 0u) << outcome.text;
  world.reset();
  buffers.clear();
  EXPECT_EQ(windows.leaks(),
            "4 pieces of memory 3 pieces of pinned memory 1 streams 1 pieces of symmetric memory 1 windows ")
      << "what it waited for may be on its stream";
}

/// NCCL's own abort ends its gathers, too, and they have brought nothing then.
TEST(LsaWaiting, AbortEndsLoadingWithNccl) {
  FakeCuda fake;
  FakeWindows windows(fake);
  LsaWorld world(fake, windows, {ringAllReduce(2, true)});
  const Trial trial = world.trial(0, {});
  Loopback::Buffers buffers(fake, trial);
  std::vector<lsa::RankCall> calls{world.part(0, buffers.requests[0])};
  fake.whileAsked = [&] {
    abortAll(world);
    windows.revoked = world.comms;
  };
  lsa::run(calls, world.nccl);
  fake.whileAsked = nullptr;
  EXPECT_EQ(calls[0].outcome.text, "the communicator was aborted");
  EXPECT_EQ(world.joined[0].rank->broken().text, "the communicator was aborted");
}

TEST(LsaWaiting, AbortEndsLoading) {
  FakeCuda fake;
  FakeWindows windows(fake);
  {
    LsaWorld world(fake, windows, {ringAllReduce(2, true)});
    const Trial trial = world.trial(0, {});
    Loopback::Buffers buffers(fake, trial);
    std::vector<lsa::RankCall> calls{world.part(0, buffers.requests[0])};
    fake.whileAsked = [&, asked = 0]() mutable {
      if (++asked == 3)
        abortAll(world);
      if (asked == 1000)
        throw std::runtime_error("it goes on waiting");
    };
    lsa::run(calls, world.nccl);
    fake.whileAsked = nullptr;
    EXPECT_FALSE(calls[0].declined);
    EXPECT_EQ(calls[0].outcome.text, "the communicator was aborted");
    EXPECT_TRUE(windows.revoked.empty()) << "that is the application's";
  }
  EXPECT_EQ(windows.leaks(), "3 pieces of memory 2 pieces of pinned memory 1 streams 1 pieces of symmetric memory ");
}

/// From abort on nothing of NCCL is touched, and nothing is waited for.
TEST(LsaWaiting, AbortLeavesNcclAlone) {
  FakeCuda fake;
  FakeWindows windows(fake);
  {
    LsaWorld world(fake, windows, {ringAllReduce(2, true)});
    ASSERT_EQ(world.run(0, {}), "");
    const Trial trial = world.trial(0, {});
    Loopback::Buffers buffers(fake, trial);
    std::vector<lsa::RankCall> calls{world.part(0, buffers.requests[0])};
    lsa::run(calls, world.nccl);
    EXPECT_FALSE(fake.isIdle(world.streams[0]));
    abortAll(world);
    EXPECT_TRUE(fake.isIdle(world.streams[0])) << "its kernel is told to stop";
    EXPECT_EQ(world.joined[0].rank->broken().text, "the communicator was aborted");
    for (ncclapi::Comm comm : world.comms)
      windows.free(comm);
    lsa::run(calls, world.nccl);
    EXPECT_EQ(calls[0].outcome.text, "the communicator was aborted");
    const uint64_t used = windows.used;
    world.joined.clear();
    EXPECT_EQ(windows.used, used);
  }
  EXPECT_EQ(windows.leaks(), "6 pieces of memory 2 pieces of pinned memory 2 pieces of symmetric memory 2 windows ")
      << "memory alone: giving it back would wait for the GPU";
}

/// NCCL would do both at once on one communicator.
TEST(LsaWaiting, NothingIsRevokedWhileItIsGivenBack) {
  FakeCuda fake;
  FakeWindows windows(fake);
  LsaWorld world(fake, windows, {ringAllReduce(2, true)});
  for (size_t rank : {0, 1}) {
    lsa::Rank &late = *world.joined[rank].rank;
    if (rank == 0)
      late.giveBack();
    late.breakDown({gc3Timeout, "late"});
    EXPECT_EQ(late.glance(cuda::Watchdog::Clock::now()).code, gc3Timeout);
  }
  EXPECT_EQ(windows.revoked, std::vector{world.comms[1]});
}

} // namespace
