// SPDX-License-Identifier: Apache-2.0
// Ranks on several GPUs where every call into CUDA and NCCL fails in turn. Whatever it was, ranks come to the same: all
// join or none, all run a program or none; or the communicator is broken, which the rank that failed says. Memory stays
// taken by ranks that do not know that NCCL's kernel has ended, and by those that were aborted.
#include "LsaSweep.h"

using namespace gc3;
using namespace gc3::test;

namespace {

TEST(LsaSweep, WithinANode) {
  Sweep sweep;
  for (int version : {ncclapi::oldestVersion, ncclapi::tellingVersion})
    sweep.over([&](FakeCuda &fake) {
      FakeWindows windows(fake);
      windows.version = version;
      return joinAndCall(fake, windows, {reduceScatter(2, true)}, {.count = 9, .op = core::ReduceOp::Avg});
    });
  EXPECT_EQ(sweep.lines(), R"(
nothing -> ran
NCCL count -> broken in joining: gc3SystemError: asking for the ranks [NCCL]
NCCL rank -> broken in joining: gc3SystemError: asking for the rank [NCCL]
NCCL device -> broken in joining: gc3SystemError: asking for the device [NCCL]
CUDA getDevice -> broken in joining: gc3UnhandledCudaError: asking for the current device [CUDA]
CUDA getDevice -> broken in joining: gc3UnhandledCudaError: looking for a GPU [CUDA]
CUDA attribute -> broken in joining: gc3UnhandledCudaError: asking what the GPU can do [CUDA]
CUDA createStream -> broken in joining: gc3UnhandledCudaError: creating a stream [CUDA]
CUDA allocatePinned -> broken in joining: gc3UnhandledCudaError: allocating # bytes of pinned memory for a word that stops kernels [CUDA]
CUDA createEvent -> broken in joining: gc3UnhandledCudaError: creating an event [CUDA]
CUDA allocate -> broken in joining: gc3UnhandledCudaError: allocating # bytes of device memory for what ranks tell each other [CUDA]
CUDA setDevice -> broken in joining: gc3UnhandledCudaError: switching to device # [CUDA]
CUDA setDevice -> ran; on another device
CUDA getDevice -> refused: gc3InvalidUsage: rank # can't run programs / gc3UnhandledCudaError: asking for the current device [CUDA]
CUDA busId -> refused: gc3InvalidUsage: rank # can't run programs / gc3UnhandledCudaError: asking for the GPU's place on the bus [CUDA]
CUDA occupancy -> refused: gc3InvalidUsage: rank # can't run programs / gc3UnhandledCudaError: asking how many blocks fit [CUDA]
CUDA setDevice -> refused: gc3InvalidUsage: rank # can't run programs / gc3UnhandledCudaError: switching to device # [CUDA]
CUDA await -> broken in joining: gc3UnhandledCudaError: waiting for the last call [CUDA]
CUDA copy -> broken in joining: gc3UnhandledCudaError: telling the other ranks [CUDA]
CUDA clear -> broken in joining: gc3UnhandledCudaError: telling the other ranks [CUDA]
NCCL groupStart -> broken in joining: gc3SystemError: opening a group [NCCL]
NCCL allGather -> broken in joining: gc3SystemError: telling the other ranks [NCCL]; left: 1 memory 1 pinned 1 streams
NCCL allGather -> broken in joining: gc3SystemError: telling the other ranks [NCCL]; left: 2 memory 2 pinned 2 streams
NCCL groupEnd -> broken in joining: gc3SystemError: closing a group [NCCL]; left: 2 memory 2 pinned 2 streams
CUDA getDevice -> broken in joining: gc3UnhandledCudaError: asking for the current device [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA record -> broken in joining: gc3UnhandledCudaError: recording an event [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA query -> broken in joining: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA copy -> broken in joining: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA synchronize -> broken in joining: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA setDevice -> broken in joining: gc3UnhandledCudaError: switching to device # [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA capture -> declined: asking whether the stream is captured [CUDA] / rank # could not load it: asking whether the stream is captured [CUDA]
CUDA getDevice -> declined: asking for the current device [CUDA] / rank # could not load it: asking for the current device [CUDA]
CUDA occupancy -> declined: asking how many blocks fit [CUDA] / rank # could not load it: asking how many blocks fit [CUDA]
CUDA allocate -> declined: allocating # bytes of device memory for program 'direct_rs2_aliased' [CUDA] / rank # could not load it: allocating # bytes of device memory for program 'direct_rs2_aliased' [CUDA]
NCCL allocate -> declined: allocating # bytes of symmetric memory [NCCL] / rank # could not load it: allocating # bytes of symmetric memory [NCCL]
CUDA clear -> declined: clearing FIFO slots [CUDA] / rank # could not load it: clearing FIFO slots [CUDA]
CUDA synchronize -> declined: clearing FIFO slots [CUDA] / rank # could not load it: clearing FIFO slots [CUDA]
CUDA setDevice -> declined: rank # could not load it: switching to device # [CUDA] / switching to device # [CUDA]
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA]
CUDA await -> broken: gc3UnhandledCudaError: waiting for the last call [CUDA]
CUDA copy -> broken: gc3UnhandledCudaError: telling the other ranks [CUDA]
CUDA clear -> broken: gc3UnhandledCudaError: telling the other ranks [CUDA]
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA]
NCCL groupStart -> broken: gc3SystemError: opening a group [NCCL]
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 2 memory 1 pinned 1 streams 1 symmetric
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 4 memory 2 pinned 2 streams 2 symmetric
NCCL groupEnd -> broken: gc3SystemError: closing a group [NCCL]; left: 4 memory 2 pinned 2 streams 2 symmetric
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA record -> broken: gc3UnhandledCudaError: recording an event [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA query -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA copy -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA synchronize -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
NCCL groupStart -> declined: opening a group [NCCL]
NCCL enroll -> declined: rank # could not load it: registering a window [NCCL] / registering a window [NCCL]
NCCL groupEnd -> declined: closing a group [NCCL]
CUDA isDeviceMemory -> declined: looking at a window [CUDA] / rank # could not load it: looking at a window [CUDA]
CUDA copy -> declined: rank # could not load it: reading a window [CUDA] / reading a window [CUDA]
CUDA synchronize -> declined: rank # could not load it: reading a window [CUDA] / reading a window [CUDA]
CUDA clear -> declined: clearing a program's counters [CUDA] / rank # could not load it: clearing a program's counters [CUDA]
CUDA copy -> declined: copying a program [CUDA] / rank # could not load it: copying a program [CUDA]
CUDA synchronize -> declined: copying a program [CUDA] / rank # could not load it: copying a program [CUDA]
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 6 memory 2 pinned 2 streams 2 symmetric 2 windows
NCCL groupEnd -> broken: gc3SystemError: closing a group [NCCL]; left: 6 memory 2 pinned 2 streams 2 symmetric 2 windows
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA record -> broken: gc3UnhandledCudaError: recording an event [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA query -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA copy -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA synchronize -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA] / ok; aborted, as others waited; left: 7 memory 2 pinned 2 symmetric 2 windows
CUDA allocate -> ran
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA] / ok; aborted, as others waited; left: 7 memory 2 pinned 2 symmetric 2 windows
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA] / ok; aborted, as others waited; left: 8 memory 2 pinned 2 symmetric 2 windows
CUDA await -> broken: gc3UnhandledCudaError: waiting for the last call [CUDA] / ok; aborted, as others waited; left: 8 memory 2 pinned 2 symmetric 2 windows
CUDA launch -> broken: gc3UnhandledCudaError: launching a kernel [CUDA] / ok; aborted, as others waited; left: 8 memory 2 pinned 2 symmetric 2 windows
CUDA launch -> broken: gc3UnhandledCudaError: launching the interpreter [CUDA] / ok; aborted, as others waited; left: 8 memory 2 pinned 2 symmetric 2 windows
CUDA copy -> broken: gc3UnhandledCudaError: copying a buffer [CUDA] / ok
CUDA record -> broken: gc3UnhandledCudaError: recording an event [CUDA] / ok
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA] / ok; aborted, as others waited; left: 8 memory 2 pinned 2 symmetric 2 windows
CUDA capture -> broken: gc3UnhandledCudaError: asking whether the stream is captured [CUDA] / ok; aborted, as others waited; left: 8 memory 2 pinned 2 symmetric 2 windows
CUDA getDevice -> ran
CUDA query -> ran
CUDA setDevice -> ran
NCCL pointer -> declined: asking for a peer's memory [NCCL] / rank # could not load it: asking for a peer's memory [NCCL]
)");
}

