// SPDX-License-Identifier: Apache-2.0
// Tests the C API over NCCL communicators: the results of calls, and the errors of calls that fail.
#include "ApiSupport.h"

#include <algorithm>
#include <array>
#include <cstddef>

using namespace gc3;
using namespace gc3::test;

namespace {

class NcclApi : public ApiTest {};

TEST_F(NcclApi, CallsInGroupsAndAlone) {
  make({ringAllReduce(3, true), shiftReversed(3, 2)});
  int number = 0;
  EXPECT_EQ(gc3CommCount(comms[1], &number), gc3Success);
  EXPECT_EQ(number, 3);
  EXPECT_EQ(gc3CommUserRank(comms[1], &number), gc3Success);
  EXPECT_EQ(number, 1);
  const char *program = nullptr;
  EXPECT_EQ(gc3SelectProgram(comms[2], "allreduce", count, gc3Float32, -1, &program), gc3Success);
  EXPECT_STREQ(program, "ring3_aliased_1");
  EXPECT_EQ(allReduceAll(), gc3Success) << gc3GetLastError(nullptr);
  for (size_t rank : {2, 0, 1}) // one call after the other: the program is loaded, so no call waits for other ranks
    EXPECT_EQ(allReduce(rank), gc3Success);
  expectAll(18);
  for (gc3Comm_t comm : comms)
    EXPECT_EQ(asyncError(comm), gc3Success);
}

/// Each rank makes its calls on its own thread and without a group.
TEST_F(NcclApi, OneThreadForEachRank) {
  load({ringAllReduce(3, true)});
  prepare(3);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      const gc3GpuConfig_t config = smallConfig();
      EXPECT_EQ(gc3CommInit(&comms[rank], bundle, ncclComms[rank], &config), gc3Success);
      EXPECT_EQ(allReduce(rank), gc3Success);
      EXPECT_EQ(allReduce(rank), gc3Success);
      EXPECT_EQ(gc3CommDestroy(std::exchange(comms[rank], nullptr)), gc3Success);
    });
  for (std::thread &thread : threads)
    thread.join();
  expectAll(18);
}

/// Each rank has its own scalar in device memory. A call reads the scalar when it runs, not when the operation is
/// created.
TEST_F(NcclApi, ReductionsOfTheUser) {
  make({ringAllReduce(3, false)});
  auto *scalars = reinterpret_cast<float *>(fake.allocate(3 * sizeof(float)));
  gc3GroupStart();
  for (size_t rank = 0; rank < 3; ++rank) {
    gc3RedOp_t op = gc3Sum;
    EXPECT_EQ(gc3RedOpCreatePreMulSum(&op, &scalars[rank], gc3Float32, gc3ScalarDevice, comms[rank]), gc3Success);
    EXPECT_EQ(allReduce(rank, op), gc3Success);
    EXPECT_EQ(gc3RedOpDestroy(op, comms[rank]), gc3Success);
    scalars[rank] = static_cast<float>(10 * rank);
  }
  EXPECT_EQ(gc3GroupEnd(), gc3Success) << gc3GetLastError(nullptr);
  expectAll(80);
  gc3RedOp_t op = gc3Sum;
  ASSERT_EQ(gc3RedOpCreatePreMulSum(&op, scalars, gc3Float32, gc3ScalarDevice, comms[0]), gc3Success);
  EXPECT_EQ(gc3AllReduce(buffers[0], buffers[0], 1, gc3Float64, op, comms[0], streams[0]), gc3InvalidArgument);
  EXPECT_STREQ(gc3GetLastError(comms[0]),
               "rank 0: the reduction was created for float, but the call has elements of type double");
  fake.release(reinterpret_cast<std::byte *>(scalars));
}

TEST_F(NcclApi, CustomCollectives) {
  make({shiftReversed(3, 2)});
  std::vector<float *> outputs;
  gc3GroupStart();
  for (size_t rank = 0; rank < 3; ++rank) {
    outputs.push_back(reinterpret_cast<float *>(fake.allocate(2 * count * sizeof(float))));
    EXPECT_EQ(gc3RunCollective(comms[rank], "shift_reversed", buffers[rank], outputs[rank], count, gc3Float32, gc3Sum,
                               streams[rank]),
              gc3Success);
  }
  EXPECT_EQ(gc3GroupEnd(), gc3Success) << gc3GetLastError(nullptr);
  for (size_t rank : {1, 2})
    EXPECT_EQ(outputs[rank][0], static_cast<float>(rank));
  for (float *output : outputs)
    fake.release(reinterpret_cast<std::byte *>(output));
}

