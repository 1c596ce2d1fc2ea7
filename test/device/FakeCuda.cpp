// SPDX-License-Identifier: Apache-2.0
// The CUDA functions of the fake, and its resources. FakeStreams.cpp runs the work of streams.
#include "FakeCuda.h"

#include "FakeKernels.h"
#include "Launch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace gc3::test {

using core::ElementType;
using cuda::Launch;
using cuda::Result;
using kernel::Protocol;

namespace {

FakeCuda *current = nullptr;

/// Returns the device's own value if it has one, else the value for all devices.
int ownOr(const std::map<int, int> &own, int device, int ofAll) {
  const auto found = own.find(device);
  return found == own.end() ? ofAll : found->second;
}

/// Error code of a synchronize that would never return.
constexpr Result stuck = 702;

constexpr int garbage = 0xcd;
constexpr uintptr_t mostDevices = 1024;

/// Creates a handle of a stream or event. Does not reuse released handles, because a caller can destroy an event while
/// records of it are pending.
template <typename Handle>
Handle newHandle(std::map<void *, int> &known, int device) {
  static uintptr_t last = mostDevices;
  ++last;
  known[reinterpret_cast<void *>(last)] = device;
  return reinterpret_cast<Handle>(last);
}

void releaseHandle(auto &known, void *thing) {
  if (known.erase(thing) != 1)
    std::abort(); // freed twice, or never allocated
}

} // namespace

FakeCuda::FakeCuda() {
  const Monitor::Lock lock;
  current = this;
  currentDevice = 0;
}
/// Frees memory that gc3 has leaked, as it does after an abort. Tests find such memory with leaks().
FakeCuda::~FakeCuda() {
  const Monitor::Lock lock;
  current = nullptr;
  for (const auto &[piece, device] : memory)
    std::free(piece);
  for (void *piece : pinned)
    std::free(piece);
}

/// Counts the call in `calls`. Returns true if it must fail: `mustFail` is true, or its number is `failAt`. Then stores
/// its name in `failed`.
bool FakeCuda::countGlobally(const std::string &name, bool mustFail) {
  if (++calls != failAt && !mustFail)
    return false;
  failed = name;
  return true;
}

void FakeCuda::beforeCalls(Hook hook) {
  const Monitor::Lock lock;
  beforeCall = std::move(hook);
}

bool FakeCuda::failsOn(int device, const std::string &name) {
  const Monitor::Lock lock;
  static auto &names = *new std::set<std::string>; // never destroyed: threads can call while the process exits
  std::vector<const std::string *> &all = callsByDevice[device];
  all.push_back(&*names.insert(name).first);
  const uint64_t index = all.size();
  if (const Hook hook = beforeCall) {
    const Monitor::Unlocked unlocked;
    hook(device, name, index);
  }
  return countGlobally(name, (failing && failing->device == device && failing->index == index) ||
                                 (failFunction && (*failFunction)(name, device)));
}

bool FakeCuda::failsPoll(int device, const std::string &name) {
  const Monitor::Lock lock;
  const uint64_t index = ++pollsByDevice[{device, name}];
  if (const Hook hook = beforeCall) {
    const Monitor::Unlocked unlocked;
    hook(device, name, index);
  }
  return countGlobally(name,
                       (failPoll && failPoll->device == device && failPoll->name == name && failPoll->index == index) ||
                           (failFunction && (*failFunction)(name, device)));
}

std::vector<std::string> FakeCuda::callsOf(int device) const {
  const Monitor::Lock lock;
  std::vector<std::string> names;
  if (const auto found = callsByDevice.find(device); found != callsByDevice.end())
    for (const std::string *name : found->second)
      names.push_back(*name);
  return names;
}

uint64_t FakeCuda::pollsOf(int device, const std::string &name) const {
  const Monitor::Lock lock;
  const auto found = pollsByDevice.find({device, name});
  return found == pollsByDevice.end() ? 0 : found->second;
}

std::string FakeCuda::leaks() const {
  const Monitor::Lock lock;
  std::string text;
  auto add = [&](size_t count, const char *what) {
    if (count != 0)
      text += std::to_string(count) + " " + what + " ";
  };
  add(memory.size(), "pieces of memory");
  add(pinned.size(), "pieces of pinned memory");
  add(handles.size(), "streams");
  add(events.size(), "events");
  return text;
}

