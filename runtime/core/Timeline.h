// SPDX-License-Identifier: Apache-2.0
// Records when each instruction of each call began and ended, for a group of communicators on any backend. If there is
// no space for all instructions of a call, none of them is recorded.
#pragma once

#include "core/Program.h"
#include "trace/Events.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gc3::core {

/// The call that a recording belongs to.
struct Recorded {
  uint64_t number;        ///< number of the call, identical on all ranks
  const Program *program; ///< must outlive the recording
  uint64_t count;         ///< elements per block
  uint64_t tiles;
};

/// One rank's part of a call. The threads that run thread blocks record times; another thread can write the file
/// concurrently.
class Recording {
public:
  Recording(uint32_t rank, const Recorded &call, uint64_t begin);

  /// Records one step. `threadBlock` is a number within the rank; times are those of trace::now().
  void note(uint32_t threadBlock, uint32_t step, uint64_t tile, const trace::Span &span) {
    Stamp &stamp = stamps[index(threadBlock, step, tile)];
    stamp.begin.store(span.begin, std::memory_order_relaxed);
    stamp.end.store(span.end, std::memory_order_release);
  }
  /// Returns the number of instructions that a thread block runs in all tiles.
  uint64_t instructions(uint32_t threadBlock) const {
    return call.program->rank(rank).threadBlocks[threadBlock].instruction_count() * call.tiles;
  }
  uint64_t beginning() const { return begin; }
  void setBegin(uint64_t when) { begin = when; }
  /// Marks the rank's part as completed at time `when`.
  void setEnd(uint64_t when) { end.store(when, std::memory_order_release); }

private:
  friend class Timeline;
  struct Stamp {
    std::atomic<uint64_t> begin{0}, end{0}; ///< 0: not recorded
  };
  size_t index(uint32_t threadBlock, uint32_t step, uint64_t tile) const {
    const bundle::fbs::ThreadBlock &block = call.program->rank(rank).threadBlocks[threadBlock];
    return block.first_instruction() * call.tiles + tile * block.instruction_count() + step;
  }
  trace::Span span(uint32_t threadBlock, uint32_t step, uint64_t tile) const;
  uint64_t missing() const;
  uint64_t lastEnd() const;

  const uint32_t rank;
  const Recorded call;
  const size_t size;               ///< number of instructions
  std::unique_ptr<Stamp[]> stamps; ///< indexed by thread block, then tile, then step
  std::atomic<uint64_t> begin, end{0};
  bool written = false;
};

class Timeline final : public trace::Source {
public:
  /// The largest number of recorded instructions, over all ranks. They take 16 MiB of memory, and about 350 MB in the
  /// file.
  static constexpr uint64_t mostInstructions = 1 << 20;

  /// Records the calls of `ranks`, at most `most` instructions. `ranks` is ascending and not empty.
  Timeline(trace::TraceFile &file, std::vector<uint32_t> ranks, uint64_t most = mostInstructions);
  /// Writes the file. The programs of all recordings must still exist.
  ~Timeline() override;

  /// Begins the recording of `rank`'s part of a call. Returns null if there is no space for the call. If the rank's
  /// last recording has the same call number, discards that recording, because it belongs to an attempt that did not
  /// run. Thread-safe, except for calls with the same rank.
  Recording *begin(uint32_t rank, const Recorded &call) noexcept;

  /// Counts a call as not recorded.
  void countDropped(uint32_t rank) noexcept;

  void write() noexcept override;

private:
  struct Lane {
    std::vector<std::unique_ptr<Recording>> recordings;
    uint64_t instructions = 0; ///< counts all ranks in these calls, so that all lanes reach the limit at the same call
    uint64_t droppedCalls = 0;
  };
  uint64_t instructions(const Recorded &call) const;
  uint32_t spread() const { return ranks.back() - ranks.front() + 1; }
  Lane &lane(uint32_t rank) { return lanes[rank - ranks.front()]; }
  uint32_t processOf(uint32_t rank) const { return processes.first + rank - ranks.front(); }
  void discard(Lane &lane, uint64_t number);
  void nameRows(trace::Events &events) const;
  uint64_t writeRecording(trace::Events &events, const Recording &recording) const;
  void writeBlock(trace::Events &events, const Recording &recording, uint32_t threadBlock) const;
  void writeDropped(trace::Events &events, uint64_t missingInstructions);

  trace::TraceFile &file;
  const std::vector<uint32_t> ranks;
  const uint64_t most;
  const trace::TraceFile::Processes processes;
  std::mutex mutex;        ///< guards the following members
  std::vector<Lane> lanes; ///< from that of the first of `ranks` to that of the last; those of other ranks are empty
};

} // namespace gc3::core
