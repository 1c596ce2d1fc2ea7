// SPDX-License-Identifier: Apache-2.0
// Tests traces if each rank has its own GPU. Each rank writes its own file.
#include "CommSupport.h"
#include "Programs.h"
#include "TraceCheck.h"
#include "TraceSupport.h"
#include "trace/RankFiles.h"

#include <fstream>
#include <sstream>

using namespace gc3;
using namespace gc3::test;

namespace {

/// The paths of the ranks' trace files. The destructor deletes the files.
class RankPaths {
public:
  explicit RankPaths(uint32_t ranks) : ranks(ranks) {}
  ~RankPaths() {
    for (uint32_t rank = 0; rank < ranks; ++rank)
      std::remove(of(rank).c_str());
  }
  RankPaths(const RankPaths &) = delete;
  RankPaths &operator=(const RankPaths &) = delete;
  std::string of(uint32_t rank) const { return without.name + "." + std::to_string(rank) + ".end"; }
  /// Returns the events of all files.
  Trace merged() const {
    Trace all(of(0));
    for (uint32_t rank = 1; rank < ranks; ++rank) {
      const Trace next(of(rank));
      all.problem += next.problem;
      all.events.insert(all.events.end(), next.events.begin(), next.events.end());
    }
    return all;
  }
  cuda::Options options() const {
    cuda::Options options = smallOptions();
    options.traceName = without.name + ".end";
    return options;
  }

private:
  const uint32_t ranks;
  const TracePath without;
};

TEST(CommTrace, EachRankHasAFile) {
  for (const ProgramSpec &spec : {ringAllReduce(3, true), plainRingAllReduce(3), allToAll(3, 2)}) {
    FakeCuda fake;
    FakeNccl nccl(fake);
    const RankPaths paths(3);
    {
      CommWorld world(fake, nccl, {spec}, paths.options());
      for (uint64_t count : {1, 200, 31})
        EXPECT_EQ(world.run(0, {.count = count}), "");
    }
    EXPECT_EQ(nccl.leaks(), "");
    for (uint32_t rank = 0; rank < 3; ++rank)
      for (const TraceEvent &event : Trace(paths.of(rank)).events)
        EXPECT_EQ(event.process, rank) << event.name;
    EXPECT_EQ(checkTrace(paths.merged(), {LoadedSpec(spec).program.get(), {1, 2, 3}, 0, true, false}), "") << spec.name;
  }
}

// Each rank of each communicator has its own process number in the traces.
TEST(CommTrace, FurtherCommunicatorsShareTheFiles) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  const RankPaths paths(3);
  {
    CommWorld world(fake, nccl, {ringAllReduce(3, true)}, paths.options());
    CommWorld pair(fake, nccl, {plainRingAllReduce(2)}, paths.options());
    EXPECT_EQ(pair.run(0, {.count = 7}), "");
    EXPECT_EQ(world.run(0, {.count = 5}), "");
  }
  const Trace all = paths.merged();
  EXPECT_EQ(checkTrace(all, {LoadedSpec(ringAllReduce(3, true)).program.get(), {1}, 0, true, false}), "");
  EXPECT_EQ(checkTrace(all, {LoadedSpec(plainRingAllReduce(2)).program.get(), {1}, 3, true, false}), "");
  for (const TraceEvent &event : all.find("M", "process_name"))
    EXPECT_EQ(event.arguments.at("name"),
              "rank " + std::to_string(event.process % 3) + (event.process < 3 ? "" : " of group 1"));
}

// The times in all ranks' files count from the same moment, about one second before rank 0 joined.
TEST(CommTrace, TimesCountFromTheSameMoment) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  const RankPaths paths(2);
  const uint64_t before = trace::now();
  {
    CommWorld world(fake, nccl, {ringAllReduce(2, true)}, paths.options());
    EXPECT_EQ(world.run(0, {.count = 5}), "");
  }
  const uint64_t lasted = trace::now() - before;
  for (uint32_t rank = 0; rank < 2; ++rank)
    for (const TraceEvent &event : Trace(paths.of(rank)).find("X", "ring2_aliased_1")) {
      EXPECT_GT(event.begin, 900'000'000u);
      EXPECT_LT(event.end, 1'100'000'000 + lasted);
    }
}

/// With tracing, a call does not wait for its kernel. The kernel can wait for a peer whose calls the same thread makes
/// later.
TEST(CommTrace, CallsAreNotWaitedFor) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  const RankPaths paths(2);
  const ProgramSpec spec = ringAllReduce(2, true);
  {
    CommWorld world(fake, nccl, {spec}, paths.options());
    EXPECT_EQ(world.run(0, {.count = 5}), "");
    const Trial trial = world.trial(0, {.count = 9});
    Loopback::Buffers buffers(fake, trial);
    for (size_t rank : {0, 0, 0, 1, 1, 1}) {
      std::vector<comm::CallGroup::Call> call{world.part(rank, buffers.requests[rank])};
      comm::CallGroup::run(call);
      EXPECT_EQ(call[0].outcome.text, "");
      if (rank == 0) {
        EXPECT_FALSE(fake.isIdle(world.streams[0]));
      }
    }
  }
  EXPECT_EQ(checkTrace(paths.merged(), {LoadedSpec(spec).program.get(), {1, 2, 3, 4}, 0, true, false}), "");
}