/// A call of a program for a protocol, and under which other it ran, if so.
std::string callUnder(kernel::Protocol protocol, FakeCuda &fake) {
  FakeWindows windows(fake);
  std::string came;
  ProgramSpec spec = reduceScatter(2, true);
  spec.protocol = static_cast<uint8_t>(protocol);
  {
    LsaWorld world(fake, windows, {spec});
    came = joinedTo(world);
    if (came.empty()) {
      const auto used = [&](size_t rank) { return world.joined[rank].rank->programs()->entry(0).sizes.protocol; };
      EXPECT_EQ(used(0), used(1));
      came = callOf(world, {.count = 9});
      if (came.empty())
        came = used(0) == protocol ? "ran" : used(0) == kernel::Protocol::Simple ? "ran under Simple" : "ran under LL";
    }
  }
  return came + leftBy(fake, windows);
}

/// Where it can't be asked whether a link keeps lines whole, all ranks take it that it does not.
TEST(LsaSweep, UnderLL128) {
  Sweep simple, lines;
  simple.over([](FakeCuda &fake) { return callUnder(kernel::Protocol::Simple, fake); });
  lines.over([](FakeCuda &fake) { return callUnder(kernel::Protocol::LL128, fake); });
  EXPECT_EQ(lines.beyond(simple), R"(
CUDA deviceOf -> ran under Simple
CUDA nativeAtomics -> ran under Simple
)");
}

} // namespace
