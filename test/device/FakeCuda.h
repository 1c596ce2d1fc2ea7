// SPDX-License-Identifier: Apache-2.0
// A CUDA runtime without a GPU. Device memory is host memory, filled with garbage. Kernels of all devices run
// concurrently on one emulated GPU. A stream runs its work as soon as possible. A kernel that waits for a kernel which
// is not launched yet blocks its stream. Each device has a null stream. As in CUDA, kernels and events need a stream of
// the current device. A test can make any call fail; a failing call has no effect. The fake counts all resources that
// are not freed. Only one fake can exist at a time, because a table of functions has no place for an object.
// Thread-safe: all functions hold the Monitor. A test that reads or writes a member while other threads call must hold
// it too.
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
  /// Returns functions like those of another shared object, whose kernels use the network. Only these functions can
  /// launch those kernels.
  static cuda::Interpreters networkInterpreters();
  /// Result of a failing call.
  static constexpr cuda::Result failure = 2;

  /// The capture state of all streams: a bool that also counts captures.
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
  uint64_t failAt = 0;                              ///< number, from 1, of the call that fails; 0: none
  static inline thread_local int currentDevice = 0; ///< current device of the thread
  std::map<int, int> multiprocessorsOf;             ///< exceptions from `multiprocessors`, by device
  std::map<int, int> architectureOf;                ///< exceptions from `architecture`, by device
  int multiprocessors = 132, architecture = 90, cooperative = 1;
  bool unloading = false;  ///< the process exits, and CUDA is shutting down
  bool sharesGpus = false; ///< a device runs several launches that wait for each other, so launches need not be
                           ///< cooperative
  bool full = false;       ///< no device memory is left
  size_t most = SIZE_MAX;  ///< size in bytes of the largest possible allocation of device memory
  bool nvlink = true;      ///< devices have native atomics between each other
  std::set<std::pair<int, int>> overPcie; ///< (device, peer) without native atomics in this direction, even if `nvlink`
  uint32_t threadsPerMultiprocessor = 512; ///< resident threads for the occupancy
  Capture captured;                        ///< if true, enqueued work does not run, but is kept for replay()
  uint64_t seed = 1;                       ///< seed of the emulated GPU's schedule
  std::function<void()> meanwhile;         ///< runs once, in the next call of synchronize
  std::function<void()> duringQuery;       ///< runs in each query of an event
  std::function<void()> whileCalled;       ///< runs in each CUDA call that can fail
  bool waits = false; ///< synchronize waits until the stream is idle; if false, it fails if the stream is not idle

  // Failures for tests with a thread for each rank. Each device counts its calls in their order: CUDA calls by the
  // current device of the thread, or the one that they make current, NCCL calls by the device of the communicator.
  // Polls have separate counters for each function and device, because the number of polls depends on time.
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
  /// Makes all calls of a function fail, on one device, or on all if `device` is -1.
  struct FailingFunction {
    std::string name;
    int device;
    bool operator()(const std::string &called, int on) const {
      return called == name && (device == -1 || device == on);
    }
  };
  std::optional<FailingFunction> failFunction;
  /// Has `hook` run before each counted call and each poll, on its thread, without the monitor. Each call runs a copy,
  /// so the hook must capture its state by reference. Executor threads can be calling.
  using Hook = std::function<void(int device, const std::string &name, uint64_t index)>;
  void beforeCalls(Hook hook);
  /// Returns the names of the counted calls of a device, such as "CUDA copy" and "NCCL AllGather", in their order.
  std::vector<std::string> callsOf(int device) const;
  /// Returns the number of calls of a function that polls.
  uint64_t pollsOf(int device, const std::string &name) const;

  // Results for tests:
  uint64_t calls = 0;               ///< number of calls that can fail
  std::string failed;               ///< name of the last call that failed, such as "CUDA copy" or "NCCL allGather"
  uint64_t launches = 0;            ///< launches of the interpreter that have begun
  uint64_t cooperativeLaunches = 0; ///< cooperative launches of the interpreter that were enqueued
  std::vector<cuda::Stream> launchedOn{}; ///< streams of enqueued launches of the interpreter
  uint64_t awaited = 0;                   ///< waits for events that were enqueued on streams
  uint64_t externals = 0;                 ///< external nodes, for events outside of the capture
  uint32_t threadsOfLaunch = 0;           ///< threads per block of the last launch
  /// Returns a list of the resources that are not freed, or an empty string.
  std::string leaks() const;
  /// Returns the numbers of allocations, streams and events on a device.
  std::array<size_t, 3> allocated(int device) const;

  /// Creates a stream on a device, as the application does.
  cuda::Stream stream(int device);
  /// Allocates a buffer, as the application does.
  std::byte *allocate(size_t bytes);
  void release(std::byte *memory);
  /// Runs all captured work.
  void replay();
  /// Removes the captured work of a stream, because its capture has failed.
  void drop(cuda::Stream stream);

  /// Work of a stream. Returns false if it is not complete; the stream then calls it again.
  using Work = std::function<bool()>;
  /// Enqueues the work that `make` returns. If captured, each replay calls `make` again.
  void enqueue(cuda::Stream stream, const std::function<Work()> &make);
  /// Returns true if the stream has completed all its work.
  bool isIdle(cuda::Stream stream);
  /// Counts a call of this or another fake. Stores its file's and function's name in `failed` if the call must fail,
  /// and returns true then.
  bool fails(const char *function = __builtin_FUNCTION(), const char *file = __builtin_FILE());
  /// Counts a call of `name` on `device` and runs the hook of beforeCalls(). Returns true if the call must fail.
  bool failsOn(int device, const std::string &name);
  /// Like failsOn(), for a function that polls.
  bool failsPoll(int device, const std::string &name);
  /// Advances all streams as far as possible. Wakes all waiting threads if any work has progressed.
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
  std::map<void *, int> memory, handles, events; ///< each with the device that was current
  std::set<const void *> known; ///< kernels whose occupancy was queried, so that a driver has loaded them
  std::map<void *, std::deque<Work>> streams;
  struct Node {
    cuda::Stream stream;
    std::function<Work()> make;
    uint64_t capture;
  };
  std::vector<Node> graph;                     ///< work of all captures
  std::map<void *, uint64_t> recorded, passed; ///< numbers of records of an event: enqueued, completed
  std::map<void *, uint64_t> recordedBefore;   ///< `recorded` when the replay began: external waits do not wait for
                                               ///< records of the same replay
  std::map<void *, uint64_t> captureOf; ///< events whose last record is in a capture, and the number of the capture
  std::optional<Gpu> gpu;               ///< present while a kernel runs
  std::map<int, std::vector<const std::string *>> callsByDevice;
  std::map<std::pair<int, std::string>, uint64_t> pollsByDevice;
};

} // namespace gc3::test