TEST_F(NcclApi, UsersChooseThePrograms) {
  gc3GpuConfig_t config = smallConfig();
  config.tuner = [](const gc3TunerCall_t *call, void *) { return call->count == count ? 1 : 7; };
  make({ringAllReduce(2, true), plainRingAllReduce(2)}, config);
  const char *program = nullptr;
  EXPECT_EQ(gc3SelectProgram(comms[1], "allreduce", count, gc3Float32, -1, &program), gc3Success);
  EXPECT_EQ(program, plainRingAllReduce(2).name);
  EXPECT_EQ(allReduceAll(), gc3Success) << gc3GetLastError(nullptr);
  expectAll(3);
  EXPECT_EQ(gc3SelectProgram(comms[1], "allreduce", 1, gc3Float32, -1, &program), gc3InvalidUsage);
  EXPECT_STREQ(gc3GetLastError(comms[1]),
               "the tuner returned 7 for 'allreduce' of 1 elements, but it can choose from 2 programs");
}

/// gc3SelectProgram returns the same error for a refused program as the call.
TEST_F(NcclApi, RefusedProgramsAreNotSelected) {
  gc3GpuConfig_t config = smallConfig();
  config.ll128 = gc3LL128Refuse;
  fake.nvlink = false;
  make({under(kernel::Protocol::LL128, ringAllReduce(2, true))}, config);
  const char *program = nullptr;
  EXPECT_EQ(gc3SelectProgram(comms[1], "allreduce", count, gc3Float32, -1, &program), gc3InvalidUsage);
  const std::string why = gc3GetLastError(comms[1]);
  EXPECT_EQ(why,
            "program 'ring2_aliased_1_2': ranks 0 and 1, which it connects, have no link that keeps lines of LL128 "
            "whole, and GC3_LL128 refuses another protocol");
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(allReduceAll(), gc3InvalidUsage);
  EXPECT_EQ(gc3GetLastError(comms[0]), why);
}

TEST_F(NcclApi, CallsThatAreRefused) {
  make({ringAllReduce(2, true)});
  EXPECT_EQ(gc3AllReduce(buffers[0], buffers[0], count, static_cast<gc3DataType_t>(99), gc3Sum, comms[0], streams[0]),
            gc3InvalidArgument);
  EXPECT_STREQ(gc3GetLastError(comms[0]), "rank 0: unknown data type 99");
  EXPECT_EQ(gc3AllGather(nullptr, nullptr, count, gc3Float32, comms[0], streams[0]), gc3NoProgram);
  EXPECT_EQ(gc3AllGather(nullptr, nullptr, 0, gc3Float32, comms[0], streams[0]), gc3Success);
  EXPECT_EQ(fake.launches, 0u);
  EXPECT_EQ(allReduceAll(), gc3Success) << "a refused call leaves the communicator as it was";
}

/// If one rank can't load a program, no rank loads it.
TEST_F(NcclApi, ProgramsThatCanNotBeLoaded) {
  make({ringAllReduce(2, true)});
  failNext(1, "NCCL MemAlloc");
  EXPECT_EQ(allReduceAll(), gc3SystemError);
  const std::string begin = "program 'ring2_aliased_1' could not be loaded: ";
  EXPECT_EQ(gc3GetLastError(comms[0]),
            begin + "rank 1 could not load it: allocating 4352 bytes of symmetric memory: NCCL error 2");
  EXPECT_EQ(gc3GetLastError(comms[1]), begin + "allocating 4352 bytes of symmetric memory: NCCL error 2");
  const char *program = nullptr;
  for (gc3Comm_t comm : comms) {
    EXPECT_EQ(gc3SelectProgram(comm, "allreduce", count, gc3Float32, -1, &program), gc3SystemError);
    EXPECT_EQ(asyncError(comm), gc3Success);
  }
  EXPECT_EQ(fake.launches, 0u);
}

