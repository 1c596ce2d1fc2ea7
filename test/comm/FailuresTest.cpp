// SPDX-License-Identifier: Apache-2.0
// One test makes each CUDA and NCCL call on rank 1's GPU fail, one in each run. Another test aborts rank 1 at each of
// these calls. No thread hangs, and everything is released. The calls on rank 0's GPU have no fixed order, because all
// threads start on that GPU.
#include "CommSupport.h"
#include "Sweep.h"

#include <map>

using namespace gc3;
using namespace gc3::test;
using comm::Communicator;
using comm::Phase;

namespace {

/// Two ranks that join, make two calls, and end. If a rank has an error, its thread aborts the other rank, which could
/// wait forever for the failed rank.
class Life {
public:
  explicit Life(FakeCuda &cuda, FakeNccl &fakeNccl) : fake(cuda), nccl(fakeNccl) {
    handles = nccl.make(2);
    file = open({ringAllReduce(2, true)});
    for (size_t rank = 0; rank < 2; ++rank) {
      ranks.push_back(std::make_shared<Communicator>(setupOf(nccl, {file}), handles[rank], comm::WaitLimits{0, 0}));
      comm::Registry::ofProcess().add(ranks.back());
      streams.push_back(fake.stream(static_cast<int>(rank)));
      buffers.push_back(reinterpret_cast<float *>(fake.allocate(count * sizeof(float))));
    }
  }
  ~Life() {
    for (cuda::Stream stream : streams)
      FakeCuda::table().destroyStream(stream);
    for (float *buffer : buffers)
      fake.release(reinterpret_cast<std::byte *>(buffer));
  }
  Life(const Life &) = delete;
  Life &operator=(const Life &) = delete;

  /// Runs both ranks. Returns the outcome of rank 1.
  std::string run() {
    std::thread other([this] {
      live(0);
      if (!ranks[0]->status().error.ok())
        abort(ranks[1], handles[1]);
    });
    const std::string outcome = live(1);
    if (!outcome.empty() && outcome.find("declined") != 0) // then rank 0 falls back, too
      abort(ranks[0], handles[0]);
    other.join();
    awaitThat([this] {
      if (!ranks[1]->status().error.ok()) // a kernel of rank 0 can wait for rank 1
        abort(ranks[0]);
      for (const auto &rank : ranks) {
        rank->finalize(false);
        rank->release();
      }
      return ranks[0]->isClosed() && ranks[1]->isClosed();
    });
    comm::Registry::ofProcess().sweep();
    return outcome;
  }

  std::vector<ncclapi::Comm> handles;
  std::vector<std::shared_ptr<Communicator>> ranks;

private:
  std::string live(size_t rank) {
    Communicator &own = *ranks[rank];
    own.beginJoin();
    if (const core::Outcome joined = own.awaitJoin(); !joined.ok())
      return "joining: " + describe(joined);
    if (const core::Outcome refusal = own.refusal(); !refusal.ok())
      return "left to NCCL: " + describe(refusal);
    for (int i = 0; i < 2; ++i) {
      comm::CallGroup::Call call{ranks[rank], {}, comm::CallGroup::Call::State::Program};
      call.request.name = "allreduce";
      call.request.send = call.request.recv = buffers[rank];
      call.request.count = count;
      call.request.stream = streams[rank];
      comm::CallGroup::run({&call, 1});
      if (!call.outcome.ok())
        return (isRunByNccl(call) ? "declined: " : "call: ") + describe(call.outcome);
    }
    return {};
  }

