// SPDX-License-Identifier: Apache-2.0
// The C API from making communicators to destroying them, where each call into CUDA and NCCL fails in turn: codes,
// texts, and what is left. The fakes stand where the library finds its CUDA runtime and the installed NCCL.
#include "LsaSweep.h"
#include "gc3.h"
#include "lsa/Aside.h"
#include "ncclapi/Installed.h"

using namespace gc3;
using namespace gc3::test;

const cuda::Cuda *cuda::linkedCuda() {
  return &FakeCuda::table();
}

/// Without what is done aside, in threads of its own, which the fakes do not take.
void *ncclapi::findInstalled(const std::string &name) {
  return name == "CommRevoke" ? nullptr : FakeWindows::function(name);
}

namespace {

constexpr size_t rankCount = 2, count = 10;

/// The code of a call, and the text that there is for it; of all ranks' communicators, if they are asked as well.
std::string tell(gc3Result_t result, const std::vector<gc3Comm_t> &comms = {}) {
  const std::string text = result == gc3Success ? "" : gc3GetLastError(nullptr);
  for (gc3Comm_t comm : comms) {
    EXPECT_EQ(result == gc3Success ? "" : gc3GetLastError(comm), text) << "both say it";
  }
  return test::tell(core::Outcome{result, text});
}

/// What an application has: a bundle, streams and buffers.
class Application {
public:
  explicit Application(FakeCuda &cuda) : fake(cuda) {
    const uint64_t failAt = std::exchange(fake.failAt, 0);
    const std::string bytes = buildBundle({ringAllReduce(rankCount, true)});
    EXPECT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
    for (size_t rank = 0; rank < rankCount; ++rank) {
      streams.push_back(fake.stream(static_cast<int>(rank)));
      buffers.push_back(reinterpret_cast<float *>(fake.allocate(count * sizeof(float))));
    }
    scalar = reinterpret_cast<float *>(fake.allocate(sizeof(float)));
    *scalar = 10;
    fake.calls = 0;
    fake.failAt = failAt;
  }
  ~Application() {
    EXPECT_EQ(gc3BundleFree(bundle), gc3Success);
    for (cuda::Stream stream : streams)
      FakeCuda::table().destroyStream(stream);
    for (float *buffer : buffers)
      fake.release(reinterpret_cast<std::byte *>(buffer));
    fake.release(reinterpret_cast<std::byte *>(scalar));
  }
  Application(const Application &) = delete;
  Application &operator=(const Application &) = delete;

  void fill() {
    for (size_t rank = 0; rank < rankCount; ++rank)
      std::fill_n(buffers[rank], count, static_cast<float>(rank + 1));
  }
  void expectAll(float value) {
    for (const float *buffer : buffers)
      EXPECT_EQ(std::vector<float>(buffer, buffer + count), std::vector<float>(count, value));
  }
  bool anyWaits() {
    return !std::all_of(streams.begin(), streams.end(), [&](cuda::Stream stream) { return fake.isIdle(stream); });
  }

  FakeCuda &fake;
  gc3Bundle_t bundle = nullptr;
  std::vector<cuda::Stream> streams;
  std::vector<float *> buffers;
  float *scalar; ///< on the GPU
};

gc3GpuConfig_t smallConfig() {
  gc3GpuConfig_t config = GC3_GPU_CONFIG_INITIALIZER;
  config.threads = 32;
  config.slotBytes = 256;
  return config;
}

/// Communicators of an application, and calls on them.
class Communicators {
public:
  /// On one stream, or on each rank's own.
  Communicators(Application &of, bool oneStream)
      : application(of), streams(oneStream ? std::vector(rankCount, of.streams[0]) : of.streams) {}