/// Rank 0's gc3 and NCCL communicators are destroyed while those of rank 1 are still in use.
TEST_F(NcclApi, RanksAreDestroyedOneByOne) {
  make({ringAllReduce(2, true)});
  EXPECT_EQ(allReduceAll(), gc3Success);
  EXPECT_EQ(gc3CommDestroy(std::exchange(comms[0], nullptr)), gc3Success);
  nccl.free(ncclComms[0]);
  EXPECT_EQ(asyncError(comms[1]), gc3Success);
  EXPECT_EQ(gc3CommDestroy(nullptr), gc3Success);
}

/// gc3CommDestroy releases a rank at once, even if a gc3 group and an NCCL group are open.
TEST_F(NcclApi, RanksAreDestroyedInAGroup) {
  make({ringAllReduce(2, true)});
  EXPECT_EQ(allReduceAll(), gc3Success);
  gc3GroupStart();
  callNccl<ncclapi::signature::GroupStart>("GroupStart");
  for (size_t rank : {0, 1}) {
    EXPECT_EQ(gc3CommDestroy(std::exchange(comms[rank], nullptr)), gc3Success);
    nccl.free(ncclComms[rank]);
  }
  callNccl<ncclapi::signature::GroupEnd>("GroupEnd");
  EXPECT_EQ(gc3GroupEnd(), gc3Success);
}

/// gc3 makes NCCL calls on its executor threads. So an NCCL group that is open in the calling thread does not defer
/// them.
TEST_F(NcclApi, AnOpenNcclGroupDoesNotMatter) {
  load({ringAllReduce(2, true)});
  prepare(2);
  callNccl<ncclapi::signature::GroupStart>("GroupStart");
  EXPECT_EQ(init(), gc3Success) << gc3GetLastError(nullptr);
  EXPECT_EQ(allReduceAll(), gc3Success) << gc3GetLastError(nullptr);
  callNccl<ncclapi::signature::GroupEnd>("GroupEnd");
  expectAll(3);
}

TEST_F(NcclApi, TheNcclCommunicatorNeedNotBlock) {
  load({ringAllReduce(2, true)});
  prepare(2, false);
  EXPECT_EQ(init(), gc3Success) << gc3GetLastError(nullptr);
  EXPECT_EQ(allReduceAll(), gc3Success) << gc3GetLastError(nullptr);
  expectAll(3);
}

/// A group runs its calls in order. After a call that fails, it still runs the later calls, because other ranks can
/// make these calls without a group.
TEST_F(NcclApi, GroupsGoOnAfterACallThatFails) {
  make({ringAllReduce(2, true)});
  ASSERT_EQ(allReduceAll(), gc3Success);
  fake.launchedOn.clear();
  gc3GroupStart();
  for (size_t rank : {0, 1})
    EXPECT_EQ(allReduce(rank), gc3Success);
  for (size_t rank : {0, 1})
    EXPECT_EQ(gc3AllGather(buffers[rank], buffers[rank], 1, gc3Float32, comms[rank], streams[rank]), gc3Success);
  for (size_t rank : {1, 0})
    EXPECT_EQ(allReduce(rank), gc3Success);
  EXPECT_EQ(gc3GroupEnd(), gc3NoProgram);
  EXPECT_EQ(fake.launchedOn, (std::vector{streams[0], streams[1], streams[1], streams[0]}));
}

TEST_F(NcclApi, GroupsReturnTheirFirstError) {
  make({ringAllReduce(2, true)});
  const std::vector<gc3Comm_t> first = comms;
  make({ringAllReduce(2, true)});
  gc3GroupStart();
  for (size_t rank : {0, 1}) // these calls succeed
    EXPECT_EQ(gc3AllReduce(buffers[rank], buffers[rank], count, gc3Float32, gc3Sum, first[rank], streams[rank]),
              gc3Success);
  for (size_t rank : {0, 1})
    EXPECT_EQ(gc3AllGather(buffers[rank], buffers[rank], 1, gc3Float32, comms[rank], streams[rank]), gc3Success);
  for (size_t rank : {0, 1})
    EXPECT_EQ(gc3AllReduce(nullptr, nullptr, count, gc3Float32, gc3Sum, first[rank], streams[rank]), gc3Success);
  EXPECT_EQ(gc3GroupEnd(), gc3NoProgram);
  for (gc3Comm_t comm : first)
    gc3CommDestroy(comm);
}

