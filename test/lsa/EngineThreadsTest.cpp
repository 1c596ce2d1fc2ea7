// SPDX-License-Identifier: Apache-2.0
// One engine used by several threads: of a communicator whose ranks are theirs, and each with one of its own. For the
// thread sanitizer above all.
#include "LsaSupport.h"
#include "OneNcclAtATime.h"
#include "lsa/Engine.h"

#include <barrier>
#include <poll.h>
#include <thread>
#include <unistd.h>

using namespace gc3;
using namespace gc3::test;
using ncclapi::Collective;
using ncclapi::Result;

namespace {

/// Standard error, to be read while it is written.
class Told {
public:
  Told() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    from = ends[0];
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
  }
  ~Told() {
    dup2(before, STDERR_FILENO);
    close(before);
    close(from);
  }
  Told(const Told &) = delete;
  Told &operator=(const Told &) = delete;

  /// All that is told until there is such a text, or for a minute nothing.
  std::string until(const std::string &wanted) const {
    std::string all;
    char some[256];
    for (pollfd ready{from, POLLIN, 0}; all.find(wanted) == std::string::npos && poll(&ready, 1, 60'000) > 0;)
      all.append(some, static_cast<size_t>(std::max<ssize_t>(0, read(from, some, sizeof some))));
    return all;
  }

private:
  const int before = dup(STDERR_FILENO);
  int from = -1;
};

constexpr size_t threadCount = 3, pairSize = 2, rounds = 20, count = 50;

class LsaEngineThreads : public testing::Test {
protected:
  void SetUp() override {
    makeEngine(600'000);
    common = windows.make(threadCount);
    for (std::vector<ncclapi::Comm> &own : pairs)
      own = windows.make(pairSize);
  }
  void makeEngine(uint32_t timeoutMs) {
    const std::string bytes = buildBundle({ringAllReduce(threadCount, true), ringAllReduce(pairSize, true)});
    shim::Bundles bundles(1);
    ASSERT_TRUE(bundle::BundleFile::openMemory(bytes.data(), bytes.size(), bundles[0]).ok());
    cuda::Options options = smallOptions();
    options.timeoutMs = timeoutMs;
    engine = lsa::makeEngine({cuda, nccl}, std::move(bundles), options,
                             {[](const shim::CollectiveCall &) { return Result::InternalError; },
                              [](ncclapi::Comm) { return Result::InternalError; }});
  }
  void TearDown() override { EXPECT_EQ(windows.leaks(), leaks); }

  /// A rank that a thread has.
  struct Seat {
    ncclapi::Comm comm;
    std::shared_ptr<nccl::Attachment> attachment;
    float *buffer = nullptr;
    cuda::Stream stream = nullptr;
  };

  std::vector<Seat> attach(std::vector<nccl::Member> members) {
    const std::vector<nccl::Attached> attached = engine->attach(members);
    std::vector<Seat> seats;
    const OneAtATime now;
    for (size_t i = 0; i < members.size(); ++i) {
      EXPECT_EQ(attached[i].why, "");
      seats.push_back(
          {members[i].comm, attached[i].attachment, reinterpret_cast<float *>(fake.allocate(count * sizeof(float)))});
      seats.back().stream = fake.stream(members[i].rank);
    }
    return seats;
  }

  void leave(std::vector<Seat> &seats) {
    for (Seat &seat : seats) {
      seat.attachment.reset();
      const OneAtATime now;
      FakeCuda::table().destroyStream(seat.stream);
      fake.release(reinterpret_cast<std::byte *>(seat.buffer));
    }
  }

  static shim::CollectiveCall call(const Seat &seat) {
    return {Collective::AllReduce,
            seat.buffer,
            seat.buffer,
            count,
            ncclapi::DataType::Float32,
            ncclapi::RedOp::Sum,
            -1,
            seat.comm,
            reinterpret_cast<ncclapi::Stream>(seat.stream)};
  }

  static nccl::Work work(const Seat &seat) {
    return {seat.attachment.get(), call(seat), seat.attachment->serves(call(seat)).program};
  }

  /// An allreduce in place by these ranks, and others elsewhere; what their buffers have then.
  void reduce(const std::vector<Seat> &seats, float before, float after) {
    std::vector<nccl::Work> works;
    for (const Seat &seat : seats) {
      std::fill_n(seat.buffer, count, before);
      works.push_back(work(seat));
    }
    EXPECT_EQ(engine->run(works), Result::Success);
    for (const Seat &seat : seats) {
      while (!isIdle(seat.stream))
        std::this_thread::yield();
      EXPECT_EQ(std::vector<float>(seat.buffer, seat.buffer + count), std::vector<float>(count, after));
    }
  }
  bool isIdle(cuda::Stream stream) {
    const OneAtATime now;
    return fake.isIdle(stream);
  }

  bool isRevoked(ncclapi::Comm comm) {
    const OneAtATime now;
    return std::ranges::count(windows.revoked, comm) == 1;
  }

  std::string leaks;
  FakeCuda fake;
  FakeWindows windows{fake};
  const cuda::Cuda cuda = OneAtATime::cuda();
  const ncclapi::Nccl nccl = oneNcclAtATime(windows);
  std::unique_ptr<nccl::Engine> engine;
  std::vector<ncclapi::Comm> common;
  std::array<std::vector<ncclapi::Comm>, threadCount> pairs;
};

TEST_F(LsaEngineThreads, MakeUseAndLeaveCommunicatorsAtOnce) {
  std::array<nccl::Attachment *, threadCount> attached{};
  std::barrier<> all(threadCount);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < threadCount; ++t)
    threads.emplace_back([&, t] {
      std::vector<Seat> own = attach({{pairs[t][0], pairSize, 0}, {pairs[t][1], pairSize, 1}});
      std::vector<Seat> shared = attach({{common[t], threadCount, static_cast<int>(t)}});
      attached[t] = shared[0].attachment.get();
      all.arrive_and_wait();
      const nccl::Attachment &other = *attached[(t + 1) % threadCount];
      for (const nccl::Attachment *asked :
           std::array<const nccl::Attachment *, 2>{attached[t], &other}) // which nobody has before
        EXPECT_EQ(asked->serves(call(shared[0])).why, "ring3_aliased_1");
      for (size_t round = 0; round < rounds; ++round) {
        reduce(own, 2, 4);
        reduce(shared, static_cast<float>(t + round), static_cast<float>(3 + 3 * round));
        EXPECT_EQ(other.asyncError(), Result::Success);
        EXPECT_EQ(other.serves(call(shared[0])).why, "ring3_aliased_1");
      }
      all.arrive_and_wait();
      leave(shared);
      leave(own);
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// One thread's calls on two communicators are in a group; another one makes them one by one, in the same order.
TEST_F(LsaEngineThreads, GroupsMeetCallsOneByOne) {
  const auto use = [&](int rank, bool inGroup) {
    std::vector<Seat> seats;
    for (size_t pair : {0, 1})
      seats.push_back(attach({{pairs[pair][static_cast<size_t>(rank)], pairSize, rank}})[0]);
    if (inGroup)
      reduce(seats, 2, 4);
    else
      for (const Seat &seat : seats)
        reduce({seat}, 2, 4);
    return seats;
  };
  std::vector<Seat> first, second;
  std::thread other([&] { second = use(1, false); });
  first = use(0, true);
  other.join();
  leave(first);
  leave(second);
}

/// Behind that no rank waits for another one to make its call.
TEST_F(LsaEngineThreads, LoadsForCallsToCome) {
  std::array<std::vector<Seat>, pairSize> seats;
  const auto load = [&](size_t rank) {
    seats[rank] = attach({{pairs[0][rank], pairSize, static_cast<int>(rank)}});
    engine->load(work(seats[rank][0]));
  };
  std::thread other([&] { load(1); });
  load(0);
  other.join();
  for (const std::vector<Seat> &own : seats) {
    std::fill_n(own[0].buffer, count, 3.0f);
    const nccl::Work call = work(own[0]);
    EXPECT_EQ(engine->run({&call, 1}), Result::Success);
  }
  for (std::vector<Seat> &own : seats) {
    while (!isIdle(own[0].stream))
      std::this_thread::yield();
    EXPECT_EQ(std::vector<float>(own[0].buffer, own[0].buffer + count), std::vector<float>(count, 6));
    leave(own);
  }
}

/// What ranks tell each other says for which one it is.
TEST_F(LsaEngineThreads, TwoOverOneOfNccls) {
  const std::vector<nccl::Member> members{{pairs[0][0], pairSize, 0}, {pairs[0][1], pairSize, 1}};
  std::vector<Seat> first = attach(members), second = attach(members);
  const auto run = [&](const Seat &seat) {
    const nccl::Work call = work(seat);
    EXPECT_EQ(engine->run({&call, 1}), Result::InvalidUsage);
  };
  std::thread other([&] { run(second[1]); });
  run(first[0]);
  other.join();
  leave(first);
  leave(second);
}

/// The other rank never comes.
TEST_F(LsaEngineThreads, AnAbortEndsTheJoining) {
  const auto aborted = std::make_shared<std::atomic<bool>>(false);
  fake.whileAsked = [&] { *aborted = true; };
  const nccl::Member alone{pairs[0][0], pairSize, 0, aborted};
  std::vector<nccl::Attached> attached = engine->attach({&alone, 1});
  fake.whileAsked = nullptr;
  ASSERT_NE(attached[0].attachment, nullptr) << "the other one may come yet";
  EXPECT_EQ(attached[0].why, "the communicator was aborted");
  EXPECT_EQ(attached[0].attachment->asyncError(), Result::InvalidUsage);
  leaks = "1 pieces of memory 1 pieces of pinned memory 1 streams "; // as documented
}

TEST_F(LsaEngineThreads, AnAbortEndsTheDraining) {
  std::vector<Seat> own = attach({{pairs[0][0], pairSize, 0}, {pairs[0][1], pairSize, 1}});
  reduce(own, 2, 4);
  for (const Seat &seat : own)
    seat.attachment->drain();
  const nccl::Work alone = work(own[0]);
  EXPECT_EQ(engine->run({&alone, 1}), Result::Success);
  std::thread aborting([&] {
    for (const Seat &seat : own)
      seat.attachment->abort();
  });
  own[0].attachment->drain();
  aborting.join();
  EXPECT_EQ(own[0].attachment->asyncError(), Result::InvalidUsage);
  leave(own);
  leaks = "6 pieces of memory 4 pieces of pinned memory 2 pieces of symmetric memory 2 windows "; // as documented
}

/// While nobody asks, and told.
TEST_F(LsaEngineThreads, AKernelThatHangsIsStopped) {
  makeEngine(2000);
  std::vector<Seat> own = attach({{pairs[0][0], pairSize, 0}, {pairs[0][1], pairSize, 1}});
  reduce(own, 2, 4);
  const nccl::Work alone{own[0].attachment.get(), call(own[0]), 0};
  const Told told;
  EXPECT_EQ(engine->run({&alone, 1}), Result::Success);
  const std::string story =
      "gc3: rank 0: a kernel has not ended in 2000 ms and was stopped; program 'ring2_aliased_1':\n"
      "  rank 0 thread block 0 step 1 (rrcs, tile 0) waits for a message from rank 1 on channel "
      "0\n";
  const std::string all = told.until(story);
  EXPECT_NE(all.find(story), std::string::npos) << all;
  EXPECT_TRUE(isIdle(own[0].stream));
  EXPECT_TRUE(isRevoked(own[0].comm));
  leave(own);
}

/// As a watchdog of the application's does.
TEST_F(LsaEngineThreads, OneAbortsWhatAnotherUses) {
  std::vector<Seat> own = attach({{pairs[0][0], pairSize, 0}, {pairs[0][1], pairSize, 1}});
  reduce(own, 2, 4);
  std::thread aborting([&] {
    for (const Seat &seat : own)
      seat.attachment->abort();
  });
  for (const Seat &seat : own) {
    Result result = Result::Success;
    while (result == Result::Success)
      result = seat.attachment->asyncError();
    EXPECT_EQ(result, Result::InvalidUsage);
  }
  aborting.join();
  leave(own);
  leaks = "6 pieces of memory 4 pieces of pinned memory 2 pieces of symmetric memory 2 windows "; // as documented
}

} // namespace