  /// With a scalar of each rank's own, one known and one on the GPU.
  std::string multiplyInAGroup() {
    application.fill();
    const float two = 2;
    EXPECT_EQ(gc3GroupStart(), gc3Success);
    for (size_t rank = 0; rank < rankCount; ++rank) {
      gc3RedOp_t op = gc3Sum;
      const bool isKnown = rank == 0;
      EXPECT_EQ(gc3RedOpCreatePreMulSum(&op, isKnown ? &two : application.scalar, gc3Float32,
                                        isKnown ? gc3ScalarHostImmediate : gc3ScalarDevice, comms[rank]),
                gc3Success);
      EXPECT_EQ(allReduce(rank, op), gc3Success) << "noted";
      EXPECT_EQ(gc3RedOpDestroy(op, comms[rank]), gc3Success);
    }
    const gc3Result_t result = gc3GroupEnd();
    if (result == gc3Success)
      application.expectAll(1 * two + 2 * *application.scalar);
    return tell(result, comms);
  }

  /// Each rank for itself; ranks that do not fail say ok.
  std::string sumAlone() {
    application.fill();
    std::set<std::string> said;
    for (size_t rank = 0; rank < rankCount; ++rank)
      said.insert(tell(allReduce(rank, gc3Sum), {comms[rank]}));
    if (together(said) == "ok")
      application.expectAll(3);
    return together(said);
  }

  std::string asyncErrors() {
    std::set<std::string> said;
    for (gc3Comm_t comm : comms) {
      gc3Result_t result = gc3InternalError;
      EXPECT_EQ(gc3CommGetAsyncError(comm, &result), gc3Success);
      said.insert(tell(result, {comm}));
    }
    return together(said);
  }

  /// Aborted, if some wait for others in vain.
  std::string leave() {
    const bool waits = application.anyWaits();
    for (gc3Comm_t comm : comms) {
      EXPECT_EQ(waits ? gc3CommAbort(comm) : gc3CommDestroy(comm), gc3Success);
      lsa::awaitThreads(); // the fakes are for one at a time
    }
    EXPECT_FALSE(application.anyWaits());
    return waits ? "; aborted" : "";
  }

  std::vector<gc3Comm_t> comms{rankCount, nullptr};

private:
  gc3Result_t allReduce(size_t rank, gc3RedOp_t op) {
    float *buffer = application.buffers[rank];
    return gc3AllReduce(buffer, buffer, count, gc3Float32, op, comms[rank], streams[rank]);
  }

