// SPDX-License-Identifier: Apache-2.0
// The engine of the library in front of NCCL: which calls it serves, and what it hands to NCCL after all.
#include "lsa/Engine.h"
#include "LsaSupport.h"
#include "Programs.h"

#include <bit>
#include <climits>
#include <numeric>

using namespace gc3;
using namespace gc3::test;
using ncclapi::Collective;
using ncclapi::Result;

namespace {

/// An allreduce of floats by all ranks of a communicator that the engine has taken on.
class LsaEngine : public testing::Test {
protected:
  void attach(const std::vector<ProgramSpec> &specs, const std::string &list = "") { attachBundles({specs}, list); }
  void attachBundles(const std::vector<std::vector<ProgramSpec>> &specs, const std::string &list) {
    options.choice.programs = list;
    nccl = windows.table();
    const auto ranks = static_cast<int>(specs[0][0].ranks.size());
    comms = windows.make(ranks);
    shim::Bundles bundles(specs.size());
    for (size_t i = 0; i < specs.size(); ++i) {
      const std::string bytes = buildBundle(specs[i]);
      ASSERT_TRUE(bundle::BundleFile::openMemory(bytes.data(), bytes.size(), bundles[i]).ok());
    }
    forwarded.clear();
    forwardedOps.clear();
    now = this;
    happened.clear();
    const lsa::Forwarding toNccl{[](const shim::CollectiveCall &call) {
                                   now->note("make");
                                   forwarded.push_back(call.recv);
                                   forwardedOps.push_back(static_cast<int>(call.op));
                                   return Result::InProgress; // as communicators say that do not block
                                 },
                                 [](ncclapi::Comm comm) {
                                   now->note("settle");
                                   settled.push_back(comm);
                                   return settling;
                                 }};
    settled.clear();
    settling = Result::Success;
    engine = lsa::makeEngine({FakeCuda::table(), nccl}, std::move(bundles), options, toNccl);
    std::vector<nccl::Member> members;
    for (int rank = 0; rank < std::min(ranks, present); ++rank)
      members.push_back({comms[static_cast<size_t>(rank)], ranks, rank});
    attached = engine->attach(members);
    for (int rank = 0; rank < ranks; ++rank) {
      streams.push_back(fake.stream(rank));
      buffers.push_back(reinterpret_cast<float *>(fake.allocate(most * sizeof(float))));
    }
  }
  void TearDown() override {
    attached.clear();
    for (cuda::Stream stream : streams)
      FakeCuda::table().destroyStream(stream);
    for (float *buffer : buffers)
      fake.release(reinterpret_cast<std::byte *>(buffer));
    EXPECT_EQ(windows.leaks(), leaks);
  }

  shim::CollectiveCall call(size_t rank, size_t count) const {
    return {Collective::AllReduce,
            buffers[rank],
            buffers[rank],
            count,
            ncclapi::DataType::Float32,
            ncclapi::RedOp::Sum,
            -1,
            comms[rank],
            reinterpret_cast<ncclapi::Stream>(streams[rank])};
  }
  nccl::Decision decide(size_t rank, size_t count) const {
    return attached[rank].attachment->serves(call(rank, count));
  }
  nccl::Work work(size_t rank, size_t count) const {
    return {attached[rank].attachment.get(), call(rank, count), decide(rank, count).program};
  }
  Result runAll(size_t count) {
    std::vector<nccl::Work> works;
    for (size_t rank = 0; rank < comms.size(); ++rank)
      works.push_back(work(rank, count));
    return engine->run(works);
  }

  void note(const std::string &what) const {
    happened.push_back(what + (windows.isGroupOpen() ? " in a group" : "") + " behind " +
                       std::to_string(fake.launchedOn.size()) + " launches");
  }

