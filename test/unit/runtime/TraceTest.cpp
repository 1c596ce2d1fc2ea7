// SPDX-License-Identifier: Apache-2.0
// Tests traces of host communicators: their contents, calls that are not recorded, and files that can't be written.
#include "ApiGroup.h"
#include "SettingsSupport.h"
#include "TraceCheck.h"
#include "TraceSupport.h"
#include "core/Timeline.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sys/resource.h>

using namespace gc3;
using namespace gc3::test;

namespace {

gc3HostConfig_t tracing(const TracePath &path, gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER) {
  config.trace = path.name.c_str();
  return config;
}

/// Calls of one program on all ranks, from this thread or from one thread per rank.
class Calls {
public:
  explicit Calls(const ProgramSpec &spec) : name(spec.name), ranks(spec.ranks.size()) {}

  gc3Result_t operator()(Group &group, size_t count, bool inPlace = false) const {
    std::vector<std::vector<float>> send = buffers(count), recv = send;
    return group.together([&](int r, gc3Comm_t comm) {
      const auto rank = static_cast<size_t>(r);
      return gc3RunProgram(comm, name.c_str(), (inPlace ? recv : send)[rank].data(), recv[rank].data(), count,
                           gc3Float32, gc3Sum, nullptr);
    });
  }
  /// Makes one call for each count, on a thread per rank.
  std::vector<gc3Result_t> fromThreads(Group &group, const std::vector<size_t> &counts) const {
    return group.threads([&](int, gc3Comm_t comm) {
      gc3Result_t result = gc3Success;
      for (size_t count : counts) {
        std::vector<float> send(ranks * count), recv(ranks * count);
        if (result == gc3Success)
          result = gc3RunProgram(comm, name.c_str(), send.data(), recv.data(), count, gc3Float32, gc3Sum, nullptr);
      }
      return result;
    });
  }

private:
  /// Returns buffers that are large enough for inputs and outputs of all programs in these tests.
  std::vector<std::vector<float>> buffers(size_t count) const {
    return std::vector<std::vector<float>>(ranks, std::vector<float>(ranks * count * 2));
  }
  const std::string name;
  const size_t ranks;
};

std::vector<uint64_t> upTo(uint64_t last) {
  std::vector<uint64_t> numbers(last);
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

const std::vector<ProgramSpec> specs = {
    ringAllReduce(3, true),  ringAllReduce(4, false), plainRingAllReduce(3), allToAll(3, 2), allGather(3, true),
    reduceScatter(3, false), broadcast(4, 1),         shiftReversed(3, 2),   writesInput(3), ringAllReduce(1, true)};

} // namespace

TEST(Trace, HasEachInstructionOnce) {
  for (const ProgramSpec &spec : specs)
    for (uint64_t tileElements : {0, 5}) {
      TracePath path;
      gc3HostConfig_t config = tracing(path);
      config.tileElements = tileElements;
      const auto ranks = static_cast<int>(spec.ranks.size());
      {
        Group group({spec}, ranks, config);
        const Calls call(spec);
        for (size_t count : {60, 1500, 60}) // with 1500, messages bypass their slots
          EXPECT_EQ(call(group, count, count == 1500 && spec.collective == "allreduce"), gc3Success)
              << gc3GetLastError(nullptr);
      }
      EXPECT_EQ(checkTrace(Trace(path.name), {LoadedSpec(spec).program.get(), upTo(3)}), "")
          << spec.name << ", tiles of " << tileElements;
    }
}

TEST(Trace, FromOneThreadPerRank) {
  for (const ProgramSpec &spec : {ringAllReduce(4, true), plainRingAllReduce(3), allToAll(4, 1)}) {
    TracePath path;
    gc3HostConfig_t config = tracing(path);
    config.tileElements = 100;
    {
      Group group({spec}, static_cast<int>(spec.ranks.size()), config);
      const std::vector<gc3Result_t> results = Calls(spec).fromThreads(group, {60, 60, 3000, 60, 3000, 3000, 60, 7});
      EXPECT_EQ(results, std::vector<gc3Result_t>(spec.ranks.size(), gc3Success));
    }
    EXPECT_EQ(checkTrace(Trace(path.name), {LoadedSpec(spec).program.get(), upTo(8)}), "") << spec.name;
  }
}

// In the second call, rank 0 calls out of place. The other ranks have already entered the prepared call of the first
// call, which has no memory for the copy that rank 0 needs. All ranks drop this prepared call and enter another one.
TEST(Trace, OfCallsThatAreDropped) {
  const ProgramSpec spec = reduceScatter(3, true); // out of place, each rank needs a copy of its input
  constexpr size_t count = 60;
  TracePath path;
  {
    Group group({spec}, 3, tracing(path));
    const auto results = group.threads([&](int rank, gc3Comm_t comm) {
      std::vector<float> send(3 * count), recv(count);
      float *const inPlace = send.data() + static_cast<size_t>(rank) * count;
      gc3Result_t result = gc3Success;
      for (bool isApart : {false, rank == 0, false})
        if (result == gc3Success)
          result = gc3RunProgram(comm, spec.name.c_str(), send.data(), isApart ? recv.data() : inPlace, count,
                                 gc3Float32, gc3Sum, nullptr);
      return result;
    });
    EXPECT_EQ(results, std::vector<gc3Result_t>(3, gc3Success));
  }
  EXPECT_EQ(checkTrace(Trace(path.name), {LoadedSpec(spec).program.get(), upTo(3)}), "");
}

TEST(Trace, FromThePoolsThreads) {
  const ProgramSpec spec = ringAllReduce(4, false);
  TracePath path;
  gc3HostConfig_t config = tracing(path);
  config.workers = 4;
  {
    Group group({spec}, 4, config);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(Calls(spec)(group, 1 << 17), gc3Success);
  }
  EXPECT_EQ(checkTrace(Trace(path.name), {LoadedSpec(spec).program.get(), upTo(3)}), "");
}

TEST(Trace, OfAdversarialOrders) {
  for (const ProgramSpec &spec : specs) {
    TracePath path;
    gc3HostConfig_t config = tracing(path);
    config.order = gc3OrderAdversarial;
    {
      Group group({spec}, static_cast<int>(spec.ranks.size()), config);
      for (size_t count : {60, 7})
        EXPECT_EQ(Calls(spec)(group, count), gc3Success);
    }
    EXPECT_EQ(checkTrace(Trace(path.name), {LoadedSpec(spec).program.get(), upTo(2)}), "") << spec.name;
  }
}

TEST(Trace, NamesItsRows) {
  const ProgramSpec spec = plainRingAllReduce(2);
  TracePath path;
  {
    Group group({spec}, 2, tracing(path));
    EXPECT_EQ(Calls(spec)(group, 4), gc3Success);
  }
  const Trace trace(path.name);
  std::vector<std::string> processes, threads;
  for (const TraceEvent &event : trace.find("M", "process_name"))
    processes.push_back(std::to_string(event.process) + ": " + event.arguments.at("name"));
  for (const TraceEvent &event : trace.find("M", "thread_name"))
    if (event.process == 0)
      threads.push_back(event.arguments.at("name"));
  EXPECT_EQ(processes, (std::vector<std::string>{"0: rank 0", "1: rank 1"}));
  EXPECT_EQ(threads, (std::vector<std::string>{"calls", "tb 0", "tb 1"}));
  const std::vector<TraceEvent> calls = trace.find("X", spec.name);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].arguments, (std::map<std::string, std::string>{
                                    {"call", "1"}, {"collective", "allreduce"}, {"count", "4"}, {"tiles", "1"}}));
}