/// The trace contains the last replay of a captured call, also after an abort, since all kernels had ended before it.
TEST(CommTrace, CapturedCalls) {
  for (bool aborts : {false, true}) {
    FakeCuda fake;
    FakeNccl nccl(fake);
    const RankPaths paths(2);
    const ProgramSpec spec = ringAllReduce(2, true);
    {
      CommWorld world(fake, nccl, {spec}, paths.options());
      EXPECT_EQ(world.run(0, {.count = 5}), "");
      const Trial trial = world.trial(0, {.count = 9});
      Loopback::Buffers buffers(fake, trial);
      std::vector<comm::CallGroup::Call> calls;
      for (size_t rank : {0, 1})
        calls.push_back(world.part(rank, buffers.requests[rank]));
      fake.captured = true;
      comm::CallGroup::run(calls);
      fake.captured = false;
      EXPECT_EQ(calls[0].outcome.text + calls[1].outcome.text, "");
      EXPECT_EQ(world.run(0, {.count = 31}), "");
      fake.replay();
      EXPECT_EQ(world.finish(trial, buffers), "");
      for (const auto &rank : world.ranks)
        if (aborts)
          abort(rank);
    }
    EXPECT_EQ(checkTrace(paths.merged(), {LoadedSpec(spec).program.get(), {1, 2, 3}, 0, true, false}), "");
    EXPECT_EQ(nccl.leaks(), "");
  }
}

TEST(CommTrace, CallsGoOnWhereNothingCanBeWritten) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  cuda::Options options = smallOptions();
  options.traceName = "/dev/null/trace";
  testing::internal::CaptureStderr();
  {
    CommWorld world(fake, nccl, {ringAllReduce(2, true)}, options);
    EXPECT_EQ(world.run(0, {.count = 5}), "");
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("/dev/null/trace"), std::string::npos);
  EXPECT_EQ(nccl.leaks(), "");
}

TEST(CommTrace, RanksWithNothingToDo) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  const RankPaths paths(3);
  {
    CommWorld world(fake, nccl, {oneMessage(3)}, paths.options());
    EXPECT_EQ(world.run(0, {.count = 5}), "");
    const Trial trial = world.trial(0, {.count = 9});
    Loopback::Buffers buffers(fake, trial);
    std::vector<comm::CallGroup::Call> calls;
    for (size_t rank : {0, 1, 2})
      calls.push_back(world.part(rank, buffers.requests[rank]));
    fake.captured = true;
    comm::CallGroup::run(calls);
    fake.captured = false;
    fake.replay();
    EXPECT_EQ(world.finish(trial, buffers), "");
  }
  EXPECT_EQ(nccl.leaks(), "");
  EXPECT_EQ(paths.merged().problem, "");
  for (uint32_t rank = 0; rank < 3; ++rank)
    EXPECT_EQ(Trace(paths.of(rank)).find("X", "message3").size(), rank < 2 ? 2u : 0u);
}

TEST(CommTrace, AbortedCallsAreUnfinished) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  const RankPaths paths(2);
  {
    CommWorld world(fake, nccl, {ringAllReduce(2, true)}, paths.options());
    EXPECT_EQ(world.run(0, {.count = 5}), "");
    const Trial trial = world.trial(0, {.count = 5});
    Loopback::Buffers buffers(fake, trial);
    std::vector<comm::CallGroup::Call> calls{world.part(0, buffers.requests[0])};
    comm::CallGroup::run(calls);
    for (const auto &rank : world.ranks)
      abort(rank);
  }
  const std::vector<TraceEvent> calls = Trace(paths.of(0)).find("X", "ring2_aliased_1");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].arguments.count("unfinished"), 0u);
  EXPECT_EQ(calls[1].arguments.at("unfinished"), "1");
}

TEST(CommTrace, NamesOfFiles) {
  struct Case {
    std::string pattern, name;
  };
  const std::string process = std::to_string(getpid()), folder = testing::TempDir() + "gc3-names." + process;
  ASSERT_TRUE(std::filesystem::create_directories(folder));
  for (const Case &of : {Case{"/a.json", "/a.5.json"},
                         {"/a", "/a.5"},
                         {"/r%r.json", "/r5.json"},
                         {"/%r%p%r", "/5" + process + "5"},
                         {"/b.%p.json", "/b." + process + ".5.json"},
                         {"/.hidden", "/.hidden.5"}}) {
    trace::TraceFile *file = trace::fileOfGpu(folder + of.pattern, 3, {5, 8, trace::wallClock()});
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(file->path(), folder + of.name);
    EXPECT_EQ(trace::fileOfGpu(folder + of.pattern, 3, {1, 2, trace::wallClock()}), file)
        << "the GPU's first rank names it";
  }
  std::filesystem::remove_all(folder);
}

} // namespace
