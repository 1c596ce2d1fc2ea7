// SPDX-License-Identifier: Apache-2.0
// Has the blocks of calls record their steps, and notes in a timeline what they recorded, once that is there. Calls of
// ranks that share a GPU are waited for; those of a rank that has one for itself are not, since its peers may wait for
// it in the meantime: they are looked after when the next one comes. Of a captured call the last replay is noted, at
// the end.
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
  /// Records of all calls under way together: 32 MiB on the GPU, and as much on the host. As many again of captured
  /// calls.
  static constexpr uint64_t mostRecords = 1 << 20;
  /// A captured call has at most this part of their room.
  static constexpr uint64_t capturedShare = 16;

  Recorder(const Cuda &cuda, trace::TraceFile &file, core::RankRange ranks, uint64_t mostKept = mostRecords)
      : cuda(cuda), ranks(ranks), most(mostKept), timeline(file, ranks) {}
  /// Notes captured calls. No replay is under way.
  ~Recorder();
  Recorder(const Recorder &) = delete;
  Recorder &operator=(const Recorder &) = delete;

  /// Asks the GPU for its time, over a stream that is idle before and after that.
  core::Outcome readClock(Stream stream);
  /// Takes the room for all records at once. Else it grows with the calls, which may wait for what runs.
  void reserveAll() { reserve(most); }

  /// Takes memory for what a captured call records: before anything is put on a stream, since that may wait for
  /// kernels.
  void planCapture(Runner::Plan &plan);
  /// Puts a call on the stream, recorded if there is room for it.
  core::Outcome enqueue(Runner &runner, Runner::Plan &plan, Stream stream);
  /// Notes the calls that have ended.
  void collect();
  /// Waits for the stream and notes its calls. Here, nothing else may be waited for: a kernel may have to be stopped by
  /// somebody.
  core::Outcome finish(Stream stream);

  std::mutex oneCall; ///< of enqueue() and finish() together

  // The parts of enqueue():
  /// Before the kernel: has `call` record, if there is room for it.
  core::Outcome begin(const core::Program &program, uint64_t count, kernel::KernelArgs &call, Stream stream);
  /// Behind it.
  core::Outcome end(Stream stream);

private:
  /// What is noted of a call.
  struct Notes {
    const core::Program *program;
    std::vector<core::Recording *> recordings;  ///< by rank of `ranks`
    std::span<const kernel::StepTimes> records; ///< on the host
    uint32_t ringRecords;                       ///< of a block
  };
  /// A call under way.
  struct Flight {
    Notes notes;
    size_t first; ///< of its records in all
    OwnEvent done;
  };
  /// A captured call, which may be replayed as long as there are communicators.
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
  std::optional<size_t> findRoom(size_t records);
  uint32_t ringFor(const core::Program &program, uint64_t tiles, uint64_t room) const;
  uint32_t blocks(const core::Program &program) const;
  void noteOldest();
  void noteRank(const Notes &notes, uint32_t rank) const;

  const Cuda &cuda;
  const core::RankRange ranks; ///< that it records
  const uint64_t most;         ///< records
  DeviceMemory rings;
  PinnedMemory copies; ///< of the rings
  size_t reserved = 0; ///< records in each
  bool gaveUp = false;
  uint64_t calls = 0;
  std::deque<Flight> flights; ///< in their order
  std::deque<Captured> captured;
  size_t ofCaptured = 0;    ///< records
  bool isRecording = false; ///< the last of them has begun, and not ended
  uint64_t shift = 0;       ///< from the GPU's clock to the host's, modulo 2^64
  core::Timeline timeline;
};

} // namespace gc3::cuda
