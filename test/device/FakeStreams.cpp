// SPDX-License-Identifier: Apache-2.0
// The streams, events, captures and launches of the fake: work that runs when its stream reaches it.
#include "FakeCuda.h"

#include "FakeKernels.h"
#include "Launch.h"

#include <cstdlib>
#include <utility>

namespace gc3::test {

using core::ElementType;
using cuda::Launch;
using cuda::Result;

void FakeCuda::enqueue(cuda::Stream stream, const std::function<Work()> &make) {
  const Monitor::Lock lock;
  if (captured) {
    graph.push_back({stream, make, captured.number()});
    return;
  }
  begin(stream, make);
}

void FakeCuda::begin(cuda::Stream stream, const std::function<Work()> &make) {
  streams[queueOf(stream)].push_back(make());
  advanceAll();
}

/// Returns the key of a stream in `streams`. For a null stream it is the current device plus 1, which is smaller than
/// all handles.
void *FakeCuda::queueOf(cuda::Stream stream) const {
  return stream ? stream : reinterpret_cast<void *>(static_cast<uintptr_t>(currentDevice) + 1);
}

/// Aborts if a stream belongs to another device than the current one. Handles that this fake did not create are valid
/// on all devices.
void FakeCuda::expectCurrent(cuda::Stream stream) const {
  const auto found = handles.find(stream);
  if (found != handles.end() && found->second != currentDevice)
    std::abort(); // cudaErrorInvalidResourceHandle
}

/// Increments `recorded` when the record is enqueued or replayed, and `passed` when the stream reaches the record.
void FakeCuda::enqueueRecord(cuda::Event event, cuda::Stream stream) {
  enqueue(stream, [this, event, queue = queueOf(stream)] {
    ++recorded[event];
    return [this, event, queue] {
      ++passed[event];
      if (const auto time = times.find(event); time != times.end())
        time->second = clocks[queue];
      return true;
    };
  });
}

/// Enqueues a wait for the last record that is enqueued or replayed before the wait.
void FakeCuda::enqueueAwait(cuda::Stream stream, cuda::Event event) {
  ++awaited;
  enqueue(stream, [this, event] { return [this, event, times = recorded[event]] { return passed[event] >= times; }; });
}

/// Aborts if no capture is running, or if the event's last record is in a capture: CUDA then rejects external nodes.
void FakeCuda::expectExternal(cuda::Event event) {
  ++externals;
  if (!captured || captured.hasFailed || !events.contains(event) || captureOf.contains(event))
    std::abort();
}

void FakeCuda::spend(cuda::Stream stream, double microseconds) {
  clocks[queueOf(stream)] += microseconds;
}

bool FakeCuda::isIdle(cuda::Stream stream) {
  const Monitor::Lock lock;
  advanceAll();
  return streams[queueOf(stream)].empty();
}

void FakeCuda::replay() {
  const Monitor::Lock lock;
  uint64_t last = 0;
  for (const Node &node : graph) {
    if (std::exchange(last, node.capture) != node.capture)
      recordedBefore = recorded;
    begin(node.stream, node.make);
  }
}

void FakeCuda::drop(cuda::Stream stream) {
  const Monitor::Lock lock;
  std::erase_if(graph, [&](const Node &node) { return node.stream == stream; });
}

void FakeCuda::advance() {
  const Monitor::Lock lock;
  advanceAll();
}

bool FakeCuda::advance(std::deque<Work> &stream) {
  bool any = false;
  for (; !stream.empty() && stream.front()(); any = true)
    stream.pop_front();
  return any;
}

/// Advances streams and kernels until none can progress. Wakes waiting threads if any has progressed.
void FakeCuda::advanceAll() {
  bool any = false;
  for (bool moved = true; moved; any |= moved) {
    moved = false;
    for (auto &[handle, stream] : streams)
      moved |= advance(stream);
    if (gpu && gpu->idle())
      gpu.reset();
    if (gpu)
      moved |= gpu->run();
  }
  if (any)
    Monitor::change();
}

/// Stores times of a kernel's blocks, by the clock of its stream in microseconds. Aborts if the kernel has not stored
/// its own times.
static void storeTimes(const std::vector<kernel::BlockTimes> &emulated, double begin, double end,
                       kernel::BlockTimes *times) {
  for (const kernel::BlockTimes &block : emulated) {
    if (block.begin == 0 || block.end < block.begin)
      std::abort();
    __atomic_store_n(&times->begin, static_cast<uint64_t>(begin * 1000) + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&times++->end, static_cast<uint64_t>(end * 1000) + 1, __ATOMIC_RELAXED);
  }
}

/// Returns the work of a launch. It starts the kernel at the first call, and is complete when all the kernel's threads
/// have ended.
FakeCuda::Work FakeCuda::interpret(const kernel::KernelArgs &call, const Launch &launch) {
  const auto written = std::make_shared<std::vector<kernel::BlockTimes>>(launch.blocks); // by the emulation's clock
  kernel::KernelArgs emulated = call;
  emulated.times = call.times ? written->data() : nullptr;
  return [this, call = emulated, launch, written, timesOfCall = call.times, queue = queueOf(launch.stream),
          number = std::optional<uint32_t>()]() mutable {
    if (!number) {
      ++launches;
      if (!gpu)
        gpu.emplace(launch.threads, seed);
      const auto &kernel = *static_cast<const Kernel *>(launch.kernel);
      number = start(*gpu, call,
                     {kernel.type, kernel.protocol, launch.blocks, launch.threads,
                      kernel.kind == Kernel::Kind::NetworkInterpreter, kernel.kind == Kernel::Kind::SwitchInterpreter});
    }
    if (!gpu->ended(*number))
      return false;
    const double begin = clocks[queue], end = begin + duration(launch);
    clocks[queue] = end;
    if (timesOfCall)
      storeTimes(*written, begin, end, timesOfCall);
    return true;
  };
}

/// Aborts if a buffer is not aligned to the element size. A GPU would report an error.
static void expectAligned(const kernel::KernelArgs &call, ElementType type) {
  for (const kernel::RankBuffers &rank : call.memory)
    for (const void *buffer : rank.buffers)
      if (reinterpret_cast<uintptr_t>(buffer) % core::elementSize(type) != 0)
        std::abort(); // cudaErrorMisalignedAddress
}

/// Copies the arguments at once, as CUDA does, because the caller may change them after the call.
Result FakeCuda::enqueueInterpreter(const Launch &launch) {
  if (!launch.cooperative && !sharesGpus)
    std::abort(); // blocks wait for each other, but a GPU might not run all of them at once
  cooperativeLaunches += launch.cooperative;
  expectAligned(*static_cast<const kernel::KernelArgs *>(launch.arguments[0]),
                static_cast<const Kernel *>(launch.kernel)->type);
  threadsOfLaunch = launch.threads;
  launchedOn.push_back(launch.stream);
  callOn[launch.stream] = *static_cast<const kernel::KernelArgs *>(launch.arguments[0]);
  enqueue(launch.stream, [this, launch, call = *static_cast<const kernel::KernelArgs *>(launch.arguments[0])] {
    return interpret(call, launch);
  });
  return 0;
}

Result FakeCuda::enqueueClock(const Launch &launch) {
  enqueue(launch.stream, [to = *static_cast<uint64_t **>(launch.arguments[0])] {
    return [to] {
      *to = Gpu::now();
      return true;
    };
  });
  return 0;
}

Result FakeCuda::enqueueMove(const Launch &launch) {
  enqueue(launch.stream, [kernel = *static_cast<const Kernel *>(launch.kernel), arguments = argumentsOf(launch)] {
    return [kernel, arguments] {
      move(kernel, arguments);
      return true;
    };
  });
  return 0;
}

} // namespace gc3::test
