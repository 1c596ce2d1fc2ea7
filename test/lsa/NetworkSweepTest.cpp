// SPDX-License-Identifier: Apache-2.0
// As LsaSweepTest.cpp, of ranks on several nodes: with a network between them, and without.
#include "LsaSweep.h"

using namespace gc3;
using namespace gc3::test;

namespace {

TEST(LsaSweep, OverANetwork) {
  Sweep sweep;
  sweep.over([&](FakeCuda &fake) {
    FakeWindows windows(fake);
    windows.teamSize = 1;
    return joinAndCall(fake, windows, {ringAllReduce(2, true)}, {.count = 9});
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
CUDA allocate -> refused: gc3InvalidUsage: rank # can't run programs / gc3UnhandledCudaError: allocating # bytes of device memory for a device communicator [CUDA]
CUDA setDevice -> refused: gc3InvalidUsage: rank # can't run programs / gc3UnhandledCudaError: switching to device # [CUDA]
CUDA await -> broken in joining: gc3UnhandledCudaError: waiting for the last call [CUDA]
CUDA copy -> broken in joining: gc3UnhandledCudaError: telling the other ranks [CUDA]
CUDA clear -> broken in joining: gc3UnhandledCudaError: telling the other ranks [CUDA]
NCCL groupStart -> broken in joining: gc3SystemError: opening a group [NCCL]
NCCL allGather -> broken in joining: gc3SystemError: telling the other ranks [NCCL]; left: 2 memory 1 pinned 1 streams
NCCL allGather -> broken in joining: gc3SystemError: telling the other ranks [NCCL]; left: 4 memory 2 pinned 2 streams
NCCL groupEnd -> broken in joining: gc3SystemError: closing a group [NCCL]; left: 4 memory 2 pinned 2 streams
CUDA getDevice -> broken in joining: gc3UnhandledCudaError: asking for the current device [CUDA]; left: 2 memory 1 pinned 1 streams
CUDA record -> broken in joining: gc3UnhandledCudaError: recording an event [CUDA]; left: 2 memory 1 pinned 1 streams
CUDA query -> broken in joining: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams
CUDA copy -> broken in joining: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams
CUDA synchronize -> broken in joining: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams
CUDA setDevice -> broken in joining: gc3UnhandledCudaError: switching to device # [CUDA]; left: 2 memory 1 pinned 1 streams
NCCL groupStart -> not chosen: gc3InvalidUsage: program 'ring2_aliased_1': ranks 0 and 1, which it connects, do not reach each other's memory, and rank # could not get a network of NCCL's GIN
NCCL createNetwork -> not chosen: gc3InvalidUsage: program 'ring2_aliased_1': ranks 0 and 1, which it connects, do not reach each other's memory, and rank # could not get a network of NCCL's GIN
NCCL groupEnd -> not chosen: gc3InvalidUsage: program 'ring2_aliased_1': ranks 0 and 1, which it connects, do not reach each other's memory, and rank # could not get a network of NCCL's GIN
CUDA getDevice -> not chosen: gc3InvalidUsage: program 'ring2_aliased_1': ranks 0 and 1, which it connects, do not reach each other's memory, and rank # could not get a network of NCCL's GIN
CUDA copy -> not chosen: gc3InvalidUsage: program 'ring2_aliased_1': ranks 0 and 1, which it connects, do not reach each other's memory, and rank # could not get a network of NCCL's GIN
CUDA synchronize -> not chosen: gc3InvalidUsage: program 'ring2_aliased_1': ranks 0 and 1, which it connects, do not reach each other's memory, and rank # could not get a network of NCCL's GIN
CUDA setDevice -> not chosen: gc3InvalidUsage: program 'ring2_aliased_1': ranks 0 and 1, which it connects, do not reach each other's memory, and rank # could not get a network of NCCL's GIN
NCCL allGather -> broken in joining: gc3SystemError: telling the other ranks [NCCL]; left: 2 memory 1 pinned 1 streams 1 device communicators
NCCL allGather -> broken in joining: gc3SystemError: telling the other ranks [NCCL]; left: 4 memory 2 pinned 2 streams 2 device communicators
NCCL groupEnd -> broken in joining: gc3SystemError: closing a group [NCCL]; left: 4 memory 2 pinned 2 streams 2 device communicators
CUDA getDevice -> broken in joining: gc3UnhandledCudaError: asking for the current device [CUDA]; left: 2 memory 1 pinned 1 streams 1 device communicators
CUDA record -> broken in joining: gc3UnhandledCudaError: recording an event [CUDA]; left: 2 memory 1 pinned 1 streams 1 device communicators
CUDA query -> broken in joining: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams 1 device communicators
CUDA copy -> broken in joining: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams 1 device communicators
CUDA synchronize -> broken in joining: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams 1 device communicators
CUDA setDevice -> broken in joining: gc3UnhandledCudaError: switching to device # [CUDA]; left: 2 memory 1 pinned 1 streams 1 device communicators
CUDA capture -> declined: asking whether the stream is captured [CUDA] / rank # could not load it: asking whether the stream is captured [CUDA]
CUDA getDevice -> declined: asking for the current device [CUDA] / rank # could not load it: asking for the current device [CUDA]
CUDA occupancy -> declined: asking how many blocks fit [CUDA] / rank # could not load it: asking how many blocks fit [CUDA]
CUDA allocate -> declined: allocating # bytes of device memory for program 'ring2_aliased_1' [CUDA] / rank # could not load it: allocating # bytes of device memory for program 'ring2_aliased_1' [CUDA]
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
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 device communicators
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 6 memory 2 pinned 2 streams 2 symmetric 2 device communicators
NCCL groupEnd -> broken: gc3SystemError: closing a group [NCCL]; left: 6 memory 2 pinned 2 streams 2 symmetric 2 device communicators
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 device communicators
CUDA record -> broken: gc3UnhandledCudaError: recording an event [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 device communicators
CUDA query -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 device communicators
CUDA copy -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 device communicators
CUDA synchronize -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 device communicators
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 device communicators
NCCL groupStart -> declined: opening a group [NCCL]
NCCL enroll -> declined: rank # could not load it: registering a window [NCCL] / registering a window [NCCL]
NCCL groupEnd -> declined: closing a group [NCCL]
CUDA isDeviceMemory -> declined: looking at a window [CUDA] / rank # could not load it: looking at a window [CUDA]
CUDA copy -> declined: rank # could not load it: reading a window [CUDA] / reading a window [CUDA]
CUDA synchronize -> declined: rank # could not load it: reading a window [CUDA] / reading a window [CUDA]
CUDA clear -> declined: clearing a program's counters [CUDA] / rank # could not load it: clearing a program's counters [CUDA]
CUDA copy -> declined: copying a program [CUDA] / rank # could not load it: copying a program [CUDA]
CUDA synchronize -> declined: copying a program [CUDA] / rank # could not load it: copying a program [CUDA]
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 4 memory 1 pinned 1 streams 1 symmetric 1 windows 1 device communicators
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 8 memory 2 pinned 2 streams 2 symmetric 2 windows 2 device communicators
NCCL groupEnd -> broken: gc3SystemError: closing a group [NCCL]; left: 8 memory 2 pinned 2 streams 2 symmetric 2 windows 2 device communicators
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA]; left: 4 memory 1 pinned 1 streams 1 symmetric 1 windows 1 device communicators
CUDA record -> broken: gc3UnhandledCudaError: recording an event [CUDA]; left: 4 memory 1 pinned 1 streams 1 symmetric 1 windows 1 device communicators
CUDA query -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 4 memory 1 pinned 1 streams 1 symmetric 1 windows 1 device communicators
CUDA copy -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 4 memory 1 pinned 1 streams 1 symmetric 1 windows 1 device communicators
CUDA synchronize -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 4 memory 1 pinned 1 streams 1 symmetric 1 windows 1 device communicators
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA]; left: 4 memory 1 pinned 1 streams 1 symmetric 1 windows 1 device communicators
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA] / ok; aborted, as others waited; left: 8 memory 2 pinned 2 symmetric 2 windows 2 device communicators
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA] / ok; aborted, as others waited; left: 8 memory 2 pinned 2 symmetric 2 windows 2 device communicators
CUDA await -> broken: gc3UnhandledCudaError: waiting for the last call [CUDA] / ok; aborted, as others waited; left: 8 memory 2 pinned 2 symmetric 2 windows 2 device communicators
CUDA copy -> broken: gc3UnhandledCudaError: copying a buffer [CUDA] / ok; aborted, as others waited; left: 8 memory 2 pinned 2 symmetric 2 windows 2 device communicators
CUDA launchOverNetwork -> broken: gc3UnhandledCudaError: launching the interpreter [CUDA] / ok; aborted, as others waited; left: 8 memory 2 pinned 2 symmetric 2 windows 2 device communicators
CUDA record -> broken: gc3UnhandledCudaError: recording an event [CUDA] / ok
CUDA capture -> broken: gc3UnhandledCudaError: asking whether the stream is captured [CUDA] / ok; aborted, as others waited; left: 8 memory 2 pinned 2 symmetric 2 windows 2 device communicators
CUDA getDevice -> ran
CUDA query -> ran
CUDA setDevice -> ran
)");
}