std::array<size_t, 3> FakeCuda::allocated(int device) const {
  const Monitor::Lock lock;
  std::array<size_t, 3> counts{};
  for (size_t i = 0; const auto *things : {&memory, &handles, &events})
    counts[i++] = static_cast<size_t>(
        std::count_if(things->begin(), things->end(), [&](const auto &thing) { return thing.second == device; }));
  return counts;
}

std::byte *FakeCuda::allocate(size_t bytes) {
  const Monitor::Lock lock;
  void *piece = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
  std::memset(piece, garbage, bytes);
  memory[piece] = currentDevice;
  return static_cast<std::byte *>(piece);
}

void FakeCuda::release(std::byte *piece) {
  const Monitor::Lock lock;
  if (memory.erase(piece) != 1)
    std::abort();
  std::free(piece);
}

cuda::Stream FakeCuda::stream(int device) {
  const Monitor::Lock lock;
  return newHandle<cuda::Stream>(handles, device);
}

/// A CUDA call that can fail. Holds the monitor and counts the call. `fails` is true if the call must fail.
struct FakeCuda::CudaCall {
  explicit CudaCall(const char *function = __builtin_FUNCTION(), bool isPoll = false) {
    if (current->whileCalled)
      current->whileCalled();
    const std::string name = std::string("CUDA ") + function;
    fails = isPoll ? current->failsPoll(currentDevice, name) : current->failsOn(currentDevice, name);
  }
  const Monitor::Lock lock;
  bool fails;
};

