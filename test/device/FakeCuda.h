// SPDX-License-Identifier: Apache-2.0
// A CUDA runtime without a GPU. Device memory is host memory, filled with garbage. Kernels of all devices run
// concurrently on one emulated GPU. A stream runs its work as soon as possible. If a kernel waits for a kernel that is
// not launched yet, it blocks its stream. Each device has a null stream. As in CUDA, kernels and events need a stream
// of the current device. A test can make any call fail; a failing call has no effect. The fake counts all resources
// that are not freed. Only one fake can exist at a time, because the functions in a CUDA table have no parameter for an
// object. Thread-safe: all functions hold the Monitor. A test that reads or writes a data member while other threads
// call the fake must also hold the Monitor.
#pragma once

#include "Gpu.h"
#include "Monitor.h"
#include "cuda/Cuda.h"
#include "kernel/Image.h"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gc3::test {

class FakeCuda {
public:
  FakeCuda();
  ~FakeCuda();
  FakeCuda(const FakeCuda &) = delete;
  FakeCuda &operator=(const FakeCuda &) = delete;

  static const cuda::Cuda &table();
  /// Returns the functions that libgc3gin.so would provide, for kernels that use the network. Only these functions can
  /// launch those kernels.
  static cuda::Interpreters networkInterpreters();
  /// Result of a failing call.
  static constexpr cuda::Result failure = 2;

  /// The capture state, which all streams share: a bool that also counts captures.
  class Capture {
  public:
    Capture &operator=(bool begins) {
      count += begins && !now ? 1 : 0;
      now = begins;
      return *this;
    }
    /// Continues the capture `number`.
    void resume(uint64_t number) { now = true, count = number; }
    operator bool() const { return now; }
    /// Returns the number of the current capture, failedCapture if it has failed, or 0 if there is none.
    uint64_t number() const { return !now ? 0 : hasFailed ? cuda::failedCapture : count; }
    bool hasFailed = false;

  private:
    bool now = false;
    uint64_t count = 0;
  };

  // Settings of tests:
  uint64_t failAt = 0;                              ///< the call that fails, counted from 1; 0: none
  static inline thread_local int currentDevice = 0; ///< current device of the thread
  int devices = 8;                                  ///< GPUs of this host
  std::map<int, int> multiprocessorsOf;             ///< values by device that override `multiprocessors`
  std::map<int, int> architectureOf;                ///< values by device that override `architecture`
  int multiprocessors = 132, architecture = 90, cooperative = 1;
  bool unloading = false;  ///< the process exits, and CUDA is already unloaded
  bool sharesGpus = false; ///< ranks share a device, so its launches wait for each other and need not be cooperative
  bool full = false;       ///< all allocations of device memory fail
  size_t most = SIZE_MAX;  ///< largest allocation of device memory that succeeds, in bytes
  bool nvlink = true;      ///< each device has native atomics on memory of the others, except `overPcie`
  std::set<std::pair<int, int>> overPcie;  ///< (device, peer): `device` has no native atomics on memory of `peer`
  uint32_t threadsPerMultiprocessor = 512; ///< limit of resident threads, from which occupancy() computes its result
  Capture captured;                        ///< if true, enqueued work does not run until replay()
  uint64_t seed = 1;                       ///< seed of the emulated GPU's schedule
  std::function<void()> meanwhile;         ///< hook that runs once, in the next call of synchronize
  std::function<void()> duringQuery;       ///< hook that runs in each query of an event
  std::function<void()> whileCalled;       ///< hook that runs in each CUDA call that can fail
  /// Returns the microseconds that a launch of the interpreter takes, by the clock of timed events. The arguments of
  /// the launch are invalid.
  std::function<double(const cuda::Launch &)> duration = [](const cuda::Launch &) { return 10.0; };
  bool waits = false; ///< whether synchronize waits until the stream is idle, or fails if the stream is not idle

  // Failures for tests with a thread for each rank. The fake counts the calls of each device separately. A CUDA call
  // counts for the current device of its thread; setDevice counts for the device that it makes current. An NCCL call
  // counts for the device of its communicator. Functions that poll have separate counters for each function and device,
  // because the number of polls depends on time.
  struct Failing {
    int device;
    uint64_t index; ///< from 1
  };
  struct FailingPoll {
    int device;
    std::string name; ///< "CUDA query" or "NCCL CommGetAsyncError"
    uint64_t index;   ///< from 1
  };
  std::optional<Failing> failing;
  std::optional<FailingPoll> failPoll;
  /// Makes all calls of a function fail, on one device, or on all devices if `device` is -1.
  struct FailingFunction {
    std::string name;
    int device;
    bool operator()(const std::string &called, int on) const {
      return called == name && (device == -1 || device == on);
    }
  };
  std::optional<FailingFunction> failFunction;
  /// Sets a hook that runs before each counted call and each poll, on the calling thread, without the monitor. Each
  /// call runs a copy of the hook, so the hook must capture its state by reference. Threads of gc3 may be calling the
  /// fake while this function sets the hook.
  using Hook = std::function<void(int device, const std::string &name, uint64_t index)>;
  void beforeCalls(Hook hook);
  /// Returns the names of a device's counted calls, in their order, such as "CUDA copy" and "NCCL AllGather".
  std::vector<std::string> callsOf(int device) const;
  /// Returns the number of calls of a polling function on a device. `name` is as in FailingPoll.
  uint64_t pollsOf(int device, const std::string &name) const;

