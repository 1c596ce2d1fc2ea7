// SPDX-License-Identifier: Apache-2.0
// Tests that all ranks refuse the same programs, and that joins and calls report errors of ranks, NCCL and CUDA.
#include "CommSupport.h"
#include "Programs.h"

#include <climits>

using namespace gc3;
using namespace gc3::test;

namespace {

/// Makes a call on all ranks. Returns each rank's call with its state and outcome.
std::vector<comm::CallGroup::Call> callAll(CommWorld &world, const Loopback::Buffers &buffers) {
  std::vector<comm::CallGroup::Call> calls;
  for (size_t rank = 0; rank < world.comms.size(); ++rank)
    calls.push_back(world.part(rank, buffers.requests[rank]));
  comm::CallGroup::run(calls);
  return calls;
}

TEST(CommErrors, RecordsThatDiffer) {
  std::vector<comm::RankInfo> records(3);
  EXPECT_EQ(comm::disagreement(records), "");
  auto expect = [&](auto member, auto value, const std::string &text) {
    records[2].*member = value;
    EXPECT_EQ(comm::disagreement(records), text);
    records[2].*member = records[0].*member;
  };
  expect(&comm::RankInfo::canRunPrograms, 0u, "rank 2 can't run programs");
  expect(&comm::RankInfo::bundles, 1ull, "rank 2 has other bundles than rank 0");
  expect(&comm::RankInfo::slots, std::array<uint32_t, 3>{0, 0, 4}, "rank 2 has other FIFO slots than rank 0");
  expect(&comm::RankInfo::slotBytes, std::array<uint64_t, 3>{0, 4, 0}, "rank 2 has other FIFO slots than rank 0");
  expect(&comm::RankInfo::strictLL128, 1u, "rank 2 has another GC3_LL128 than rank 0");
  expect(&comm::RankInfo::direct, 1u, "rank 2 has another GC3_DIRECT than rank 0");
  expect(&comm::RankInfo::simple, 1u, "rank 2 has other options than rank 0");
  expect(&comm::RankInfo::timeout, 1u, "rank 2 has other options than rank 0");
  expect(&comm::RankInfo::allowUnproven, 1u, "rank 2 has other options than rank 0");
  expect(&comm::RankInfo::choice, core::ChoiceInfo{.programs = 1}, "rank 2 has another GC3_PROGRAM than rank 0");
  expect(&comm::RankInfo::choice, core::ChoiceInfo{.explorable = .5}, "rank 2 has another GC3_TUNE_BUDGET than rank 0");
  expect(&comm::RankInfo::choice, core::ChoiceInfo{.tuner = 1}, "rank 2 has a tuner, unlike rank 0");
  expect(&comm::RankInfo::choice, core::ChoiceInfo{.tune = 5}, "rank 2 has another GC3_TUNE than rank 0");
  expect(&comm::RankInfo::choice, core::ChoiceInfo{.name = 1},
         "rank 2 has another name of the communicator than rank 0, and GC3_PROGRAM depends on the name");
  expect(&comm::RankInfo::choice, core::ChoiceInfo{.nodes = 2},
         "rank 2 has another number of nodes in its config than rank 0");
  records[0].canRunPrograms = 0; // rank 0 is checked, too
  EXPECT_EQ(comm::disagreement(records), "rank 0 can't run programs");
}

/// The RankInfos of another version can have another size. So ranks first compare versions, and then gather RankInfos.
TEST(CommErrors, OtherVersions) {
  std::vector<comm::VersionHandshake> all(3);
  EXPECT_EQ(comm::versionMismatch(all), "");
  all[1].infoBytes += 8;
  EXPECT_EQ(comm::versionMismatch(all), "rank 1 has another build of gc3 than rank 0");
  all[1] = all[0];
  ++all[2].layout;
  EXPECT_EQ(comm::versionMismatch(all), "rank 2 has another build of gc3 than rank 0");
  all[0].version = 100;
  all[1].version = 20103;
  EXPECT_EQ(comm::versionMismatch(all), "rank 1 has version 2.1.3 of gc3, and rank 0 has 0.1.0");
}

/// Rank 2 behaves like a process with an older version of gc3.
TEST(CommErrors, ARankOfAnotherVersion) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  const std::vector<ncclapi::Comm> comms = nccl.make(3);
  std::thread other([&] {
    cuda::Cuda cuda = FakeCuda::table();
    const ncclapi::Nccl table = nccl.table();
    cuda.setDevice(2);
    comm::VersionHandshake older;
    older.version = 99;
    older.infoBytes = 64;
    comm::ChildCommunicator child(cuda, table, [] { return core::Outcome{}; });
    EXPECT_EQ(
        child.create(comms[2], 2, [&](ncclapi::Result &state) { return table.CommGetAsyncError(comms[2], &state); })
            .text,
        "");
    EXPECT_EQ(child.prepareGathers(3, sizeof older).text, "");
    cuda::Stream stream = nullptr;
    cuda.createStream(&stream);
    EXPECT_EQ(child.gatherEach(older, stream).outcome().text, "");
    cuda.destroyStream(stream);
    child.destroy();
  });
  const comm::ProgramTable::Files files{open({ringAllReduce(3, true)})};
  for (const core::Outcome &outcome : joinOutcomes(comms, {setupOf(nccl, files), setupOf(nccl, files)})) {
    EXPECT_EQ(outcome.code, gc3InvalidUsage);
    EXPECT_EQ(outcome.text, "rank 2 has version 0.0.99 of gc3, and rank 0 has 0.1.0");
  }
  other.join();
  EXPECT_EQ(nccl.leaks(), "");
}