  Application &application;
  const std::vector<cuda::Stream> streams;
};

/// Calls until one has failed; empty where none has.
std::string callAll(Communicators &communicators, bool alsoAlone) {
  std::string came = "group: " + communicators.multiplyInAGroup();
  if (came == "group: ok" && alsoAlone)
    came = "alone: " + communicators.sumAlone();
  const bool ran = came.ends_with(": ok");
  const std::string errors = communicators.asyncErrors(), left = communicators.leave();
  return (ran ? "ran" : came) + (errors == "ok" || !left.empty() ? "" : "; asked: " + errors) + left;
}

std::string initAndCall(FakeCuda &fake, FakeWindows &windows) {
  std::string came;
  {
    Application application(fake);
    Communicators communicators(application, false);
    const gc3GpuConfig_t config = smallConfig();
    const std::vector<ncclapi::Comm> ncclComms = windows.make(rankCount);
    EXPECT_EQ(gc3GroupStart(), gc3Success);
    for (size_t rank = 0; rank < rankCount; ++rank)
      EXPECT_EQ(gc3CommInit(&communicators.comms[rank], application.bundle, ncclComms[rank], &config), gc3Success);
    if (const gc3Result_t made = gc3GroupEnd(); made == gc3Success) {
      came = callAll(communicators, true);
    } else {
      came = "not made: " + tell(made);
      EXPECT_EQ(communicators.comms, std::vector<gc3Comm_t>(rankCount, nullptr));
    }
  }
  return came + leftBy(fake, windows);
}

TEST(ApiSweep, BesideNccl) {
  Sweep sweep;
  sweep.over([](FakeCuda &fake) {
    FakeWindows windows(fake);
    return initAndCall(fake, windows);
  });
  EXPECT_EQ(sweep.lines(), R"(
nothing -> ran
NCCL count -> not made: gc3SystemError: asking for the ranks [NCCL]
NCCL rank -> not made: gc3SystemError: asking for the rank [NCCL]
NCCL device -> not made: gc3SystemError: asking for the device [NCCL]
CUDA getDevice -> not made: gc3UnhandledCudaError: asking for the current device [CUDA]
CUDA getDevice -> not made: gc3UnhandledCudaError: looking for a GPU [CUDA]
CUDA attribute -> not made: gc3UnhandledCudaError: asking what the GPU can do [CUDA]
CUDA createStream -> not made: gc3UnhandledCudaError: creating a stream [CUDA]
CUDA allocatePinned -> not made: gc3UnhandledCudaError: allocating # bytes of pinned memory for a word that stops kernels [CUDA]
CUDA createEvent -> not made: gc3UnhandledCudaError: creating an event [CUDA]
CUDA allocate -> not made: gc3UnhandledCudaError: allocating # bytes of device memory for what ranks tell each other [CUDA]
CUDA setDevice -> not made: gc3UnhandledCudaError: switching to device # [CUDA]
CUDA setDevice -> ran; on another device
CUDA busId -> not made: gc3UnhandledCudaError: asking for the GPU's place on the bus [CUDA]
CUDA occupancy -> not made: gc3UnhandledCudaError: asking how many blocks fit [CUDA]
CUDA await -> not made: gc3UnhandledCudaError: waiting for the last call [CUDA]
CUDA copy -> not made: gc3UnhandledCudaError: telling the other ranks [CUDA]
CUDA clear -> not made: gc3UnhandledCudaError: telling the other ranks [CUDA]
NCCL groupStart -> not made: gc3SystemError: opening a group [NCCL]
NCCL allGather -> not made: gc3SystemError: telling the other ranks [NCCL]; left: 1 memory 1 pinned 1 streams
NCCL allGather -> not made: gc3SystemError: telling the other ranks [NCCL]; left: 2 memory 2 pinned 2 streams
NCCL groupEnd -> not made: gc3SystemError: closing a group [NCCL]; left: 2 memory 2 pinned 2 streams
CUDA getDevice -> not made: gc3UnhandledCudaError: asking for the current device [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA record -> not made: gc3UnhandledCudaError: recording an event [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA query -> not made: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA copy -> not made: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA synchronize -> not made: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA setDevice -> not made: gc3UnhandledCudaError: switching to device # [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA capture -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: asking whether the stream is captured [CUDA]
CUDA capture -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: asking whether the stream is captured [CUDA]
CUDA getDevice -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: asking for the current device [CUDA]
CUDA occupancy -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: asking how many blocks fit [CUDA]
CUDA allocate -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: allocating # bytes of device memory for program 'ring2_aliased_1' [CUDA]
NCCL allocate -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: allocating # bytes of symmetric memory [NCCL]
CUDA clear -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: clearing FIFO slots [CUDA]
CUDA synchronize -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: clearing FIFO slots [CUDA]
CUDA getDevice -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: asking for the current device [CUDA]
CUDA setDevice -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: switching to device # [CUDA]
CUDA occupancy -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: asking how many blocks fit [CUDA]
CUDA allocate -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: allocating # bytes of device memory for program 'ring2_aliased_1' [CUDA]
NCCL allocate -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: allocating # bytes of symmetric memory [NCCL]
CUDA clear -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: clearing FIFO slots [CUDA]
CUDA synchronize -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: clearing FIFO slots [CUDA]
CUDA getDevice -> group: gc3UnhandledCudaError: asking for the current device [CUDA]; asked: gc3UnhandledCudaError: asking for the current device [CUDA]
CUDA await -> group: gc3UnhandledCudaError: waiting for the last call [CUDA]; asked: gc3UnhandledCudaError: waiting for the last call [CUDA]
CUDA copy -> group: gc3UnhandledCudaError: telling the other ranks [CUDA]; asked: gc3UnhandledCudaError: telling the other ranks [CUDA]
CUDA clear -> group: gc3UnhandledCudaError: telling the other ranks [CUDA]; asked: gc3UnhandledCudaError: telling the other ranks [CUDA]
CUDA setDevice -> group: gc3UnhandledCudaError: switching to device # [CUDA]; asked: gc3UnhandledCudaError: switching to device # [CUDA]
NCCL groupStart -> group: gc3SystemError: opening a group [NCCL]; asked: gc3SystemError: opening a group [NCCL]
NCCL allGather -> group: gc3SystemError: telling the other ranks [NCCL]; asked: gc3SystemError: telling the other ranks [NCCL]; left: 2 memory 1 pinned 1 streams 1 symmetric
NCCL allGather -> group: gc3SystemError: telling the other ranks [NCCL]; asked: gc3SystemError: telling the other ranks [NCCL]; left: 4 memory 2 pinned 2 streams 2 symmetric
NCCL groupEnd -> group: gc3SystemError: closing a group [NCCL]; asked: gc3SystemError: closing a group [NCCL]; left: 4 memory 2 pinned 2 streams 2 symmetric
CUDA getDevice -> group: gc3UnhandledCudaError: asking for the current device [CUDA]; asked: gc3UnhandledCudaError: asking for the current device [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA record -> group: gc3UnhandledCudaError: recording an event [CUDA]; asked: gc3UnhandledCudaError: recording an event [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA query -> group: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; asked: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA copy -> group: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; asked: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA synchronize -> group: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; asked: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA setDevice -> group: gc3UnhandledCudaError: switching to device # [CUDA]; asked: gc3UnhandledCudaError: switching to device # [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
NCCL groupStart -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: opening a group [NCCL]
NCCL enroll -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: registering a window [NCCL]
NCCL enroll -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: registering a window [NCCL]
NCCL groupEnd -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: closing a group [NCCL]
CUDA isDeviceMemory -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: looking at a window [CUDA]
CUDA copy -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: reading a window [CUDA]
CUDA synchronize -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: reading a window [CUDA]
CUDA clear -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: clearing a program's counters [CUDA]
CUDA copy -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: copying a program [CUDA]
CUDA synchronize -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: copying a program [CUDA]
CUDA isDeviceMemory -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: looking at a window [CUDA]
CUDA copy -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: reading a window [CUDA]
CUDA synchronize -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: reading a window [CUDA]
CUDA clear -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: clearing a program's counters [CUDA]
CUDA copy -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: copying a program [CUDA]
CUDA synchronize -> group: gc3InvalidUsage: program 'ring2_aliased_1' could not be loaded: rank # could not load it: copying a program [CUDA]
NCCL allGather -> group: gc3SystemError: telling the other ranks [NCCL]; asked: gc3SystemError: telling the other ranks [NCCL]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
NCCL allGather -> group: gc3SystemError: telling the other ranks [NCCL]; asked: gc3SystemError: telling the other ranks [NCCL]; left: 6 memory 2 pinned 2 streams 2 symmetric 2 windows
NCCL groupEnd -> group: gc3SystemError: closing a group [NCCL]; asked: gc3SystemError: closing a group [NCCL]; left: 6 memory 2 pinned 2 streams 2 symmetric 2 windows
CUDA getDevice -> group: gc3UnhandledCudaError: asking for the current device [CUDA]; asked: gc3UnhandledCudaError: asking for the current device [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA record -> group: gc3UnhandledCudaError: recording an event [CUDA]; asked: gc3UnhandledCudaError: recording an event [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA query -> group: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; asked: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA copy -> group: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; asked: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA synchronize -> group: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; asked: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA setDevice -> group: gc3UnhandledCudaError: switching to device # [CUDA]; asked: gc3UnhandledCudaError: switching to device # [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA getDevice -> group: gc3UnhandledCudaError: asking for the current device [CUDA]; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA setDevice -> group: gc3UnhandledCudaError: switching to device # [CUDA]; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA await -> group: gc3UnhandledCudaError: waiting for the last call [CUDA]; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA launch -> group: gc3UnhandledCudaError: launching a kernel [CUDA]; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA launch -> group: gc3UnhandledCudaError: launching the interpreter [CUDA]; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA record -> group: gc3UnhandledCudaError: recording an event [CUDA]; asked: gc3UnhandledCudaError: recording an event [CUDA]
CUDA capture -> alone: gc3UnhandledCudaError: asking whether the stream is captured [CUDA] / ok; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA getDevice -> alone: gc3UnhandledCudaError: asking for the current device [CUDA] / ok; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA await -> alone: gc3UnhandledCudaError: waiting for the last call [CUDA] / ok; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA launch -> alone: gc3UnhandledCudaError: launching the interpreter [CUDA] / ok; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA record -> alone: gc3UnhandledCudaError: recording an event [CUDA] / ok; asked: gc3UnhandledCudaError: recording an event [CUDA]
CUDA setDevice -> alone: gc3UnhandledCudaError: switching to device # [CUDA] / ok; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA query -> ran; asked: gc3UnhandledCudaError: a call that was under way [CUDA]
CUDA query -> ran; asked: gc3UnhandledCudaError: a call that was under way [CUDA] / ok
CUDA getDevice -> ran
CUDA query -> ran
CUDA setDevice -> ran
)");
}

TEST(ApiSweep, OnOneGpu) {
  Sweep sweep;
  sweep.over([](FakeCuda &fake) {
    std::string came;
    {
      Application application(fake);
      Communicators communicators(application, true);
      const gc3GpuConfig_t config = smallConfig();
      const gc3Result_t made =
          gc3LoopbackCommInitAll(communicators.comms.data(), rankCount, application.bundle, &config);
      came = made == gc3Success ? callAll(communicators, false) : "not made: " + tell(made);
    }
    return came + left(fake.leaks());
  });
  EXPECT_EQ(sweep.lines(), R"(
nothing -> ran
CUDA getDevice -> not made: gc3UnhandledCudaError: looking for a GPU [CUDA]
CUDA attribute -> not made: gc3UnhandledCudaError: asking what the GPU can do [CUDA]
CUDA createStream -> not made: gc3UnhandledCudaError: creating a stream [CUDA]
CUDA allocatePinned -> not made: gc3UnhandledCudaError: allocating # bytes of pinned memory for a word that stops kernels [CUDA]
CUDA createEvent -> not made: gc3UnhandledCudaError: creating an event [CUDA]
CUDA getDevice -> group: gc3UnhandledCudaError: asking for the current device [CUDA]
CUDA capture -> group: gc3UnhandledCudaError: asking whether the stream is captured [CUDA]
CUDA occupancy -> group: gc3UnhandledCudaError: asking how many blocks fit [CUDA]
CUDA allocate -> group: gc3UnhandledCudaError: allocating # bytes of device memory for program 'ring2_aliased_1' [CUDA]
CUDA allocate -> group: gc3UnhandledCudaError: allocating # bytes of device memory for the FIFO slots of program 'ring2_aliased_1' [CUDA]
CUDA clear -> group: gc3UnhandledCudaError: clearing FIFO slots [CUDA]
CUDA clear -> group: gc3UnhandledCudaError: clearing a program's counters [CUDA]
CUDA copy -> group: gc3UnhandledCudaError: copying a program [CUDA]
CUDA synchronize -> group: gc3UnhandledCudaError: copying a program [CUDA]
CUDA await -> group: gc3UnhandledCudaError: waiting for the last call [CUDA]
CUDA launch -> group: gc3UnhandledCudaError: launching a kernel [CUDA]
CUDA launch -> group: gc3UnhandledCudaError: launching the interpreter [CUDA]
CUDA record -> group: gc3UnhandledCudaError: recording an event [CUDA]; asked: gc3UnhandledCudaError: recording an event [CUDA]
CUDA query -> ran; asked: gc3UnhandledCudaError: a call that was under way [CUDA]
CUDA query -> ran; asked: gc3UnhandledCudaError: a call that was under way [CUDA] / ok
CUDA query -> ran
)");
}

} // namespace