  static constexpr size_t count = 10;
  FakeCuda &fake;
  FakeNccl &nccl;
  std::shared_ptr<const bundle::BundleFile> file;
  std::vector<cuda::Stream> streams;
  std::vector<float *> buffers;
};

/// Returns the calls on the GPU of rank 1 in a run without failures.
std::vector<std::string> callsOfRank1() {
  FakeCuda fake;
  fake.waits = true;
  FakeNccl nccl(fake);
  Life life(fake, nccl);
  EXPECT_EQ(life.run(), "");
  return fake.callsOf(1);
}

TEST(CommFailures, EachCallOfARankFails) {
  const std::vector<std::string> calls = callsOfRank1();
  ASSERT_GT(calls.size(), 50u);
  std::map<std::string, std::set<std::string>> outcomes; // names of the failing functions, by kind of outcome
  for (uint64_t index = 1; index <= calls.size(); ++index) {
    SCOPED_TRACE(std::to_string(index) + ": " + calls[index - 1]);
    FakeCuda fake;
    fake.waits = true;
    FakeNccl nccl(fake);
    nccl.failsLate = true; // otherwise NCCL calls of rank 0 would wait for the failing call
    {
      Life life(fake, nccl);
      fake.failing = {1, index};
      const std::string outcome = life.run();
      outcomes[outcome.substr(0, outcome.find(':'))].insert(calls[index - 1]);
      EXPECT_EQ(life.ranks[1]->status().phase, Phase::Closed);
    }
    EXPECT_EQ(nccl.leaks(), "");
  }
  std::string table;
  for (const auto &[how, names] : outcomes)
    table += "\n" + how + " <- " + together(names);
  EXPECT_EQ(table, R"(
call <- CUDA await / CUDA copy / CUDA launch / CUDA record / CUDA setDevice / CUDA synchronize / NCCL AllGather / NCCL CommWindowRegister
declined <- CUDA allocate / CUDA clear / CUDA copy / CUDA isDeviceMemory / CUDA occupancy / CUDA synchronize / NCCL MemAlloc
joining <- CUDA allocate / CUDA allocatePinned / CUDA attribute / CUDA await / CUDA copy / CUDA createEvent / CUDA createStream / CUDA getDevice / CUDA record / CUDA setDevice / CUDA synchronize / NCCL AllGather / NCCL CommCount / NCCL CommCuDevice / NCCL CommUserRank
left to NCCL <- CUDA busId / CUDA occupancy / NCCL CommSplit)");
}

TEST(CommFailures, EachCallOfARankIsTheMomentOfAnAbort) {
  const std::vector<std::string> calls = callsOfRank1();
  for (uint64_t index = 1; index <= calls.size(); ++index) {
    SCOPED_TRACE(std::to_string(index) + ": " + calls[index - 1]);
    FakeCuda fake;
    fake.waits = true;
    FakeNccl nccl(fake);
    {
      Life life(fake, nccl);
      std::thread aborting;
      fake.beforeCalls([&](int device, const std::string &, uint64_t number) {
        if (device == 1 && number == index && !aborting.joinable())
          aborting = std::thread([&] { abort(life.ranks[1], life.handles[1]); });
      });
      life.run();
      if (aborting.joinable())
        aborting.join();
      fake.beforeCalls(nullptr);
      EXPECT_EQ(life.ranks[1]->status().phase, Phase::Closed);
    }
    EXPECT_EQ(nccl.leaks(), "");
  }
}

/// If a CUDA or NCCL call that polls returns an error, the rank fails, too.
TEST(CommFailures, PollsFail) {
  // The first two NCCL polls query the parent. This test skips them, because after an error of the parent gc3 does not
  // free the child (docs/lifetime.md).
  for (const auto &[name, first] : {std::pair<std::string, uint64_t>("CUDA query", 1), {"NCCL CommGetAsyncError", 3}})
    for (uint64_t index = first; index <= 12; ++index) {
      SCOPED_TRACE(name + " " + std::to_string(index));
      FakeCuda fake;
      fake.waits = true;
      FakeNccl nccl(fake);
      {
        Life life(fake, nccl);
        fake.failPoll = {1, name, index};
        life.run();
        EXPECT_EQ(life.ranks[1]->status().phase, Phase::Closed);
      }
      EXPECT_EQ(nccl.leaks(), "");
    }
}

} // namespace
