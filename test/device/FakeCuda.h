// SPDX-License-Identifier: Apache-2.0
// A CUDA runtime without a GPU: device memory is host memory, filled with garbage; launches run on an emulated GPU,
// beside each other, whatever device they are for. Streams do what they are given as soon as they can: a kernel that
// waits for one that has not been launched yet waits, and what comes behind it on its stream. Each device has a null
// stream; kernels and events are for streams of the current device, as CUDA has it. Any call can be made to
// fail, which does nothing then, and all that is not freed is counted. One fake at a time, since a table of functions
// has no place for an object. Thread-safe: all functions hold the Monitor. A test that reads or writes a member while
// other threads call must hold it too.
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
  /// As another shared object has them, whose kernels know the network: only these functions know its kernels.
  static cuda::Interpreters networkInterpreters();
  /// What a failing call returns.
  static constexpr cuda::Result failure = 2;

  /// Whether there is a capture, as a bool that counts how often it has become true.
  class Capture {
  public:
    Capture &operator=(bool begins) {
      count += begins && !now ? 1 : 0;
      now = begins;
      return *this;
    }
    /// The one of that number goes on.
    void resume(uint64_t number) { now = true, count = number; }
    operator bool() const { return now; }
    /// Of this capture; 0: there is none.
    uint64_t number() const { return !now ? 0 : hasFailed ? cuda::failedCapture : count; }
    bool hasFailed = false;

  private:
    bool now = false;
    uint64_t count = 0;
  };

  // What tests set:
  uint64_t failAt = 0;                              ///< the number of the call that fails, from 1; 0: none
  static inline thread_local int currentDevice = 0; ///< each thread has one
  std::map<int, int> multiprocessorsOf;             ///< by device, where it has not `multiprocessors`
  std::map<int, int> architectureOf;                ///< likewise
  int multiprocessors = 132, architecture = 90, cooperative = 1;
  bool unloading = false;                  ///< the process ends, and CUDA with it
  bool sharesGpus = false;                 ///< kernels of several launches wait for each other on a device
  bool full = false;                       ///< there is no device memory left
  size_t most = SIZE_MAX;                  ///< bytes of device memory that there are in one piece
  bool nvlink = true;                      ///< native atomics between devices
  std::set<std::pair<int, int>> overPcie;  ///< devices between which there are none all the same, in this direction
  uint32_t threadsPerMultiprocessor = 512; ///< what occupancy goes by
  Capture captured;                        ///< all streams: what they are given is kept then, for replay()
  uint64_t seed = 1;                       ///< of the emulated GPU's schedule
  std::function<void()> meanwhile;         ///< what another thread does when somebody waits for a stream the next time
  std::function<void()> whileAsked;        ///< what it does whenever somebody asks for an event
  std::function<void()> whileCalled;       ///< what it does whenever CUDA is called
  bool waits = false; ///< synchronize waits until the stream is idle; else it fails if the stream is not

  // Failures for tests with a thread for each rank. Each device counts its calls in their order: CUDA calls by the
  // current device of the thread, or the one that they make current, NCCL calls by the device of the communicator.
  // Polls are not among them, because their number depends on time: each function that polls counts its own calls on
  // each device.
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
  /// All calls of a function fail, on one device or with -1 on all.
  struct FailingFunction {
    std::string name;
    int device;
    bool operator()(const std::string &called, int on) const {
      return called == name && (device == -1 || device == on);
    }
  };
  std::optional<FailingFunction> failFunction;
  /// Runs before each counted call and each poll, on its thread, without the monitor. Each call runs a copy, so the
  /// hook must capture its state by reference.
  std::function<void(int device, const std::string &name, uint64_t index)> onCall;
  /// Returns the names of the counted calls of a device, such as "CUDA copy" and "NCCL AllGather", in their order.
  std::vector<std::string> callsOf(int device) const;
  /// Returns the number of calls of a function that polls.
  uint64_t pollsOf(int device, const std::string &name) const;

  // What they look at:
  uint64_t calls = 0;                     ///< those that can fail
  std::string failed;                     ///< whose function did, and which: "CUDA copy", "NCCL allGather"
  uint64_t launches = 0;                  ///< of the interpreter
  uint64_t cooperativeLaunches = 0;       ///< likewise, as they were enqueued
  std::vector<cuda::Stream> launchedOn{}; ///< likewise, as they were enqueued
  uint64_t awaited = 0;                   ///< times that a stream was told to wait for an event
  uint64_t externals = 0;                 ///< times that a capture was told of one outside of it
  uint32_t threadsOfLaunch = 0;           ///< of the last one
  /// What was taken and not given back.
  std::string leaks() const;
  /// Pieces of memory, streams and events of them that are of a device.
  std::array<size_t, 3> taken(int device) const;

  /// A stream of the application's on a device.
  cuda::Stream stream(int device);
  /// A buffer of the application.
  std::byte *allocate(size_t bytes);
  void release(std::byte *memory);
  /// What was captured, once more.
  void replay();
  /// What was captured of a stream is thrown away, as its capture has failed.
  void drop(cuda::Stream stream);

  /// What a stream is to do. False: not yet; it is asked again.
  using Work = std::function<bool()>;
  /// Behind what the stream has. `make` makes it anew each time that it is replayed.
  void enqueue(cuda::Stream stream, const std::function<Work()> &make);
  /// Whether the stream has done all that it was given.
  bool isIdle(cuda::Stream stream);
  /// Counts a call that can fail, of CUDA's or of another fake's, whose file and function are noted if it does.
  bool fails(const char *function = __builtin_FUNCTION(), const char *file = __builtin_FILE());
  /// Counts a call of `name` on `device` and runs onCall. Returns true if the call must fail.
  bool failsOn(int device, const std::string &name);
  /// Like failsOn(), for a function that polls.
  bool failsPoll(int device, const std::string &name);
  /// Lets all streams do what they can. Wakes all threads that wait if anything happens.
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
  bool countGlobally(const std::string &name, bool failsHere);

  std::set<void *> pinned;
  std::map<void *, int> memory, handles, events; ///< streams and events, by the device that was current
  std::set<const void *> known;                  ///< kernels that were asked about, which a driver has loaded
  std::map<void *, std::deque<Work>> streams;
  struct Node {
    cuda::Stream stream;
    std::function<Work()> make;
    uint64_t capture;
  };
  std::vector<Node> graph;                     ///< of all captures
  std::map<void *, uint64_t> recorded, passed; ///< by event: how often
  std::map<void *, uint64_t> recordedBefore;   ///< a replay, whose external waits need not see what it records
  std::map<void *, uint64_t> captureOf;        ///< by event that was last recorded in a capture, as a part of it
  std::optional<Gpu> gpu;                      ///< while a kernel runs
  std::map<int, std::vector<const std::string *>> callsByDevice;
  std::map<std::pair<int, std::string>, uint64_t> pollsByDevice;
};

} // namespace gc3::test