/// One group creates communicators with different numbers of ranks.
TEST_F(NcclApi, SeveralCommunicatorsJoinInAGroup) {
  load({ringAllReduce(2, true), ringAllReduce(3, true)});
  prepare(3);
  const gc3GpuConfig_t config = smallConfig();
  const std::vector<ncclapi::Comm> pair = nccl.make(2);
  std::array<gc3Comm_t, 2> ofPair{};
  gc3GroupStart();
  for (size_t rank : {2, 0, 1}) {
    if (rank != 2) {
      EXPECT_EQ(gc3CommInit(&ofPair[rank], bundle, pair[rank], &config), gc3Success);
    }
    EXPECT_EQ(gc3CommInit(&comms[rank], bundle, ncclComms[rank], &config), gc3Success);
    EXPECT_EQ(comms[rank], nullptr) << "is written at the end";
  }
  EXPECT_EQ(gc3GroupEnd(), gc3Success) << gc3GetLastError(nullptr);
  EXPECT_EQ(allReduceAll(), gc3Success);
  expectAll(6);
  for (gc3Comm_t comm : ofPair)
    EXPECT_EQ(gc3CommDestroy(comm), gc3Success);
}

/// Creates two gc3 communicators over one NCCL communicator, in one group or one after the other. NCCL must never match
/// a call of one gc3 communicator with a call of the other.
TEST_F(NcclApi, TwoCommunicatorsOverOneOfNccl) {
  for (bool inOneGroup : {false, true}) {
    make({ringAllReduce(2, true)});
    std::vector<gc3Comm_t> first(2, nullptr);
    if (inOneGroup) {
      for (gc3Comm_t &comm : comms)
        EXPECT_EQ(gc3CommDestroy(std::exchange(comm, nullptr)), gc3Success);
      gc3GroupStart();
      for (gc3Comm_t *at : {first.data(), comms.data()})
        for (size_t rank : {1, 0}) {
          const gc3GpuConfig_t config = smallConfig();
          EXPECT_EQ(gc3CommInit(&at[rank], bundle, ncclComms[rank], &config), gc3Success);
        }
      EXPECT_EQ(gc3GroupEnd(), gc3Success) << gc3GetLastError(nullptr);
    } else {
      first = std::exchange(comms, first);
      EXPECT_EQ(init(), gc3Success) << gc3GetLastError(nullptr);
    }
    EXPECT_EQ(allReduceAll(), gc3Success);
    comms.swap(first);
    EXPECT_EQ(allReduceAll(), gc3Success);
    expectAll(6);
    for (gc3Comm_t comm : first)
      EXPECT_EQ(gc3CommDestroy(comm), gc3Success);
    for (gc3Comm_t &comm : comms)
      EXPECT_EQ(gc3CommDestroy(std::exchange(comm, nullptr)), gc3Success);
  }
}

/// A group returns the error of the rank on which the failure occurred. The errors of the other ranks are less
/// detailed.
TEST_F(NcclApi, ErrorsOfARankItselfComeFirst) {
  load({ringAllReduce(2, true)});
  prepare(2);
  failNext(1, "CUDA busId");
  EXPECT_EQ(init(), gc3UnhandledCudaError);
  EXPECT_STREQ(gc3GetLastError(nullptr), "querying the GPU's bus id: fake failure (CUDA error 2)");
  EXPECT_EQ(comms, std::vector<gc3Comm_t>(2, nullptr));
}

TEST_F(NcclApi, ConfigsThatDiffer) {
  load({ringAllReduce(2, true)});
  prepare(2);
  gc3GpuConfig_t config = smallConfig();
  gc3GroupStart();
  for (size_t rank : {0, 1}) {
    config.slots = static_cast<uint32_t>(4 + rank);
    EXPECT_EQ(gc3CommInit(&comms[rank], bundle, ncclComms[rank], &config), gc3Success);
  }
  EXPECT_EQ(gc3GroupEnd(), gc3InvalidUsage);
  EXPECT_STREQ(gc3GetLastError(nullptr), "rank 1 has other FIFO slots than rank 0");
}