  static constexpr size_t most = 100;
  cuda::Options options = smallOptions();
  int present = INT_MAX; ///< ranks
  std::string leaks;
  FakeCuda fake;
  FakeWindows windows{fake};
  ncclapi::Nccl nccl;
  std::unique_ptr<nccl::Engine> engine;
  std::vector<ncclapi::Comm> comms;
  std::vector<nccl::Attached> attached;
  std::vector<cuda::Stream> streams;
  std::vector<float *> buffers;
  static inline std::vector<void *> forwarded; ///< receive buffers of calls that NCCL gets after all
  static inline std::vector<int> forwardedOps; ///< their operations
  static inline std::vector<ncclapi::Comm> settled;
  static inline std::vector<std::string> happened; ///< of both, when
  static inline const LsaEngine *now = nullptr;
  static inline Result settling;
};

TEST_F(LsaEngine, ServesCalls) {
  attach({ringAllReduce(3, true)});
  for (size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(decide(rank, 10).why, "ring3_aliased_1");
    std::iota(buffers[rank], buffers[rank] + most, static_cast<float>(rank));
  }
  EXPECT_EQ(runAll(most), Result::Success);
  for (size_t rank = 0; rank < 3; ++rank)
    for (size_t i = 0; i < most; ++i)
      ASSERT_EQ(buffers[rank][i], static_cast<float>(3 * i + 3));
  EXPECT_EQ(attached[1].attachment->asyncError(), Result::Success);
}

/// Each rank's own, one known and one in memory; a captured call is left to NCCL with its handle.
TEST_F(LsaEngine, ServesOperationsWithTheirScalars) {
  attach({ringAllReduce(2, true)});
  float inMemory = 3;
  const core::Factor factors[] = {{std::bit_cast<uint32_t>(2.0f)}, {0, &inMemory}};
  auto run = [&] {
    std::vector<nccl::Work> works;
    for (size_t rank = 0; rank < 2; ++rank) {
      std::fill_n(buffers[rank], most, static_cast<float>(rank + 1));
      works.push_back(work(rank, most));
      works.back().call.op = static_cast<ncclapi::RedOp>(100 + rank);
      works.back().call.preMulSum = {core::ElementType::Float, factors[rank]};
    }
    return engine->run(works);
  };
  fake.captured = true;
  EXPECT_EQ(run(), Result::Success);
  fake.captured = false;
  EXPECT_EQ(forwardedOps, (std::vector<int>{100, 101}));
  for (float scalar : {3.0f, 5.0f}) {
    inMemory = scalar;
    EXPECT_EQ(run(), Result::Success);
    for (const float *buffer : buffers)
      EXPECT_EQ(std::vector<float>(buffer, buffer + most), std::vector<float>(most, 2 + 2 * scalar));
  }
  EXPECT_EQ(forwardedOps.size(), 2u);
}

TEST_F(LsaEngine, LeavesToNcclWhatHasNoProgram) {
  attach({ringAllReduce(3, true), shiftReversed(3, 2)});
  shim::CollectiveCall gather = call(0, 10);
  gather.collective = Collective::AllGather;
  EXPECT_FALSE(attached[0].attachment->serves(gather).served());
  EXPECT_EQ(attached[0].attachment->serves(gather).why, "no program for it");
  shim::CollectiveCall wide = call(0, SIZE_MAX / 2);
  EXPECT_FALSE(attached[0].attachment->serves(wide).served());
  EXPECT_NE(attached[0].attachment->serves(wide).why.find("beyond the address space"), std::string_view::npos);
}

TEST_F(LsaEngine, ListsGoBySizeOverAllBundles) {
  ProgramSpec small = ringAllReduce(2, true), large = plainRingAllReduce(2);
  small.maxBytes = 64;
  large.minBytes = 64, large.maxBytes = 128;
  attachBundles({{small}, {large}}, small.name + "," + large.name);
  for (const auto &[count, name] : {std::pair(4, small.name), {16, large.name}, {32, small.name}}) // the last: neither
    EXPECT_EQ(decide(0, static_cast<size_t>(count)).why, name + ", as GC3_PROGRAM has it");
}

TEST_F(LsaEngine, ListsSayWhichProgramsServe) {
  ProgramSpec small = ringAllReduce(2, true), large = plainRingAllReduce(2);
  small.maxBytes = 64;
  large.minBytes = 64;
  attach({small, large, allGather(2, false)}, large.name + ",allgather:none");
  EXPECT_EQ(decide(1, 4).why, large.name + ", as GC3_PROGRAM has it");
  shim::CollectiveCall gather = call(0, 10);
  gather.collective = Collective::AllGather;
  EXPECT_EQ(attached[0].attachment->serves(gather).why, "GC3_PROGRAM has no program for it");
  gather.collective = Collective::AlltoAll;
  EXPECT_EQ(attached[0].attachment->serves(gather).why, "no program for it");
  EXPECT_EQ(runAll(4), Result::Success);
}

/// A list that names what there is not is told, and NCCL serves all calls.
TEST_F(LsaEngine, ListsThatAreWrongAreTold) {
  testing::internal::CaptureStderr();
  attach({ringAllReduce(2, true)}, "rng");
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(told.find("gc3: communicators are left to NCCL: GC3_PROGRAM: no bundle has 'rng'; "), 0u) << told;
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << "once: " << told;
  EXPECT_EQ(attached[1].attachment, nullptr);
  EXPECT_EQ(attached[1].why.find("GC3_PROGRAM: no bundle has 'rng'; "), 0u);
}

/// Calls whose program can't be loaded are NCCL's, in their order, those of the thread's ranks in one group of its.
TEST_F(LsaEngine, HandsOverWhatAllRanksDecline) {
  windows.windows = FakeWindows::Windows::Null;
  windows.version = ncclapi::tellingVersion;
  attach({ringAllReduce(3, true)});
  EXPECT_TRUE(decide(0, 10).served());
  EXPECT_EQ(runAll(10), Result::Success);
  EXPECT_EQ(forwarded, std::vector<void *>(buffers.begin(), buffers.end()));
  EXPECT_EQ(settled, comms) << "what comes next is behind them";
  EXPECT_EQ(fake.launches, 0u);
  EXPECT_FALSE(decide(0, 10).served()) << "from now on";
  EXPECT_EQ(decide(1, 10).why,
            "program 'ring3_aliased_1' could not be loaded: this communicator has no symmetric windows");
}

/// In a group, too, which calls of other programs are in.
TEST_F(LsaEngine, HandsOverWhatIsDeclinedAlone) {
  attach({ringAllReduce(2, true), plainRingAllReduce(2)});
  EXPECT_EQ(runAll(10), Result::Success); // by the first
  fake.captured = true;
  std::vector<nccl::Work> works;
  for (int32_t program : {0, 1, 0})
    for (size_t rank : {0, 1})
      works.push_back({attached[rank].attachment.get(), call(rank, 10), program});
  fake.launchedOn.clear();
  EXPECT_EQ(engine->run(works), Result::Success);
  fake.captured = false;
  const std::string made = "make in a group behind 2 launches", over = "settle behind 2 launches";
  EXPECT_EQ(happened, (std::vector{made, made, over, over}));
  EXPECT_EQ(fake.launchedOn.size(), 4u);
  EXPECT_EQ(forwarded, (std::vector<void *>{buffers[0], buffers[1]}));
  EXPECT_EQ(settled, comms);
  const uint64_t before = fake.launches;
  fake.replay();
  EXPECT_EQ(fake.launches, before + 4);
  settling = Result::RemoteError;
  fake.captured = true;
  EXPECT_EQ(engine->run(works), Result::RemoteError) << "and not that NCCL went on";
  fake.captured = false;
  settling = Result::Success;
  const uint64_t last = fake.launches;
  EXPECT_EQ(runAll(10), Result::RemoteError) << "others may have launched what was not here";
  EXPECT_EQ(fake.launches, last);
}

TEST_F(LsaEngine, WhatWasLostElsewhereBreaksARank) {
  attach({ringAllReduce(2, true)});
  EXPECT_EQ(runAll(10), Result::Success);
  const uint64_t before = fake.launches;
  testing::internal::CaptureStderr();
  for (const nccl::Attached &rank : attached)
    rank.attachment->breakDown("lost");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gc3: rank 0: lost\ngc3: rank 1: lost\n");
  EXPECT_EQ(attached[0].attachment->asyncError(), Result::RemoteError);
  EXPECT_EQ(runAll(10), Result::RemoteError);
  EXPECT_EQ(fake.launches, before);
}

/// Outside of a group a thread's ranks would wait for each other.
TEST_F(LsaEngine, HandsOverNothingWithoutAGroup) {
  windows.windows = FakeWindows::Windows::Null;
  windows.version = ncclapi::tellingVersion;
  attach({ringAllReduce(3, true)});
  EXPECT_EQ(runAll(10), Result::Success);
  EXPECT_EQ(forwarded.size(), 3u);
  const uint64_t before = fake.calls;
  std::vector<nccl::Work> works;
  for (size_t rank = 0; rank < 3; ++rank)
    works.push_back({attached[rank].attachment.get(), call(rank, 10), 0});
  EXPECT_EQ(engine->run(works), Result::Success);
  EXPECT_EQ(forwarded.size(), 6u);
  fake.failAt = fake.calls + (fake.calls - before) - 1; // of this run's calls the last two open and close the group
  EXPECT_EQ(engine->run(works), FakeWindows::failure);
  EXPECT_EQ(forwarded.size(), 6u);
}

/// Of another communicator, whose calls come first in the group and fail.
TEST_F(LsaEngine, HandsOverBehindARankThatHasNotJoined) {
  windows.windows = FakeWindows::Windows::Null;
  windows.version = ncclapi::tellingVersion;
  attach({ringAllReduce(2, true)});
  std::vector<nccl::Member> members;
  for (ncclapi::Comm comm : windows.make(2))
    members.push_back({comm, 2, static_cast<int>(members.size())});
  fake.failAt = fake.calls + 4;
  const std::vector<nccl::Attached> failed = engine->attach(members);
  fake.failAt = 0;
  std::vector<nccl::Work> works;
  for (const nccl::Attached &rank : failed) {
    ASSERT_NE(rank.attachment, nullptr);
    works.push_back({rank.attachment.get(), call(0, 20), 0});
  }
  for (size_t rank : {0, 1})
    works.push_back(work(rank, 10));
  EXPECT_EQ(engine->run(works), failed[0].attachment->asyncError());
  EXPECT_EQ(forwarded, std::vector<void *>(buffers.begin(), buffers.end()));
  EXPECT_EQ(settled, comms);
}

TEST_F(LsaEngine, AFailedRankServesAndFails) {
  fake.failAt = 4;
  attach({ringAllReduce(2, true)});
  fake.failAt = 0;
  for (size_t rank = 0; rank < 2; ++rank) {
    ASSERT_NE(attached[rank].attachment, nullptr);
    EXPECT_TRUE(decide(rank, 10).served()) << "others may run programs";
    EXPECT_NE(attached[rank].attachment->asyncError(), Result::Success);
  }
  EXPECT_NE(runAll(10), Result::Success);
}

TEST_F(LsaEngine, WhoHasWaitedInVainSaysSo) {
  present = 1;
  options.joiningMs = 20;
  attach({ringAllReduce(2, true)});
  EXPECT_EQ(attached[0].attachment->asyncError(), Result::RemoteError);
  const nccl::Work alone{attached[0].attachment.get(), call(0, 10), 0};
  EXPECT_EQ(engine->run({&alone, 1}), Result::RemoteError);
  leaks = "1 pieces of memory 1 pieces of pinned memory 1 streams ";
}

/// Applications ask from any thread, and CUDA would take memory of the first GPU for one that has not used it.
TEST_F(LsaEngine, AskedForErrorsItAsksNoCuda) {
  attach({ringAllReduce(2, true)});
  EXPECT_EQ(runAll(10), Result::Success);
  const uint64_t before = fake.calls;
  for (const nccl::Attached &rank : attached)
    EXPECT_EQ(rank.attachment->asyncError(), Result::Success);
  EXPECT_EQ(fake.calls, before);
}

TEST_F(LsaEngine, KnowsWhatIsCaptured) {
  attach({ringAllReduce(2, true)});
  const auto stream = reinterpret_cast<ncclapi::Stream>(streams[0]);
  EXPECT_FALSE(engine->isCaptured(stream));
  fake.captured = true;
  EXPECT_TRUE(engine->isCaptured(stream));
  fake.failAt = fake.calls + 1;
  EXPECT_FALSE(engine->isCaptured(stream));
  fake.captured = false;
}

/// A new thread begins on the first GPU.
TEST_F(LsaEngine, WorkElsewhereIsOnTheCallersGpu) {
  attach({ringAllReduce(2, true)});
  fake.currentDevice = 1;
  int seen = -1;
  const std::function<void()> work = engine->elsewhere([&] { seen = fake.currentDevice; });
  fake.currentDevice = 0;
  work();
  EXPECT_EQ(std::exchange(seen, -1), 1);
  fake.currentDevice = 0;
  fake.failAt = fake.calls + 1;
  engine->elsewhere([&] { seen = fake.currentDevice; })();
  EXPECT_EQ(seen, 0) << "if it can't be asked, too";
}

/// What waits for a GPU, which is the attachment's: a new thread would begin on the first.
TEST_F(LsaEngine, WorkAsideIsOnItsGpu) {
  attach({ringAllReduce(2, true)});
  int seen = -1;
  engine->aside(attached[1].attachment.get(), [&] { seen = fake.currentDevice; });
  EXPECT_EQ(seen, 1);
  fake.currentDevice = 0;
  engine->aside(nullptr, [&] { seen = fake.currentDevice; });
  EXPECT_EQ(seen, 0) << "of none";
}

/// Windows go before the attachment, while an abort still finds that.
TEST_F(LsaEngine, GivesBackWhatNcclHas) {
  attach({ringAllReduce(2, true)});
  EXPECT_EQ(runAll(10), Result::Success);
  EXPECT_NE(windows.leaks().find("windows"), std::string::npos);
  for (const nccl::Attached &rank : attached) {
    rank.attachment->drain();
    rank.attachment->giveBack();
  }
  EXPECT_EQ(windows.leaks().find("windows"), std::string::npos) << windows.leaks();
}

TEST_F(LsaEngine, AbortedCallsFail) {
  attach({ringAllReduce(2, true)});
  attached[0].attachment->abort();
  const nccl::Work alone = work(0, 10);
  EXPECT_EQ(engine->run({&alone, 1}), Result::InvalidUsage);
  EXPECT_EQ(attached[0].attachment->asyncError(), Result::InvalidUsage);
  leaks = "1 pieces of memory 1 pieces of pinned memory ";
}

} // namespace