// The second group is created after the first one is destroyed. The third group uses the file at the same time as the
// second one.
TEST(Trace, SeveralGroupsShareAFile) {
  const ProgramSpec ring = ringAllReduce(3, true), other = allToAll(2, 1);
  TracePath path;
  {
    Group first({ring}, 3, tracing(path));
    EXPECT_EQ(Calls(ring)(first, 10), gc3Success);
  }
  EXPECT_EQ(Trace(path.name).problem, "") << "the file is valid between writes";
  {
    Group second({other}, 2, tracing(path)), third({ring}, 3, tracing(path));
    EXPECT_EQ(Calls(ring)(third, 20), gc3Success);
    EXPECT_EQ(Calls(other)(second, 20), gc3Success);
    EXPECT_EQ(Calls(other)(second, 20), gc3Success);
  }
  const Trace trace(path.name);
  const LoadedSpec ofRing(ring), ofOther(other);
  EXPECT_EQ(checkTrace(trace, {ofRing.program.get(), upTo(1)}), "");
  EXPECT_EQ(checkTrace(trace, {ofOther.program.get(), upTo(2), 3}), "");
  EXPECT_EQ(checkTrace(trace, {ofRing.program.get(), upTo(1), 5}), "");
}

TEST(Trace, TheEnvironmentNamesAFileWithTheProcess) {
  const ProgramSpec spec = ringAllReduce(2, true);
  TracePath path(std::to_string(getpid()));
  std::string name = path.name;
  name.replace(name.rfind(std::to_string(getpid())), std::to_string(getpid()).size(), "%p");
  {
    Group group({spec}, 2, GC3_HOST_CONFIG_INITIALIZER, settingsOf({{"GC3_TRACE", name}}));
    EXPECT_EQ(Calls(spec)(group, 4), gc3Success);
  }
  EXPECT_EQ(checkTrace(Trace(path.name), {LoadedSpec(spec).program.get(), upTo(1)}), "");
}

