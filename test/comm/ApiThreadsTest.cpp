// SPDX-License-Identifier: Apache-2.0
// Tests the C API when one thread aborts, destroys or queries a communicator while another thread is in a call on it.
#include "ApiSupport.h"

#include <atomic>
#include <thread>

using namespace gc3;
using namespace gc3::test;

namespace {

class NcclApiThreads : public ApiTest {
protected:
  size_t gathersOf(int device) const {
    const std::vector<std::string> calls = fake.callsOf(device);
    return static_cast<size_t>(std::count(calls.begin(), calls.end(), "NCCL AllGather"));
  }
  gc3Result_t allReduceOn(gc3Comm_t comm, size_t rank) {
    return gc3AllReduce(buffers[rank], buffers[rank], count, gc3Float32, gc3Sum, comm, streams[rank]);
  }
  /// Makes a call on rank 0, which waits for rank 1 to load the program, and aborts rank 0. Returns the call's error
  /// text.
  std::string textOfAborted(bool inGroup) {
    const gc3Comm_t comm = std::exchange(comms[0], nullptr);
    const size_t gathers = gathersOf(0);
    std::string text;
    std::thread caller([&] {
      if (inGroup)
        gc3GroupStart();
      gc3Result_t result = allReduceOn(comm, 0);
      if (inGroup)
        result = gc3GroupEnd();
      EXPECT_EQ(result, gc3InvalidUsage);
      text = gc3GetLastError(nullptr);
    });
    awaitThat([&] { return gathersOf(0) > gathers; });
    EXPECT_EQ(gc3CommAbort(comm), gc3Success);
    caller.join();
    return text;
  }
};

TEST_F(NcclApiThreads, AbortEndsACallThatLoads) {
  for (bool inGroup : {false, true}) {
    make({ringAllReduce(2, true)});
    EXPECT_EQ(textOfAborted(inGroup), "the communicator was aborted");
    EXPECT_EQ(gc3CommDestroy(std::exchange(comms[1], nullptr)), gc3Success);
  }
}

/// Rank 1 has an NCCL communicator, but does not call gc3CommInit, so rank 0 waits in its join. The application has no
/// handle for gc3CommAbort before gc3CommInit returns. So the test calls Communicator::abort().
TEST_F(NcclApiThreads, AbortEndsAJoin) {
  load({ringAllReduce(2, true)});
  prepare(2, false);
  const auto made = api::NcclBackend::create(ncclComms[0], bundle->file, smallOptions());
  ASSERT_TRUE(made.ok());
  std::thread caller([&] {
    const api::NcclBackend::Init init{comms.data(), ncclComms[0], *made};
    const core::Outcome outcome = api::NcclBackend::join({&init, 1});
    EXPECT_EQ(outcome.text, "the communicator was aborted");
  });
  awaitThat([&] {
    const std::vector<std::string> calls = fake.callsOf(0);
    return std::find(calls.begin(), calls.end(), "NCCL CommSplit") != calls.end();
  });
  (*made)->abort();
  caller.join();
  EXPECT_EQ(comms[0], nullptr);
  for (ncclapi::Comm comm : ncclComms)
    callNccl<ncclapi::signature::CommAbort>("CommAbort", comm);
}

/// Each rank makes a group of calls on its own thread. The abort can occur at any point of the group.
TEST_F(NcclApiThreads, AbortWhileGroupsRun) {
  make({ringAllReduce(2, true)});
  ASSERT_EQ(allReduceAll(), gc3Success);
  const std::vector<gc3Comm_t> all = std::exchange(comms, {});
  std::vector<std::thread> callers;
  std::atomic<uint32_t> noted{0};
  for (size_t rank : {0, 1})
    callers.emplace_back([&, rank] {
      gc3GroupStart();
      for (int call = 0; call < 100; ++call)
        EXPECT_EQ(allReduceOn(all[rank], rank), gc3Success);
      ++noted;
      const gc3Result_t result = gc3GroupEnd();
      EXPECT_TRUE(result == gc3Success || gc3GetLastError(nullptr) == std::string("the communicator was aborted"));
    });
  awaitThat([&] { return noted == 2; });
  for (gc3Comm_t comm : all)
    EXPECT_EQ(gc3CommAbort(comm), gc3Success);
  for (std::thread &caller : callers)
    caller.join();
}

/// A thread that only queries a rank's state never has to release the rank.
TEST_F(NcclApiThreads, QueriesWhileAnotherRankIsDestroyed) {
  make({ringAllReduce(2, true)});
  ASSERT_EQ(allReduceAll(), gc3Success);
  std::atomic<bool> isOver{false};
  std::atomic<uint64_t> queries{0};
  std::thread querying([&] {
    while (!isOver) {
      EXPECT_EQ(asyncError(comms[1]), gc3Success);
      EXPECT_STREQ(gc3GetLastError(comms[1]), "");
      ++queries;
    }
  });
  EXPECT_EQ(allReduceOn(comms[0], 0), gc3Success);
  EXPECT_EQ(allReduceOn(comms[1], 1), gc3Success);
  EXPECT_EQ(gc3CommDestroy(std::exchange(comms[0], nullptr)), gc3Success);
  const uint64_t before = queries;
  awaitThat([&] { return queries > before; });
  isOver = true;
  querying.join();
}

/// gc3CommAbort returns although the executor thread of the rank is inside a CUDA call.
TEST_F(NcclApiThreads, AbortDoesNotWaitForCuda) {
  make({ringAllReduce(2, true)});
  ASSERT_EQ(allReduceAll(), gc3Success);
  std::atomic<bool> waits{false}, isAborted{false};
  fake.beforeCalls([&](int device, const std::string &name, uint64_t) {
    if (device != 0 || name != "CUDA query" || isAborted)
      return;
    waits = true;
    awaitThat([&] { return isAborted.load(); });
  });
  EXPECT_EQ(allReduce(0), gc3Success); // its kernel waits for rank 1
  awaitThat([&] { return waits.load(); });
  for (gc3Comm_t &comm : comms)
    EXPECT_EQ(gc3CommAbort(std::exchange(comm, nullptr)), gc3Success);
  isAborted = true;
  awaitThat([&] { return nccl.children().empty(); }); // then no thread is in the hook
}

/// The release uses only the rank's own device: the executor thread selects it, because a new thread starts on device
/// 0.
TEST_F(NcclApiThreads, AnAbortTouchesNoOtherGpu) {
  make({ringAllReduce(2, true)});
  ASSERT_EQ(allReduceAll(), gc3Success);
  const std::vector<std::string> before = fake.callsOf(0);
  const std::array<size_t, 3> taken = fake.allocated(0);
  EXPECT_EQ(gc3CommAbort(std::exchange(comms[1], nullptr)), gc3Success);
  awaitThat([&] { return nccl.children().size() == 1; });
  EXPECT_EQ(fake.callsOf(0), before);
  EXPECT_EQ(fake.allocated(0), taken);
}

/// gc3CommAbort does not wait for kernels. Only the executor thread waits for them.
TEST_F(NcclApiThreads, AbortsWithKernels) {
  make({ringAllReduce(2, true)});
  ASSERT_EQ(allReduceAll(), gc3Success);
  nccl.abortWaits = true;
  EXPECT_EQ(allReduce(1), gc3Success);
  std::vector<std::thread> threads;
  for (gc3Comm_t &comm : comms)
    threads.emplace_back([&comm] { EXPECT_EQ(gc3CommAbort(std::exchange(comm, nullptr)), gc3Success); });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