TEST(CommErrors, DigestsTellBundlesApart) {
  const comm::ProgramTable::Files one{open({ringAllReduce(2, true)})}, same{open({ringAllReduce(2, true)})},
      other{open({ringAllReduce(2, false)})};
  EXPECT_EQ(comm::ProgramTable::digest(one), comm::ProgramTable::digest(same));
  EXPECT_NE(comm::ProgramTable::digest(one), comm::ProgramTable::digest(other));
  EXPECT_NE(comm::ProgramTable::digest(one), comm::ProgramTable::digest({one[0], one[0]}));
  EXPECT_NE(comm::ProgramTable::digest(one), comm::ProgramTable::digest({}));
}

TEST(CommErrors, RanksWithOtherBundlesOrOptions) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  const std::vector<ncclapi::Comm> comms = nccl.make(3);
  const comm::ProgramTable::Files files{open({ringAllReduce(3, true)})};
  std::vector<std::shared_ptr<comm::Setup>> setups;
  for (size_t rank = 0; rank < 3; ++rank)
    setups.push_back(setupOf(nccl, files));
  auto expect = [&](const std::string &text) {
    for (const core::Outcome &outcome : joinOutcomes(comms, setups))
      EXPECT_EQ(outcome.text, text);
  };
  expect("");
  setups[1]->files = {open({ringAllReduce(3, false)})};
  expect("rank 1 has other bundles than rank 0");
  setups[1]->files = files;
  setups[2]->options.tuning[1].slotBytes = 1024;
  expect("rank 2 has other FIFO slots than rank 0");
  setups[2]->options = smallOptions();
  setups[0]->options.timeoutMs = 1;
  expect("rank 1 has other options than rank 0");
  setups[0]->options.timeoutMs = 0;
  setups[1]->options.strictLL128 = true;
  expect("rank 1 has another GC3_LL128 than rank 0");
  setups[1]->options.strictLL128 = false;
  setups[2]->options.direct = false;
  expect("rank 2 has another GC3_DIRECT than rank 0");
  setups[2]->options.direct = true;
  setups[1]->options.tuning[0].threads = 64; // the number of threads may differ
  expect("");
  setups[2]->options.choice.programs = "allreduce:none";
  expect("rank 2 has another GC3_PROGRAM than rank 0");
  setups[2]->options.choice = {};
  setups[0]->options.choice.tuner = [](const gc3TunerCall_t *, void *) -> int { return gc3TunerBySize; };
  expect("rank 1 has no tuner, unlike rank 0");
  EXPECT_EQ(nccl.leaks(), "");
}