// The trace omits a call with more instructions than its memory can hold. The trace contains the smaller calls before
// and after that call.
TEST(Trace, HasBoundedMemory) {
  const ProgramSpec spec = ringAllReduce(3, true); // 15 instructions in each tile
  TracePath path;
  gc3HostConfig_t config = tracing(path);
  config.tileElements = 1;
  config.workers = 1;
  const size_t tooMany = 3 * (core::Timeline::mostInstructions / 15 + 1);
  testing::internal::CaptureStderr();
  {
    Group group({spec}, 3, config);
    for (size_t count : {size_t{9}, tooMany, size_t{9}})
      EXPECT_EQ(Calls(spec)(group, count), gc3Success);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "gc3: the trace '" + path.name +
                "' lacks 1 calls, and 0 instructions of other calls: the limit is 1048576 instructions of a group of "
                "communicators\n");
  const Trace trace(path.name);
  EXPECT_EQ(checkTrace(trace, {LoadedSpec(spec).program.get(), {1, 3}}), "");
  ASSERT_EQ(trace.find("i", "not recorded").size(), 1u);
  EXPECT_EQ(trace.find("i", "not recorded")[0].arguments.at("calls"), "1");
}

TEST(Trace, CallsAreRecordedCompletely) {
  const LoadedSpec spec(ringAllReduce(3, true));
  TracePath path;
  core::Timeline timeline(*trace::TraceFile::named(path.name), {0, 1, 2}, 40);
  testing::internal::CaptureStderr();
  for (uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_NE(timeline.begin(rank, {1, spec.program.get(), 1, 1}), nullptr);
    EXPECT_NE(timeline.begin(rank, {1, spec.program.get(), 1, 2}), nullptr) << "replaces the previous recording";
    EXPECT_EQ(timeline.begin(rank, {2, spec.program.get(), 1, 1}), nullptr);
    EXPECT_EQ(timeline.begin(rank, {3, spec.program.get(), 1, UINT64_MAX}), nullptr);
  }
  timeline.write();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("lacks 2 calls"), std::string::npos);
  EXPECT_EQ(Trace(path.name).find("X", spec.program->info().name()->str()).size(), 3u);
}

TEST(Trace, NamesOnlyTheRanksOfItsProcess) {
  const LoadedSpec spec(ringAllReduce(4, true));
  TracePath path;
  {
    core::Timeline timeline(*trace::TraceFile::named(path.name, {1, 4, 0}), {1, 3});
    for (const uint32_t rank : {1, 3})
      timeline.begin(rank, {1, spec.program.get(), 1, 1})->setEnd(trace::now());
  }
  const Trace trace(path.name);
  std::map<uint64_t, std::string> names;
  for (const TraceEvent &event : trace.find("M", "process_name"))
    names[event.process] = event.arguments.at("name");
  EXPECT_EQ(names, (std::map<uint64_t, std::string>{{1, "rank 1"}, {3, "rank 3"}}));
  std::vector<uint64_t> ofCalls;
  for (const TraceEvent &event : trace.find("X", spec.program->info().name()->str()))
    ofCalls.push_back(event.process);
  EXPECT_EQ(ofCalls, (std::vector<uint64_t>{1, 3}));
}