/// The communicator is split for windows.
TEST(LsaSweep, WithoutANetwork) {
  Sweep sweep;
  for (int version : {ncclapi::oldestVersion, ncclapi::tellingVersion})
    sweep.over([&](FakeCuda &fake) {
      FakeWindows windows(fake);
      windows.teamSize = 2;
      windows.hasPart = false;
      windows.windows = FakeWindows::Windows::OneTeam;
      windows.version = version;
      return joinAndCall(fake, windows, {pairs(4)}, {.count = 9});
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
NCCL allGather -> broken in joining: gc3SystemError: telling the other ranks [NCCL]; left: 3 memory 3 pinned 3 streams
NCCL allGather -> broken in joining: gc3SystemError: telling the other ranks [NCCL]; left: 4 memory 4 pinned 4 streams
NCCL groupEnd -> broken in joining: gc3SystemError: closing a group [NCCL]; left: 4 memory 4 pinned 4 streams
CUDA getDevice -> broken in joining: gc3UnhandledCudaError: asking for the current device [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA record -> broken in joining: gc3UnhandledCudaError: recording an event [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA query -> broken in joining: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA copy -> broken in joining: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA synchronize -> broken in joining: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA setDevice -> broken in joining: gc3UnhandledCudaError: switching to device # [CUDA]; left: 1 memory 1 pinned 1 streams
CUDA capture -> declined: asking whether the stream is captured [CUDA] / rank # could not load it: asking whether the stream is captured [CUDA]
CUDA getDevice -> declined: asking for the current device [CUDA] / rank # could not load it: asking for the current device [CUDA]
CUDA occupancy -> declined: asking how many blocks fit [CUDA] / rank # could not load it: asking how many blocks fit [CUDA]
CUDA allocate -> declined: allocating # bytes of device memory for program 'pairs' [CUDA] / rank # could not load it: allocating # bytes of device memory for program 'pairs' [CUDA]
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
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 6 memory 3 pinned 3 streams 3 symmetric
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 8 memory 4 pinned 4 streams 4 symmetric
NCCL groupEnd -> broken: gc3SystemError: closing a group [NCCL]; left: 8 memory 4 pinned 4 streams 4 symmetric
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA record -> broken: gc3UnhandledCudaError: recording an event [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA query -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA copy -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA synchronize -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA]; left: 2 memory 1 pinned 1 streams 1 symmetric
NCCL groupStart -> declined: opening a group [NCCL]
NCCL enroll -> declined: rank # could not load it: registering a window [NCCL] / registering a window [NCCL]
NCCL groupEnd -> declined: closing a group [NCCL]
NCCL split -> declined: closing a group [NCCL] / splitting the communicator by LSA team [NCCL]
CUDA getDevice -> ran
CUDA setDevice -> ran
CUDA isDeviceMemory -> declined: looking at a window [CUDA] / rank # could not load it: looking at a window [CUDA]
CUDA copy -> declined: rank # could not load it: reading a window [CUDA] / reading a window [CUDA]
CUDA synchronize -> declined: rank # could not load it: reading a window [CUDA] / reading a window [CUDA]
CUDA clear -> declined: clearing a program's counters [CUDA] / rank # could not load it: clearing a program's counters [CUDA]
CUDA copy -> declined: copying a program [CUDA] / rank # could not load it: copying a program [CUDA]
CUDA synchronize -> declined: copying a program [CUDA] / rank # could not load it: copying a program [CUDA]
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows 1 communicators
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 6 memory 2 pinned 2 streams 2 symmetric 2 windows 2 communicators
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 9 memory 3 pinned 3 streams 3 symmetric 3 windows 3 communicators
NCCL allGather -> broken: gc3SystemError: telling the other ranks [NCCL]; left: 12 memory 4 pinned 4 streams 4 symmetric 4 windows 4 communicators
NCCL groupEnd -> broken: gc3SystemError: closing a group [NCCL]; left: 12 memory 4 pinned 4 streams 4 symmetric 4 windows 4 communicators
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows 1 communicators
CUDA record -> broken: gc3UnhandledCudaError: recording an event [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows 1 communicators
CUDA query -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows 1 communicators
CUDA copy -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows 1 communicators
CUDA synchronize -> broken: gc3UnhandledCudaError: hearing from the other ranks [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows 1 communicators
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA]; left: 3 memory 1 pinned 1 streams 1 symmetric 1 windows 1 communicators
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA] / ok; aborted, as others waited; left: 12 memory 4 pinned 4 symmetric 4 windows
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA] / ok; aborted, as others waited; left: 12 memory 4 pinned 4 symmetric 4 windows
CUDA await -> broken: gc3UnhandledCudaError: waiting for the last call [CUDA] / ok; aborted, as others waited; left: 12 memory 4 pinned 4 symmetric 4 windows
CUDA launch -> broken: gc3UnhandledCudaError: launching the interpreter [CUDA] / ok; aborted, as others waited; left: 12 memory 4 pinned 4 symmetric 4 windows
CUDA record -> broken: gc3UnhandledCudaError: recording an event [CUDA] / ok
CUDA capture -> broken: gc3UnhandledCudaError: asking whether the stream is captured [CUDA] / ok; aborted, as others waited; left: 12 memory 4 pinned 4 symmetric 4 windows
CUDA query -> ran
NCCL pointer -> declined: asking for a peer's memory [NCCL] / rank # could not load it: asking for a peer's memory [NCCL]
)");
}

} // namespace