TEST(CommErrors, ARankThatCannotIsHeardOfByAll) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  ProgramSpec unproven = ringAllReduce(3, true);
  unproven.verified = 0;
  {
    CommWorld world(fake, nccl, {unproven});
    EXPECT_EQ(world.joinProblem().find("program 'ring3_aliased_1' was compiled without verification"), 0u);
    EXPECT_EQ(world.ranks[1]->refusal().code, gc3BundleUnproven);
  }
  const std::vector<ncclapi::Comm> comms = nccl.make(2);
  const comm::ProgramTable::Files files{open({ringAllReduce(2, true)})};
  std::vector<std::shared_ptr<comm::Setup>> both{setupOf(nccl, files), setupOf(nccl, {})};
  both[1]->problem = {gc3NotABundle, "no file"};
  const auto expect = [&](size_t able, const std::string &text) {
    const std::vector<core::Outcome> joined = joinOutcomes(comms, both);
    EXPECT_EQ(joined[able].text, "rank " + std::to_string(1 - able) + " can't run programs");
    EXPECT_EQ(joined[1 - able].text.substr(0, text.size()), text);
  };
  expect(0, "no file");
  both[1] = setupOf(nccl, files);
  both[0]->options.tuning[2].threads = 33;
  expect(1, "33 threads; a block has a multiple of 32, at most 512");
  both[0] = setupOf(nccl, files);
  both[0]->options.problem = {gc3InvalidArgument, "GC3_LL128 is 'no'"};
  expect(1, "GC3_LL128 is 'no'");
  both[0]->options.problem = {};
  both[1]->options.choice.programs = "rng";
  expect(0, "GC3_PROGRAM: no bundle has 'rng'");
  EXPECT_EQ(nccl.leaks(), "");
}

/// gc3 computes indices from the fields of the LSA team, so it must reject impossible values.
TEST(CommErrors, TeamsThatCannotBe) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  ncclapi::Nccl table = nccl.table();
  const comm::ProgramTable::Files files{open({ringAllReduce(2, true)})};
  const std::vector<ncclapi::Comm> comms = nccl.make(2);
  static ncclapi::Team replacement; // static, because functions in a table cannot capture it
  table.TeamLsa = [](ncclapi::Comm) { return replacement; };
  const std::vector<ncclapi::Team> unsound{
      {0, 0, 1}, {-1, 0, 1}, {1, 1, 1}, {2, -1, 1},      {2, 2, 1},
      {2, 1, 0}, {2, 0, 2},  {3, 0, 1}, {INT_MAX, 0, 1}, {INT_MAX, INT_MAX - 1, INT_MAX}};
  for (const ncclapi::Team &team : unsound) {
    replacement = team;
    const core::Outcome none;
    const auto setup =
        std::make_shared<comm::Setup>(comm::Setup{{FakeCuda::table(), table, nullptr}, files, none, smallOptions()});
    for (const core::Outcome &outcome : joinOutcomes(comms, {setup, setup}))
      EXPECT_EQ(outcome.text, "NCCL's LSA team is no part of its communicator")
          << team.ranks << ' ' << team.rank << ' ' << team.stride;
  }
  EXPECT_EQ(nccl.leaks(), "");
}

TEST(CommErrors, CommunicatorsWithoutWindows) {
  for (auto kind : {FakeNccl::Windows::Null, FakeNccl::Windows::Other})
    for (int version : {22809, ncclapi::devicePointerVersion}) {
      if (kind == FakeNccl::Windows::Other && version != 22809)
        continue;
      FakeCuda fake;
      FakeNccl nccl(fake);
      nccl.windows = kind;
      nccl.version = version;
      {
        CommWorld world(fake, nccl, {ringAllReduce(3, true)});
        ASSERT_EQ(world.joinProblem(), "");
        const Trial trial = world.trial(0, {});
        Loopback::Buffers buffers(fake, trial);
        for (int i = 0; i < 2; ++i) // the second time, no rank tries to load the program
          for (const comm::CallGroup::Call &call : callAll(world, buffers)) {
            EXPECT_TRUE(isRunByNccl(call));
            EXPECT_EQ(call.outcome.text, "program 'ring3_aliased_1' could not be loaded: this communicator has no "
                                         "symmetric windows");
          }
        EXPECT_LE(nccl.windowsMade, 3u);
      }
      EXPECT_EQ(nccl.leaks(), "");
    }
}