TEST(Trace, OfACallThatFails) {
  ProgramSpec spec{"stuck", "stuck"};
  Rank rank;
  rank.inputSlots = rank.outputSlots = 1;
  rank.blocks.resize(1);
  spec.ranks = {rank, rank};
  for (int32_t r : {0, 1}) // both receive first
    spec.ranks[static_cast<size_t>(r)].blocks[0] = {
        1 - r,
        1 - r,
        0,
        {{Opcode::Copy, in(0), out(0), 1, {}}, {Opcode::Recv, {}, out(0), 1, {}}, {Opcode::Send, in(0), {}, 1, {}}}};
  spec.outputs = {{{}}, {{}}};
  TracePath path;
  {
    Group group({spec}, 2, tracing(path));
    EXPECT_EQ(Calls(spec)(group, 1), gc3Deadlock);
  }
  const Trace trace(path.name);
  EXPECT_EQ(trace.problem, "");
  for (const TraceEvent &call : trace.find("X", "stuck")) {
    EXPECT_EQ(call.arguments.at("unfinished"), "1");
    EXPECT_EQ(call.arguments.at("missing"), "2");
  }
  EXPECT_EQ(trace.find("X", "stuck").size(), 2u);
  EXPECT_EQ(trace.find("X", "copy").size(), 2u);
}

TEST(Trace, FilesThatCannotBeWrittenFailNoCall) {
  const ProgramSpec spec = ringAllReduce(2, true);
  for (const char *name : {"/nonexistent/trace.json", "/dev/full"}) {
    gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
    config.trace = name;
    testing::internal::CaptureStderr();
    for (int i = 0; i < 2; ++i) {
      Group group({spec}, 2, config);
      EXPECT_EQ(Calls(spec)(group, 5), gc3Success);
    }
    const std::string logged = testing::internal::GetCapturedStderr();
    EXPECT_EQ(logged.find("gc3: can't write the trace '" + std::string(name) + "': "), 0u);
    EXPECT_EQ(std::count(logged.begin(), logged.end(), '\n'), 1) << "logged once: " << logged;
  }
}

// Events that do not fit on the disk are missing in the file. The file stays valid.
TEST(Trace, FullDisksLeaveWholeFiles) {
  const ProgramSpec spec = ringAllReduce(3, true);
  TracePath path;
  {
    Group group({spec}, 3, tracing(path));
    EXPECT_EQ(Calls(spec)(group, 5), gc3Success);
  }
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) {
    Group group({spec}, 3, tracing(path));
    EXPECT_EQ(Calls(spec)(group, 5), gc3Success);
    const rlimit small{static_cast<rlim_t>(path.size() + 100), before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  const std::string logged = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(logged.begin(), logged.end(), '\n'), 1) << logged;
  EXPECT_EQ(checkTrace(Trace(path.name), {LoadedSpec(spec).program.get(), upTo(1)}), "");
}

using TraceDeathTest = testing::Test;

// The process ends without destroying its communicators, while another thread makes calls. The trace must still be
// written.
TEST(TraceDeathTest, WritesWhenTheProcessEnds) {
  const ProgramSpec spec = ringAllReduce(2, true);
  const TracePath path;
  const auto leave = [&] {
    auto *idle = new Group({spec}, 2, tracing(path)), *busy = new Group({spec}, 2, tracing(path));
    const Calls call(spec);
    std::thread([&] {
      for (;;)
        call(*busy, 100);
    }).detach();
    for (int i = 0; i < 20; ++i)
      call(*idle, 4);
    std::exit(0);
  };
  EXPECT_EXIT(leave(), testing::ExitedWithCode(0), "");
  const Trace trace(path.name);
  EXPECT_EQ(checkTrace(trace, {LoadedSpec(spec).program.get(), upTo(20)}), "");
}