/// Only one of two ranks joins. It fails at its deadline.
TEST_F(NcclApi, AMissingRankIsATimeout) {
  load({ringAllReduce(2, true)});
  for (bool blocking : {true, false}) {
    prepare(2, blocking);
    cuda::Options options = smallOptions();
    options.joiningMs = 1;
    const core::Result<std::shared_ptr<comm::Communicator>> made =
        api::NcclBackend::create(ncclComms[0], bundle->file, options);
    ASSERT_TRUE(made.ok());
    const api::NcclBackend::Init init{comms.data(), ncclComms[0], *made};
    const core::Outcome outcome = api::NcclBackend::join({&init, 1});
    EXPECT_EQ(outcome.code, gc3Timeout);
    EXPECT_EQ(outcome.text,
              "after 1 ms not all ranks have joined; check that every rank loads gc3 with the same bundles");
    EXPECT_EQ(comms[0], nullptr);
    for (ncclapi::Comm comm : ncclComms) // ends the split, which still waits in NCCL
      EXPECT_EQ(callNccl<ncclapi::signature::CommAbort>("CommAbort", comm), ncclapi::Result::Success);
  }
}

TEST_F(NcclApi, ARankThatDoesNotLoadIsATimeout) {
  gc3GpuConfig_t config = smallConfig();
  config.timeoutMs = 10;
  load({ringAllReduce(2, true)});
  prepare(2);
  ASSERT_EQ(init(config), gc3Success);
  EXPECT_EQ(allReduce(0), gc3Timeout);
  EXPECT_STREQ(gc3GetLastError(comms[0]), "after 10 ms not all ranks have loaded the program");
  EXPECT_EQ(asyncError(comms[0]), gc3Timeout);
  EXPECT_EQ(asyncError(comms[1]), gc3Success);
  EXPECT_EQ(allReduce(0), gc3Timeout) << "all later calls";
}

/// The executor thread detects the timeout and stops the kernel. The application need not make a call.
TEST_F(NcclApi, AKernelThatHangsIsStopped) {
  gc3GpuConfig_t config = smallConfig();
  config.timeoutMs = 2000;
  make({ringAllReduce(2, true)}, config);
  ASSERT_EQ(allReduceAll(), gc3Success);
  EXPECT_EQ(allReduce(0), gc3Success);
  awaitThat([&] { return isIdle(0) && asyncError(comms[0]) != gc3Success; });
  awaitThat([&] {
    EXPECT_EQ(asyncError(comms[0]), gc3Timeout);
    return std::string(gc3GetLastError(comms[0])).find("was stopped") != std::string::npos;
  });
  EXPECT_EQ(asyncError(comms[1]), gc3Success);
}

TEST_F(NcclApi, AKernelThatFailsIsReported) {
  make({ringAllReduce(2, true)});
  ASSERT_EQ(allReduceAll(), gc3Success);
  {
    const Monitor::Lock lock;
    fake.failPoll = {0, "CUDA query", fake.pollsOf(0, "CUDA query") + 1};
  }
  EXPECT_EQ(allReduce(0), gc3Success);
  awaitThat([&] { return asyncError(comms[0]) == gc3UnhandledCudaError; });
  EXPECT_STREQ(gc3GetLastError(comms[0]), "running a call: fake failure (CUDA error 2)");
  EXPECT_EQ(allReduce(0), gc3UnhandledCudaError);
  EXPECT_EQ(asyncError(comms[1]), gc3Success);
}

/// If memory runs out in a call, the rank fails. Other ranks may already have made the call, so NCCL would match it
/// with this rank's next call.
TEST_F(NcclApi, ACallWithoutMemoryFailsItsRank) {
  make({ringAllReduce(2, true)});
  fake.beforeCalls([](int, const std::string &name, uint64_t) {
    if (name == "CUDA capture")
      throw std::bad_alloc();
  });
  EXPECT_EQ(allReduce(0), gc3SystemError);
  EXPECT_STREQ(gc3GetLastError(comms[0]), "out of memory");
  fake.beforeCalls(nullptr);
  EXPECT_EQ(allReduce(0), gc3SystemError);
  EXPECT_STREQ(gc3GetLastError(comms[0]), "no memory");
  EXPECT_EQ(asyncError(comms[0]), gc3SystemError);
  EXPECT_EQ(fake.launches, 0u);
}

/// If memory runs out on an executor thread, the rank of this thread fails.
TEST_F(NcclApi, JoinsAndLoadsWithoutMemory) {
  load({ringAllReduce(2, true)});
  const auto runOut = [this] {
    fake.beforeCalls([](int, const std::string &name, uint64_t) {
      if (name == "CUDA allocate")
        throw std::bad_alloc();
    });
  };
  prepare(2);
  runOut();
  EXPECT_EQ(init(), gc3SystemError);
  fake.beforeCalls(nullptr);
  prepare(2);
  ASSERT_EQ(init(), gc3Success);
  runOut();
  EXPECT_EQ(allReduceAll(), gc3SystemError);
  for (gc3Comm_t comm : comms)
    EXPECT_EQ(asyncError(comm), gc3SystemError);
  EXPECT_EQ(fake.launches, 0u);
}

