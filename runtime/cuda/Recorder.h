// SPDX-License-Identifier: Apache-2.0
// Makes the blocks of a kernel record the times of their steps, and adds the records to a timeline when the call has
// ended. If ranks share a GPU, the caller waits for each call. A rank with its own GPU must not wait, because its peers
// can be waiting for it. So the recorder collects its records at its next call. The destructor adds captured calls,
// each with its last replay only.
#pragma once

#include "core/Timeline.h"
#include "cuda/Runner.h"
#include "kernel/Image.h"

#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace gc3::cuda {

class Recorder {
public:
  /// The largest number of records of all unfinished calls: 32 MiB on the GPU and 32 MiB on the host. All captured
  /// calls together can have as many records in addition.
  static constexpr uint64_t mostRecords = 1 << 20;
  /// A captured call gets at most 1 / capturedShare of the records of all captured calls.
  static constexpr uint64_t capturedShare = 16;

  Recorder(const Cuda &cuda, trace::TraceFile &file, core::RankRange ranks, uint64_t mostKept = mostRecords)
      : cuda(cuda), ranks(ranks), most(mostKept), timeline(file, ranks.list()) {}
  /// Adds captured calls to the timeline. No replay may be running then.
  ~Recorder();
  Recorder(const Recorder &) = delete;
  Recorder &operator=(const Recorder &) = delete;

  /// Measures the difference between the GPU's clock and the host's clock. `stream` must be idle. Waits for the stream.
  core::Outcome readClock(Stream stream);
  /// Allocates the memory of all records. Without this call the memory grows with calls, and an allocation can wait for
  /// running kernels.
  void reserveAll() { reserve(most); }

  /// Allocates memory for the records of a captured call. Call it before the call enqueues any work, since an
  /// allocation can wait for running kernels.
  void planCapture(Runner::Plan &plan);
  /// Enqueues a call on the stream. Records the call if there is space for its records.
  core::Outcome enqueue(Runner &runner, Runner::Plan &plan, Stream stream);
  /// Adds completed calls to the timeline.
  void collect();
  /// Waits for the stream and adds its calls to the timeline. The caller must not hold locks that block other threads,
  /// since another thread may have to stop a kernel.
  core::Outcome finish(Stream stream);

  std::mutex oneCall; ///< to be held by the caller during enqueue() and finish() of one call

  // The parts of enqueue() before and after the kernel launch:
  /// Call before the kernel launch. Makes `call` record if there is space for it.
  core::Outcome begin(const core::Program &program, uint64_t count, kernel::KernelArgs &call, Stream stream);
  /// Enqueues the copy of the records. Call after the kernel launch.
  core::Outcome end(Stream stream);

private:
  /// The data that a call adds to the timeline.
  struct Notes {
    const core::Program *program;
    std::vector<core::Recording *> recordings;  ///< one for each of `ranks`
    std::span<const kernel::StepTimes> records; ///< the records, in host memory
    uint32_t ringRecords;                       ///< records per block
  };
  /// A call whose records are not collected yet.
  struct Flight {
    Notes notes;
    size_t first; ///< index of the call's first record in the ring
    OwnEvent done;
  };
  /// A captured call, which can be replayed as long as the communicators exist.
  struct Captured {
    core::Recorded call;
    uint32_t ringRecords;
    size_t records;
    DeviceMemory ring;
    PinnedMemory copy;
  };
  core::Outcome record(Runner &runner, Runner::Plan &plan, Stream stream);
  core::Outcome capture(Runner &runner, Runner::Plan &plan, Stream stream);
  bool reserveCaptured(Captured &made);
  void noteCaptured(const Captured &call);
  bool reserve(size_t records);
  std::optional<size_t> findSpace(size_t records);
  uint32_t ringFor(const core::Program &program, uint64_t tiles, uint64_t space) const;
  uint32_t blocks(const core::Program &program) const;
  void noteOldest();
  void noteRank(const Notes &notes, uint32_t rank) const;

  const Cuda &cuda;
  const core::RankRange ranks; ///< the recorded ranks
  const uint64_t most;         ///< largest number of records
  DeviceMemory rings;
  PinnedMemory copies; ///< host copies of `rings`
  size_t reserved = 0; ///< number of records in each of `rings` and `copies`
  bool hasAllocationFailed = false;
  uint64_t calls = 0;
  std::deque<Flight> flights; ///< calls in the order of their launches
  std::deque<Captured> captured;
  size_t ofCaptured = 0;    ///< number of records of captured calls
  bool isRecording = false; ///< true between begin() and end() of a recorded call
  uint64_t shift = 0;       ///< the host's clock minus the GPU's clock, modulo 2^64
  core::Timeline timeline;
};

} // namespace gc3::cuda
