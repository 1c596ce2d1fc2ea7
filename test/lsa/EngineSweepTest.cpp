// SPDX-License-Identifier: Apache-2.0
// The engine of the library in front of NCCL where each call into CUDA and NCCL fails in turn: who serves the calls
// then, the program, NCCL or nobody.
#include "LsaSweep.h"
#include "lsa/Engine.h"

#include <numeric>

using namespace gc3;
using namespace gc3::test;
using ncclapi::Result;

namespace {

constexpr size_t rankCount = 2, count = 50;

std::string nameOf(Result result) {
  switch (result) {
  case Result::Success: return "ok";
  case Result::UnhandledCudaError: return "UnhandledCudaError";
  case Result::SystemError: return "SystemError";
  case Result::InvalidUsage: return "InvalidUsage";
  default: return "result " + std::to_string(static_cast<int>(result));
  }
}

/// What an application has: streams and buffers.
class Application {
public:
  explicit Application(FakeCuda &cuda) : fake(cuda) {
    for (size_t rank = 0; rank < rankCount; ++rank) {
      streams[rank] = fake.stream(static_cast<int>(rank));
      buffers[rank] = reinterpret_cast<float *>(fake.allocate(count * sizeof(float)));
    }
  }
  ~Application() {
    for (size_t rank = 0; rank < rankCount; ++rank) {
      FakeCuda::table().destroyStream(streams[rank]);
      fake.release(reinterpret_cast<std::byte *>(buffers[rank]));
    }
  }
  Application(const Application &) = delete;
  Application &operator=(const Application &) = delete;

  bool anyWaits() {
    return !std::all_of(streams.begin(), streams.end(), [&](cuda::Stream stream) { return fake.isIdle(stream); });
  }

  FakeCuda &fake;
  std::array<cuda::Stream, rankCount> streams{};
  std::array<float *, rankCount> buffers{};
};

/// The engine of a process with all ranks of a communicator. Calls that it hands to NCCL may fail, too.
class Process {
public:
  Process(FakeCuda &cuda, FakeWindows &windows)
      : application(cuda), nccl(windows.table()), comms(windows.make(rankCount)) {
    handedOver = 0;
    fake = &cuda;
    const std::string bytes = buildBundle({ringAllReduce(rankCount, true)});
    shim::Bundles bundles(1);
    EXPECT_TRUE(bundle::BundleFile::openMemory(bytes.data(), bytes.size(), bundles[0]).ok());
    engine = lsa::makeEngine({FakeCuda::table(), nccl}, std::move(bundles), smallOptions(),
                             {[](const shim::CollectiveCall &) {
                                if (fake->fails("forwarded call", "NCCL"))
                                  return FakeWindows::failure;
                                ++handedOver;
                                return Result::Success;
                              },
                              [](ncclapi::Comm) { return Result::Success; }});
    std::vector<nccl::Member> members;
    for (size_t rank = 0; rank < rankCount; ++rank)
      members.push_back({comms[rank], rankCount, static_cast<int>(rank)});
    attached = engine->attach(members);
  }

  bool isRefused() const { return !attached[0].attachment; }
  /// Why NCCL serves all calls, or why none can be served.
  std::string why() const {
    std::set<std::string> said;
    for (const nccl::Attached &rank : attached) {
      EXPECT_EQ(rank.attachment == nullptr, attached[0].attachment == nullptr) << "all or none";
      said.insert(brief(rank.why));
    }
    return together(said);
  }

  /// An allreduce by all ranks, in one group or each for itself, as the library in front makes it: who has served it.
  std::string call(bool inAGroup) {
    handedOver = 0;
    std::set<std::string> results;
    std::vector<nccl::Work> works;
    for (size_t rank = 0; rank < rankCount; ++rank) {
      std::fill_n(application.buffers[rank], count, static_cast<float>(rank + 1));
      const shim::CollectiveCall wanted = callOf(rank);
      const nccl::Decision decision = attached[rank].attachment->serves(wanted);
      EXPECT_EQ(decision.served(), attached[0].attachment->serves(callOf(0)).served()) << "alike on all ranks";
      if (decision.served())
        works.push_back({attached[rank].attachment.get(), wanted, decision.program});
    }
    if (works.empty())
      return "NCCL";
    if (inAGroup)
      results.insert(nameOf(engine->run(works)));
    for (size_t rank = 0; !inAGroup && rank < rankCount; ++rank)
      results.insert(nameOf(engine->run({&works[rank], 1})));
    if (together(results) != "ok")
      return together(results) + (handedOver == 0 ? "" : ", handed over: " + std::to_string(handedOver));
    if (handedOver == rankCount)
      return "handed over";
    EXPECT_EQ(handedOver, 0u) << "all or none";
    for (const float *buffer : application.buffers)
      EXPECT_EQ(std::vector<float>(buffer, buffer + count), std::vector<float>(count, 3));
    return "served";
  }