TEST_F(NcclApi, AbortEndsKernels) {
  make({ringAllReduce(2, true)});
  EXPECT_EQ(allReduceAll(), gc3Success);
  EXPECT_EQ(allReduce(1), gc3Success);
  EXPECT_FALSE(isIdle(1));
  for (gc3Comm_t &comm : comms)
    EXPECT_EQ(gc3CommAbort(std::exchange(comm, nullptr)), gc3Success);
  awaitThat([&] { return isIdle(1); });
  EXPECT_EQ(gc3CommAbort(nullptr), gc3Success);
}

/// The group's call on the aborted communicator fails. Its calls on other communicators run.
TEST_F(NcclApi, AbortWhileAGroupIsOpen) {
  make({ringAllReduce(2, true)});
  ASSERT_EQ(allReduceAll(), gc3Success);
  gc3GroupStart();
  for (size_t rank : {0, 1})
    EXPECT_EQ(allReduce(rank), gc3Success);
  EXPECT_EQ(gc3CommAbort(std::exchange(comms[1], nullptr)), gc3Success);
  EXPECT_EQ(gc3GroupEnd(), gc3InvalidUsage);
  EXPECT_STREQ(gc3GetLastError(nullptr), "the communicator was aborted");
  EXPECT_EQ(fake.launches, 3u);
  EXPECT_EQ(gc3CommAbort(std::exchange(comms[0], nullptr)), gc3Success);
}

/// Symmetric memory of the application, which it registers as a window of each rank.
class NcclApiWindows : public ApiTest {
protected:
  static constexpr size_t elements = size_t{1} << 17; ///< of each rank; an AllGather of two ranks has 1 MiB
  static constexpr size_t bytes = 3 * elements * sizeof(float);

  NcclApiWindows() {
    gc3GpuConfig_t config = smallConfig();
    config.slotBytes = 1 << 16;
    make({allGather(2, false)}, config);
    for (size_t rank : {0, 1}) {
      FakeCuda::currentDevice = static_cast<int>(rank);
      void *allocated = nullptr;
      EXPECT_EQ(callNccl<ncclapi::signature::MemAlloc>("MemAlloc", &allocated, bytes), ncclapi::Result::Success);
      memory[rank] = static_cast<float *>(allocated);
    }
    FakeCuda::currentDevice = 0;
    callNccl<ncclapi::signature::GroupStart>("GroupStart");
    for (size_t rank : {0, 1})
      callNccl<ncclapi::signature::CommWindowRegister>("CommWindowRegister", ncclComms[rank], memory[rank], bytes,
                                                       &windows[rank], 0);
    EXPECT_EQ(callNccl<ncclapi::signature::GroupEnd>("GroupEnd"), ncclapi::Result::Success);
  }
  ~NcclApiWindows() override {
    for (size_t rank : {0, 1}) {
      callNccl<ncclapi::signature::CommWindowDeregister>("CommWindowDeregister", ncclComms[rank], windows[rank]);
      callNccl<ncclapi::signature::MemFree>("MemFree", memory[rank]);
    }
  }

  gc3Result_t add(size_t rank) { return gc3CommAddWindow(comms[rank], windows[rank], memory[rank], bytes); }

  /// Makes an AllGather from and to the windows, and checks its result. Returns the places of the receive buffers.
  std::array<kernel::Place, 2> gather() {
    for (size_t rank : {0, 1})
      for (size_t i = 0; i < elements; ++i)
        memory[rank][i] = static_cast<float>(rank * elements + i), memory[rank][elements + 2 * i] = -1;
    gc3GroupStart();
    for (size_t rank : {0, 1})
      EXPECT_EQ(gc3AllGather(memory[rank], memory[rank] + elements, elements, gc3Float32, comms[rank], streams[rank]),
                gc3Success);
    EXPECT_EQ(gc3GroupEnd(), gc3Success) << gc3GetLastError(nullptr);
    EXPECT_TRUE(isIdle(0) && isIdle(1));
    for (const float *rank : memory)
      EXPECT_EQ(std::count_if(rank + elements, rank + 3 * elements,
                              [&](const float &value) {
                                return value != static_cast<float>(&value - rank) - static_cast<float>(elements);
                              }),
                0);
    return {fake.callOn.at(streams[0]).place, fake.callOn.at(streams[1]).place};
  }