TEST(CommErrors, AnOldNcclOrNone) {
  ncclapi::Nccl nccl;
  EXPECT_EQ(ncclapi::Nccl::find([](const std::string &) -> void * { return nullptr; }, nccl).text, "no NCCL found");
  static ncclapi::signature::GetVersion *const versionOf[] = {[](int *version) {
                                                                *version = 22706;
                                                                return ncclapi::Result::Success;
                                                              },
                                                              [](int *version) {
                                                                *version = 22809;
                                                                return ncclapi::Result::Success;
                                                              }};
  static size_t which;
  const auto onlyVersion = [](const std::string &name) -> void * {
    return name == "GetVersion" ? reinterpret_cast<void *>(versionOf[which]) : nullptr;
  };
  which = 0;
  EXPECT_EQ(ncclapi::Nccl::find(onlyVersion, nccl).text,
            "the installed NCCL is version 22706; 22807 or later is required");
  which = 1;
  EXPECT_EQ(ncclapi::Nccl::find(onlyVersion, nccl).text, "the installed NCCL has no ncclAllGather");
}

/// A tuner can choose a different program on one rank. Then all ranks fail.
TEST(CommErrors, RanksThatLoadDifferentPrograms) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  CommWorld world(fake, nccl, {ringAllReduce(3, true), allToAll(3, 1)});
  const Trial first = world.trial(0, {}), second = world.trial(1, {});
  Loopback::Buffers ofFirst(fake, first), ofSecond(fake, second);
  std::vector<comm::CallGroup::Call> calls{world.part(0, ofFirst.requests[0]), world.part(1, ofSecond.requests[1]),
                                           world.part(2, ofFirst.requests[2])};
  comm::CallGroup::run(calls);
  const std::string ring = "program '" + world.names[0] + "'", other = "program '" + world.names[1] + "'",
                    why = ": they make different calls, or their tuners choose differently";
  EXPECT_EQ(calls[0].outcome.text, "rank 1 loads " + other + ", and rank 0 " + ring + why);
  EXPECT_EQ(calls[1].outcome.text, "rank 0 loads " + ring + ", and rank 1 " + other + why);
  EXPECT_EQ(calls[2].outcome.text, "rank 1 loads " + other + ", and rank 2 " + ring + why);
  for (size_t rank : {0, 1, 2}) {
    EXPECT_FALSE(isRunByNccl(calls[rank])) << "NCCL would go on with one or the other";
    EXPECT_EQ(world.ranks[rank]->status().error.code, gc3InvalidUsage);
  }
  EXPECT_EQ(nccl.registrations, 0u);
}

/// Simulates a capture that the application has invalidated. Later calls outside of the capture run.
TEST(CommErrors, ACaptureThatHasFailedIsNotTheEnd) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  {
    CommWorld world(fake, nccl, {ringAllReduce(3, true)});
    EXPECT_EQ(world.run(0, {.count = 30}), "");
    fake.captured = fake.captured.hasFailed = true;
    EXPECT_EQ(world.run(0, {.count = 30}), "the capture of the stream has failed");
    fake.captured = fake.captured.hasFailed = false;
    EXPECT_EQ(world.run(0, {.count = 30}), "");
  }
  EXPECT_EQ(nccl.leaks(), "");
}

/// If one rank's buffers are wrong, only that rank's call fails. Kernels of the other ranks wait, until the rank makes
/// a correct call.
TEST(CommErrors, ACallersMistakeIsNotTheEnd) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  {
    CommWorld world(fake, nccl, {ringAllReduce(3, true)});
    const Trial trial = world.trial(0, {.count = 30});
    Loopback::Buffers buffers(fake, trial);
    const void *send = std::exchange(buffers.requests[1].send, nullptr);
    const std::vector<comm::CallGroup::Call> calls = callAll(world, buffers);
    EXPECT_EQ(calls[1].outcome.text, "rank 1: the send buffer is null");
    EXPECT_EQ(calls[0].outcome.text, "");
    EXPECT_FALSE(fake.isIdle(world.streams[0]));
    buffers.requests[1].send = send;
    std::vector<comm::CallGroup::Call> again{world.part(1, buffers.requests[1])};
    comm::CallGroup::run(again);
    EXPECT_EQ(again[0].outcome.text, "");
    EXPECT_EQ(world.finish(trial, buffers), "");
  }
  EXPECT_EQ(nccl.leaks(), "");
}

} // namespace