struct FakeCuda::Functions {
  static Result allocate(void **memory, size_t bytes) {
    const CudaCall call;
    if (call.fails || current->full || bytes > current->most)
      return failure;
    *memory = current->allocate(bytes);
    return 0;
  }
  static Result allocatePinned(void **memory, size_t bytes) {
    const CudaCall call;
    if (call.fails)
      return failure;
    *memory = std::malloc(bytes);
    current->pinned.insert(*memory);
    return 0;
  }
  static Kernel::Kind kindOf(const void *kernel) { return static_cast<const Kernel *>(kernel)->kind; }
  /// Aborts if a launch is empty, or if its stream belongs to another device.
  static void expectValid(const Launch &launch) {
    if (launch.blocks == 0 || launch.threads == 0)
      std::abort(); // cudaErrorInvalidConfiguration
    current->expectCurrent(launch.stream);
  }
  static Result launch(const Launch &launch) {
    const Kernel::Kind kind = kindOf(launch.kernel);
    if (kind == Kernel::Kind::NetworkInterpreter)
      std::abort();
    const CudaCall call;
    if (call.fails)
      return failure;
    expectValid(launch);
    if (kind == Kernel::Kind::Clock)
      return current->enqueueClock(launch);
    if (!current->known.contains(launch.kernel))
      std::abort(); // CUDA would load the kernel now, and could wait for a running kernel
    const bool interprets = kind == Kernel::Kind::Interpreter || kind == Kernel::Kind::SwitchInterpreter;
    return interprets ? current->enqueueInterpreter(launch) : current->enqueueMove(launch);
  }
  static Result launchOverNetwork(const Launch &launch) {
    if (kindOf(launch.kernel) != Kernel::Kind::NetworkInterpreter)
      std::abort();
    const CudaCall call;
    if (call.fails)
      return failure;
    expectValid(launch);
    return current->enqueueInterpreter(launch);
  }
  static Result copy(void *to, const void *from, size_t bytes, cuda::Stream stream) {
    const CudaCall call;
    if (call.fails)
      return failure;
    current->enqueue(stream, [=] {
      return [=] {
        if (bytes != 0) // CUDA then accepts null pointers
          std::memmove(to, from, bytes);
        return true;
      };
    });
    return 0;
  }
  static Result clear(void *piece, size_t bytes, cuda::Stream stream) {
    const CudaCall call;
    if (call.fails)
      return failure;
    current->enqueue(stream, [=] {
      return [=] {
        std::memset(piece, 0, bytes);
        return true;
      };
    });
    return 0;
  }
  static Result synchronize(cuda::Stream stream) {
    const CudaCall call;
    if (call.fails)
      return failure;
    if (current->meanwhile)
      std::exchange(current->meanwhile, nullptr)();
    auto isIdle = [stream] { return current->isIdle(stream); };
    return (current->waits ? Monitor::wait("CUDA synchronize", isIdle) : isIdle()) ? 0 : stuck;
  }
  static Result record(cuda::Event event, cuda::Stream stream) {
    const CudaCall call;
    FakeCuda &fake = *current;
    if (call.fails)
      return failure;
    fake.expectCurrent(stream);
    if (fake.events.at(event) != fake.currentDevice)
      std::abort();
    if (fake.captured)
      fake.captureOf[event] = fake.captured.number();
    else
      fake.captureOf.erase(event);
    fake.enqueueRecord(event, stream);
    return 0;
  }
  static Result recordExternal(cuda::Event event, cuda::Stream stream) {
    const CudaCall call;
    FakeCuda &fake = *current;
    if (call.fails)
      return failure;
    fake.expectExternal(event);
    fake.enqueueRecord(event, stream);
    return 0;
  }
  static Result query(cuda::Event event) {
    const CudaCall call("query", true);
    FakeCuda &fake = *current;
    if (call.fails)
      return failure;
    if (fake.unloading)
      return cuda::unloading;
    if (!fake.events.contains(event) || fake.captureOf.contains(event))
      std::abort(); // cudaErrorInvalidResourceHandle, cudaErrorCapturedEvent
    if (fake.duringQuery)
      fake.duringQuery();
    fake.advanceAll();
    return fake.passed[event] == fake.recorded[event] ? 0 : cuda::notReady;
  }
  static Result await(cuda::Stream stream, cuda::Event event) {
    const CudaCall call;
    FakeCuda &fake = *current;
    if (call.fails)
      return failure;
    const auto capture = fake.captureOf.find(event);
    if (fake.captured.number() != (capture == fake.captureOf.end() ? 0 : capture->second))
      std::abort(); // cudaErrorStreamCaptureIsolation, or the wait would add the stream to the capture
    fake.enqueueAwait(stream, event);
    return 0;
  }
  static Result awaitExternal(cuda::Stream stream, cuda::Event event) {
    const CudaCall call;
    FakeCuda &fake = *current;
    if (call.fails)
      return failure;
    fake.expectExternal(event);
    ++fake.awaited;
    fake.enqueue(stream, [&fake, event] {
      return [&fake, event, times = fake.recordedBefore[event]] { return fake.passed[event] >= times; };
    });
    return 0;
  }
  static Result occupancy(int *blocks, const void *kernel, uint32_t threads) {
    const CudaCall call;
    if (call.fails)
      return failure;
    current->known.insert(kernel);
    *blocks = static_cast<int>(current->threadsPerMultiprocessor / threads);
    return 0;
  }
  static Result attribute(int *value, cuda::Attribute attribute, int device) {
    const CudaCall call;
    if (call.fails)
      return failure;
    switch (attribute) {
    case cuda::Attribute::Multiprocessors:
      *value = ownOr(current->multiprocessorsOf, device, current->multiprocessors);
      break;
    case cuda::Attribute::Major: *value = ownOr(current->architectureOf, device, current->architecture) / 10; break;
    case cuda::Attribute::Minor: *value = ownOr(current->architectureOf, device, current->architecture) % 10; break;
    case cuda::Attribute::CooperativeLaunch: *value = current->cooperative; break;
    }
    return 0;
  }

  static Result createStream(cuda::Stream *stream) {
    const CudaCall call;
    if (call.fails)
      return failure;
    *stream = newHandle<cuda::Stream>(current->handles, current->currentDevice);
    return 0;
  }

  static Result destroyStream(cuda::Stream stream) {
    const Monitor::Lock lock;
    current->streams.erase(stream);
    releaseHandle(current->handles, stream);
    return 0;
  }

  static Result createEvent(cuda::Event *event) {
    const CudaCall call;
    if (call.fails)
      return failure;
    *event = newHandle<cuda::Event>(current->events, current->currentDevice);
    return 0;
  }

  static Result createTimedEvent(cuda::Event *event) {
    const CudaCall call;
    if (call.fails)
      return failure;
    *event = newHandle<cuda::Event>(current->events, current->currentDevice);
    current->times[*event] = 0;
    return 0;
  }