  std::array<float *, 2> memory{};
  std::array<ncclapi::Window, 2> windows{};
};

TEST_F(NcclApiWindows, AreUsedUntilTheyAreRemoved) {
  using kernel::Place;
  EXPECT_EQ(gather(), (std::array{Place::NotCompared, Place::NotCompared}));
  for (size_t rank : {0, 1})
    EXPECT_EQ(add(rank), gc3Success);
  const std::array<Place, 2> places = gather();
  EXPECT_GT(places[0], Place::Nowhere);
  EXPECT_EQ(places[0], places[1]);
  EXPECT_EQ(gc3CommRemoveWindow(comms[1], windows[1]), gc3Success);
  EXPECT_EQ(gather(), (std::array{places[0], Place::Nowhere}));
  EXPECT_EQ(gc3CommRemoveWindow(comms[0], windows[0]), gc3Success);
  EXPECT_EQ(gather(), (std::array{Place::Nowhere, Place::Nowhere}));
}

/// A rank that got no window from NCCL adds a null window. So the ranks agree on the number of windows.
TEST_F(NcclApiWindows, CanBeNull) {
  EXPECT_EQ(add(0), gc3Success);
  EXPECT_EQ(gc3CommAddWindow(comms[1], nullptr, memory[1], bytes), gc3Success);
  const std::array<kernel::Place, 2> places = gather();
  EXPECT_GT(places[0], kernel::Place::Nowhere);
  EXPECT_EQ(places[1], kernel::Place::Nowhere);
}

TEST_F(NcclApiWindows, Arguments) {
  const char *comm = "comm is null, or not a communicator of gc3CommInit";
  gc3Comm_t host = nullptr;
  load({ringAllReduce(1, true)});
  ASSERT_EQ(gc3HostCommInitAll(&host, 1, bundle, nullptr), gc3Success);
  for (gc3Comm_t wrong : {gc3Comm_t{}, host}) {
    EXPECT_EQ(gc3CommAddWindow(wrong, windows[0], memory[0], bytes), gc3InvalidArgument);
    EXPECT_STREQ(gc3GetLastError(wrong), comm);
    EXPECT_EQ(gc3CommRemoveWindow(wrong, windows[0]), gc3InvalidArgument);
    EXPECT_STREQ(gc3GetLastError(wrong), comm);
  }
  EXPECT_EQ(gc3CommDestroy(host), gc3Success);
  EXPECT_EQ(gc3CommAddWindow(comms[0], windows[0], nullptr, bytes), gc3InvalidArgument);
  EXPECT_STREQ(gc3GetLastError(comms[0]), "buffer is null");
  EXPECT_EQ(gc3CommRemoveWindow(comms[0], nullptr), gc3InvalidArgument);
  EXPECT_STREQ(gc3GetLastError(comms[0]), "window is null");
  EXPECT_EQ(gc3CommRemoveWindow(comms[0], windows[0]), gc3Success) << "of a window that was not added";
  EXPECT_EQ(gather(), (std::array{kernel::Place::NotCompared, kernel::Place::NotCompared}));
}

TEST_F(NcclApi, Arguments) {
  load({ringAllReduce(2, true)});
  int some = 0;
  gc3Comm_t comm = nullptr;
  EXPECT_EQ(gc3CommInit(nullptr, bundle, &some, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3CommInit(&comm, nullptr, &some, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3CommInit(&comm, bundle, nullptr, nullptr), gc3InvalidArgument);
  gc3GpuConfig_t config = GC3_GPU_CONFIG_INITIALIZER;
  for (size_t size : {size_t{0}, offsetof(gc3GpuConfig_t, tuning) + 1, offsetof(gc3GpuConfig_t, tunerData),
                      sizeof config - 1, sizeof config + 1}) {
    config.size = size;
    EXPECT_EQ(gc3CommInit(&comm, bundle, &some, &config), gc3InvalidArgument);
    EXPECT_STREQ(gc3GetLastError(nullptr),
                 "the config was not initialised with GC3_GPU_CONFIG_INITIALIZER or belongs to another version of gc3");
  }
  EXPECT_EQ(comm, nullptr);
}

} // namespace