  std::string asyncErrors() const {
    std::set<std::string> results;
    for (const nccl::Attached &rank : attached)
      results.insert(nameOf(rank.attachment->asyncError()));
    return together(results);
  }

  /// As an application does that gives up.
  bool abortWaiting() {
    if (!application.anyWaits())
      return false;
    for (const nccl::Attached &rank : attached)
      rank.attachment->abort();
    EXPECT_FALSE(application.anyWaits());
    return true;
  }

private:
  shim::CollectiveCall callOf(size_t rank) const {
    float *buffer = application.buffers[rank];
    return {ncclapi::Collective::AllReduce,
            buffer,
            buffer,
            count,
            ncclapi::DataType::Float32,
            ncclapi::RedOp::Sum,
            -1,
            comms[rank],
            reinterpret_cast<ncclapi::Stream>(application.streams[rank])};
  }

  static inline FakeCuda *fake = nullptr;
  static inline uint64_t handedOver = 0; ///< calls, by the last one of ours
  Application application;
  const ncclapi::Nccl nccl;
  const std::vector<ncclapi::Comm> comms;
  std::unique_ptr<nccl::Engine> engine;
  std::vector<nccl::Attached> attached; ///< goes first
};

/// Calls in a group, then each rank's for itself, until one has failed.
std::string callAll(Process &process) {
  std::string came = "group: " + process.call(true);
  if (came == "group: served" || came == "group: handed over")
    came += "; alone: " + process.call(false);
  if (process.abortWaiting())
    return came + "; aborted";
  const std::string errors = process.asyncErrors();
  return came + (errors == "ok" ? "" : "; asked: " + errors);
}

std::string attachAndCall(FakeCuda &fake, FakeWindows &windows) {
  std::string came;
  {
    Process process(fake, windows);
    if (process.isRefused())
      came = "NCCL serves: " + process.why();
    else
      came = (process.why().empty() ? "" : "broken: " + process.why() + "; ") + callAll(process);
  }
  return came + leftBy(fake, windows);
}

/// With windows, or without them, so that all ranks decline.
Sweep sweepOver(FakeWindows::Windows kind) {
  Sweep sweep;
  sweep.over([&](FakeCuda &fake) {
    FakeWindows windows(fake);
    windows.windows = kind;
    return attachAndCall(fake, windows);
  });
  return sweep;
}

TEST(LsaEngineSweep, AttachingAndCalling) {
  EXPECT_EQ(sweepOver(FakeWindows::Windows::Real).lines(), R"(
nothing -> group: served; alone: served
CUDA getDevice -> NCCL serves: asking for the current device [CUDA]
NCCL count -> broken: asking for the ranks [NCCL]; group: SystemError; asked: SystemError
NCCL rank -> broken: asking for the rank [NCCL]; group: SystemError; asked: SystemError
NCCL device -> broken: asking for the device [NCCL]; group: SystemError; asked: SystemError
CUDA getDevice -> broken: asking for the current device [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError
CUDA getDevice -> broken: looking for a GPU [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError
CUDA attribute -> broken: asking what the GPU can do [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError
CUDA createStream -> broken: creating a stream [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError
CUDA allocatePinned -> broken: allocating # bytes of pinned memory for a word that stops kernels [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError
CUDA createEvent -> broken: creating an event [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError
CUDA allocate -> broken: allocating # bytes of device memory for what ranks tell each other [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError
CUDA setDevice -> broken: switching to device # [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError
CUDA setDevice -> group: served; alone: served; on another device
CUDA getDevice -> NCCL serves: asking for the current device [CUDA] / rank # can't run programs
CUDA busId -> NCCL serves: asking for the GPU's place on the bus [CUDA] / rank # can't run programs
CUDA occupancy -> NCCL serves: asking how many blocks fit [CUDA] / rank # can't run programs
CUDA setDevice -> NCCL serves: rank # can't run programs / switching to device # [CUDA]
CUDA await -> broken: waiting for the last call [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError
CUDA copy -> broken: telling the other ranks [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError
CUDA clear -> broken: telling the other ranks [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError
NCCL groupStart -> broken: opening a group [NCCL]; group: SystemError; asked: SystemError
NCCL allGather -> broken: telling the other ranks [NCCL]; group: SystemError; asked: SystemError; left: 1 memory 1 pinned 1 streams
NCCL allGather -> broken: telling the other ranks [NCCL]; group: SystemError; asked: SystemError; left: 2 memory 2 pinned 2 streams
NCCL groupEnd -> broken: closing a group [NCCL]; group: SystemError; asked: SystemError; left: 2 memory 2 pinned 2 streams
CUDA getDevice -> broken: asking for the current device [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError; left: 1 memory 1 pinned 1 streams
CUDA record -> broken: recording an event [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError; left: 1 memory 1 pinned 1 streams
CUDA query -> broken: hearing from the other ranks [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError; left: 1 memory 1 pinned 1 streams
CUDA copy -> broken: hearing from the other ranks [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError; left: 1 memory 1 pinned 1 streams
CUDA synchronize -> broken: hearing from the other ranks [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError; left: 1 memory 1 pinned 1 streams
CUDA setDevice -> broken: switching to device # [CUDA]; group: UnhandledCudaError; asked: UnhandledCudaError; left: 1 memory 1 pinned 1 streams
CUDA capture -> group: handed over; alone: NCCL
CUDA getDevice -> group: handed over; alone: NCCL
CUDA occupancy -> group: handed over; alone: NCCL
CUDA allocate -> group: handed over; alone: NCCL
NCCL allocate -> group: handed over; alone: NCCL
CUDA clear -> group: handed over; alone: NCCL
CUDA synchronize -> group: handed over; alone: NCCL
CUDA setDevice -> group: handed over; alone: NCCL
CUDA getDevice -> group: UnhandledCudaError; asked: UnhandledCudaError
CUDA await -> group: UnhandledCudaError; asked: UnhandledCudaError
CUDA copy -> group: UnhandledCudaError; asked: UnhandledCudaError
CUDA clear -> group: UnhandledCudaError; asked: UnhandledCudaError
CUDA setDevice -> group: UnhandledCudaError; asked: UnhandledCudaError
NCCL groupStart -> group: SystemError; asked: SystemError
NCCL allGather -> group: SystemError; asked: SystemError; left: 2 memory 1 pinned 1 streams 1 symmetric
NCCL allGather -> group: SystemError; asked: SystemError; left: 4 memory 2 pinned 2 streams 2 symmetric
NCCL groupEnd -> group: SystemError; asked: SystemError; left: 4 memory 2 pinned 2 streams 2 symmetric
CUDA getDevice -> group: UnhandledCudaError; asked: UnhandledCudaError; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA record -> group: UnhandledCudaError; asked: UnhandledCudaError; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA query -> group: UnhandledCudaError; asked: UnhandledCudaError; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA copy -> group: UnhandledCudaError; asked: UnhandledCudaError; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA synchronize -> group: UnhandledCudaError; asked: UnhandledCudaError; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA setDevice -> group: UnhandledCudaError; asked: UnhandledCudaError; left: 2 memory 1 pinned 1 streams 1 symmetric
NCCL groupStart -> group: handed over; alone: NCCL
NCCL enroll -> group: handed over; alone: NCCL
NCCL groupEnd -> group: handed over; alone: NCCL
CUDA isDeviceMemory -> group: handed over; alone: NCCL
CUDA copy -> group: handed over; alone: NCCL
NCCL allGather -> group: SystemError; asked: SystemError; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
NCCL allGather -> group: SystemError; asked: SystemError; left: 6 memory 2 pinned 2 streams 2 symmetric 2 windows
NCCL groupEnd -> group: SystemError; asked: SystemError; left: 6 memory 2 pinned 2 streams 2 symmetric 2 windows
CUDA getDevice -> group: UnhandledCudaError; asked: UnhandledCudaError; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA record -> group: UnhandledCudaError; asked: UnhandledCudaError; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA query -> group: UnhandledCudaError; asked: UnhandledCudaError; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA copy -> group: UnhandledCudaError; asked: UnhandledCudaError; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA synchronize -> group: UnhandledCudaError; asked: UnhandledCudaError; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA setDevice -> group: UnhandledCudaError; asked: UnhandledCudaError; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA getDevice -> group: UnhandledCudaError; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA setDevice -> group: UnhandledCudaError; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA await -> group: UnhandledCudaError; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA launch -> group: UnhandledCudaError; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA record -> group: UnhandledCudaError; asked: UnhandledCudaError / ok
CUDA capture -> group: served; alone: UnhandledCudaError / ok; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA getDevice -> group: served; alone: UnhandledCudaError / ok; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA await -> group: served; alone: UnhandledCudaError / ok; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA launch -> group: served; alone: UnhandledCudaError / ok; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA record -> group: served; alone: UnhandledCudaError / ok; asked: UnhandledCudaError / ok
CUDA setDevice -> group: served; alone: UnhandledCudaError / ok; aborted; left: 6 memory 2 pinned 2 symmetric 2 windows
CUDA getDevice -> group: served; alone: served
CUDA query -> group: served; alone: served
CUDA setDevice -> group: served; alone: served
)");
}

/// What all ranks decline is handed over, which may fail, too.
TEST(LsaEngineSweep, WithoutWindows) {
  EXPECT_EQ(sweepOver(FakeWindows::Windows::Null).beyond(sweepOver(FakeWindows::Windows::Real)), R"(
nothing -> group: handed over; alone: NCCL
CUDA setDevice -> group: handed over; alone: NCCL; on another device
NCCL groupStart -> group: SystemError
NCCL forwarded call -> group: SystemError, handed over: 1
NCCL groupEnd -> group: SystemError, handed over: 2
CUDA query -> group: handed over; alone: NCCL
)");
}

} // namespace
