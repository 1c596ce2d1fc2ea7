// SPDX-License-Identifier: Apache-2.0
// One engine used by several threads: of a communicator whose ranks are theirs, and each with one of its own. For the
// thread sanitizer above all.
#include "LsaSupport.h"
#include "OneNcclAtATime.h"
#include "lsa/Engine.h"

#include <barrier>
#include <thread>

using namespace gc3;
using namespace gc3::test;
using nccl::Collective;
using nccl::Result;

namespace {

constexpr size_t threadCount = 3, pairSize = 2, rounds = 20, count = 50;

class LsaEngineThreads : public testing::Test {
protected:
  void SetUp() override {
    const std::string bytes = buildBundle({ringAllReduce(threadCount, true), ringAllReduce(pairSize, true)});
    nccl::Bundles bundles(1);
    ASSERT_TRUE(bundle::BundleFile::openMemory(bytes.data(), bytes.size(), bundles[0]).ok());
    cuda::Options options = smallOptions();
    options.timeoutMs = 600'000;
    engine = lsa::makeEngine(
        {cuda, nccl}, std::move(bundles), options,
        {[](const nccl::Call &) { return Result::InternalError; }, [](nccl::Comm) { return Result::InternalError; }});
    common = windows.make(threadCount);
    for (std::vector<nccl::Comm> &own : pairs)
      own = windows.make(pairSize);
  }
  void TearDown() override { EXPECT_EQ(windows.leaks(), leaks); }

  /// A rank that a thread has.
  struct Seat {
    nccl::Comm comm;
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

  static nccl::Call call(const Seat &seat) {
    return {Collective::AllReduce,
            seat.buffer,
            seat.buffer,
            count,
            nccl::DataType::Float32,
            nccl::RedOp::Sum,
            -1,
            seat.comm,
            reinterpret_cast<nccl::Stream>(seat.stream)};
  }

  /// An allreduce in place by these ranks, and others elsewhere; what their buffers have then.
  void reduce(const std::vector<Seat> &seats, float before, float after) {
    std::vector<nccl::Work> works;
    for (const Seat &seat : seats) {
      std::fill_n(seat.buffer, count, before);
      works.push_back({seat.attachment.get(), call(seat), seat.attachment->serves(call(seat)).program});
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

  std::string leaks;
  FakeCuda fake;
  FakeWindows windows{fake};
  const cuda::Cuda cuda = OneAtATime::cuda();
  const lsa::Nccl nccl = oneNcclAtATime(windows);
  std::unique_ptr<nccl::Engine> engine;
  std::vector<nccl::Comm> common;
  std::array<std::vector<nccl::Comm>, threadCount> pairs;
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