  // Results for tests:
  uint64_t calls = 0;               ///< number of calls that can fail
  std::string failed;               ///< name of the last call that failed, such as "CUDA copy" or "NCCL AllGather"
  uint64_t launches = 0;            ///< launches of the interpreter that a stream has started
  uint64_t cooperativeLaunches = 0; ///< cooperative launches of the interpreter that were enqueued
  std::vector<cuda::Stream> launchedOn{}; ///< streams of enqueued launches of the interpreter
  uint64_t awaited = 0;                   ///< enqueued waits for events
  uint64_t externals = 0;       ///< external record and wait nodes: their events are not a part of the capture
  uint32_t threadsOfLaunch = 0; ///< threads per block of the last launch
  std::map<cuda::Stream, kernel::KernelArgs> callOn{}; ///< last enqueued launch of the interpreter, by stream
  /// Returns a list of the resources that are not freed, or an empty string.
  std::string leaks() const;
  /// Returns three numbers for a device: its allocations of device memory, its streams and its events.
  std::array<size_t, 3> allocated(int device) const;

  /// Creates a stream on a device, as the application does.
  cuda::Stream stream(int device);
  /// Allocates a buffer, as the application does.
  std::byte *allocate(size_t bytes);
  void release(std::byte *memory);
  /// Runs all captured work.
  void replay();
  /// Removes the captured work of a stream whose capture has failed.
  void drop(cuda::Stream stream);

  /// Work of a stream. The stream calls it until it returns true, which means that the work is complete.
  using Work = std::function<bool()>;
  /// Enqueues the work that `make` returns. During a capture, does not call `make`; each replay() calls it then.
  void enqueue(cuda::Stream stream, const std::function<Work()> &make);
  /// Advances a stream's clock, which timed events record. Call it in work of the stream.
  void spend(cuda::Stream stream, double microseconds);
  /// Returns true if the stream has completed all its work.
  bool isIdle(cuda::Stream stream);
  /// Counts a call of `name` on `device` and runs the hook of beforeCalls(). Returns true if the call must fail.
  bool failsOn(int device, const std::string &name);
  /// Like failsOn(), for a function that polls.
  bool failsPoll(int device, const std::string &name);
  /// Runs the work of all streams as far as possible. If any work has progressed, wakes all waiting threads.
  void advance();

private:
  struct Functions;
  struct CudaCall;

  cuda::Result enqueueInterpreter(const cuda::Launch &launch);
  cuda::Result enqueueMove(const cuda::Launch &launch);
  cuda::Result enqueueClock(const cuda::Launch &launch);
  Work interpret(const kernel::KernelArgs &call, const cuda::Launch &launch);
  void expectCurrent(cuda::Stream stream) const;
  void expectExternal(cuda::Event event);
  void enqueueRecord(cuda::Event event, cuda::Stream stream);
  void enqueueAwait(cuda::Stream stream, cuda::Event event);
  void *queueOf(cuda::Stream stream) const;
  void begin(cuda::Stream stream, const std::function<Work()> &make);
  bool advance(std::deque<Work> &stream);
  void advanceAll();
  bool countGlobally(const std::string &name, bool mustFail);

  std::set<void *> pinned;
  Hook beforeCall;
  std::map<void *, int> memory, handles, events; ///< each with the device that was current at its creation
  std::set<const void *> known; ///< kernels whose occupancy was queried, so CUDA has already loaded them
  std::map<void *, std::deque<Work>> streams;
  struct Node {
    cuda::Stream stream;
    std::function<Work()> make;
    uint64_t capture;
  };
  std::vector<Node> graph;                     ///< work of all captures
  std::map<void *, uint64_t> recorded, passed; ///< by event: number of its enqueued records, and of its complete ones
  std::map<void *, double> clocks;             ///< by stream, in microseconds
  std::map<void *, double> times;              ///< by timed event: the stream's clock at its last record
  std::map<void *, uint64_t> recordedBefore; ///< copy of `recorded` from the beginning of the replay: external waits do
                                             ///< not wait for records of the same replay
  std::map<void *, uint64_t> captureOf;      ///< number of the capture, for events whose last record is in a capture
  std::optional<Gpu> gpu;                    ///< present while a kernel runs
  std::map<int, std::vector<const std::string *>> callsByDevice;
  std::map<std::pair<int, std::string>, uint64_t> pollsByDevice;
};

} // namespace gc3::test