  static Result elapsed(float *milliseconds, cuda::Event begin, cuda::Event end) {
    const CudaCall call("elapsed", true);
    FakeCuda &fake = *current;
    if (call.fails)
      return failure;
    if (fake.unloading)
      return cuda::unloading;
    for (const cuda::Event event : {begin, end})
      if (!fake.times.contains(event) || fake.recorded[event] == 0 || fake.captureOf.contains(event) ||
          fake.events.at(event) != fake.currentDevice)
        std::abort(); // cudaErrorInvalidResourceHandle, cudaErrorCapturedEvent, or a new context on another device
    fake.advanceAll();
    for (const cuda::Event event : {begin, end})
      if (fake.passed[event] != fake.recorded[event])
        return cuda::notReady;
    *milliseconds = static_cast<float>((fake.times[end] - fake.times[begin]) / 1000);
    return 0;
  }

  static Result destroyEvent(cuda::Event event) {
    const Monitor::Lock lock;
    current->times.erase(event);
    current->recorded.erase(event);
    current->captureOf.erase(event);
    current->passed.erase(event);
    releaseHandle(current->events, event);
    return 0;
  }
};

cuda::Interpreters FakeCuda::networkInterpreters() {
  return {[](ElementType type, Protocol protocol) -> const void * {
            return protocol == Protocol::Simple ? kernel({Kernel::Kind::NetworkInterpreter, type, protocol}) : nullptr;
          },
          Functions::occupancy, Functions::launchOverNetwork};
}

const cuda::Cuda &FakeCuda::table() {
  static constexpr cuda::Cuda fake{
      .driverVersion =
          [](int *version) {
            *version = 13000;
            return 0;
          },
      .deviceCount =
          [](int *count) {
            const CudaCall call("deviceCount");
            if (call.fails)
              return failure;
            *count = current->devices;
            return 0;
          },
      .getDevice =
          [](int *device) {
            const CudaCall call("getDevice");
            if (call.fails)
              return failure;
            *device = current->currentDevice;
            return 0;
          },
      .setDevice =
          [](int device) {
            const int before = std::exchange(currentDevice, device); // first: the call counts for the new device
            const CudaCall call("setDevice");
            if (call.fails)
              currentDevice = before;
            return call.fails ? failure : 0;
          },
      .attribute = Functions::attribute,
      .busId =
          [](char *text, int bytes, int device) {
            const CudaCall call("busId");
            if (call.fails)
              return failure;
            std::snprintf(text, static_cast<size_t>(bytes), "0000:0%d:00.0", device);
            return 0;
          },
      .deviceOf =
          [](int *device, const char *busId) {
            const CudaCall call("deviceOf");
            if (call.fails)
              return failure;
            *device = busId[6] - '0';
            return 0;
          },
      .nativeAtomics =
          [](int *supported, int device, int peer) {
            const CudaCall call("nativeAtomics");
            if (call.fails)
              return failure;
            *supported = current->nvlink && !current->overPcie.contains({device, peer});
            return 0;
          },
      .allocate = Functions::allocate,
      .release =
          [](void *piece) {
            const Monitor::Lock lock;
            current->release(static_cast<std::byte *>(piece));
            return 0;
          },
      .allocatePinned = Functions::allocatePinned,
      .releasePinned =
          [](void *piece) {
            const Monitor::Lock lock;
            releaseHandle(current->pinned, piece);
            std::free(piece);
            return 0;
          },
      .isDeviceMemory =
          [](bool *isIt, const void *address) {
            const CudaCall call("isDeviceMemory");
            if (call.fails)
              return failure;
            *isIt = current->memory.count(const_cast<void *>(address)) != 0;
            return 0;
          },
      .copy = Functions::copy,
      .clear = Functions::clear,
      .createStream = Functions::createStream,
      .destroyStream = Functions::destroyStream,
      .synchronize = Functions::synchronize,
      .capture =
          [](uint64_t *capture, cuda::Stream) {
            const CudaCall call("capture");
            if (call.fails)
              return failure;
            *capture = current->captured.number();
            return 0;
          },
      .createEvent = Functions::createEvent,
      .createTimedEvent = Functions::createTimedEvent,
      .destroyEvent = Functions::destroyEvent,
      .record = Functions::record,
      .query = Functions::query,
      .elapsed = Functions::elapsed,
      .await = Functions::await,
      .recordExternal = Functions::recordExternal,
      .awaitExternal = Functions::awaitExternal,
      .occupancy = Functions::occupancy,
      .launch = Functions::launch,
      .describe = [](Result result) { return result == stuck ? "never ends" : "fake failure"; },
      .interpreter = interpreter,
      .switchInterpreter = switchInterpreter,
      .multiply = multiply,
      .divide = divide,
      .clock = clockKernel,
  };
  return fake;
}

} // namespace gc3::test
