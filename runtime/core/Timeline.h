// SPDX-License-Identifier: Apache-2.0
// When each instruction of each call began and ended, for a group of communicators, wherever its ranks run. A call is
// recorded whole, or not at all where there is no room for it.
#pragma once

#include "core/Program.h"
#include "trace/Events.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gc3::core {

/// What a recording says about its call.
struct Recorded {
  uint64_t number;        ///< of the call, alike on all ranks
  const Program *program; ///< has to stay
  uint64_t count;         ///< elements per block
  uint64_t tiles;
};

/// One rank's part of a call. Who runs a thread block notes what it does; the file may be written meanwhile.
class Recording {
public:
  Recording(uint32_t rank, const Recorded &call, uint64_t begin);

  /// Thread blocks are those of the rank; times are of trace::now().
  void note(uint32_t threadBlock, uint32_t step, uint64_t tile, const trace::Span &span) {
    Stamp &stamp = stamps[index(threadBlock, step, tile)];
    stamp.begin.store(span.begin, std::memory_order_relaxed);
    stamp.end.store(span.end, std::memory_order_release);
  }
  /// Of a thread block in all tiles.
  uint64_t instructions(uint32_t threadBlock) const {
    return call.program->rank(rank).threadBlocks[threadBlock].instruction_count() * call.tiles;
  }
  uint64_t beginning() const { return begin; }
  void setBegin(uint64_t when) { begin = when; }
  /// The rank's part is over.
  void setEnd(uint64_t when) { end.store(when, std::memory_order_release); }

private:
  friend class Timeline;
  struct Stamp {
    std::atomic<uint64_t> begin{0}, end{0}; ///< 0: not known
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
  const size_t size;               ///< instructions
  std::unique_ptr<Stamp[]> stamps; ///< by thread block, then tile, then step
  std::atomic<uint64_t> begin, end{0};
  bool written = false;
};

class Timeline final : public trace::Source {
public:
  /// Instructions of all ranks that are kept: 16 MiB, and about 200 MB in the file.
  static constexpr uint64_t mostInstructions = 1 << 20;

  /// Of those ranks' parts in calls.
  Timeline(trace::TraceFile &file, RankRange ranks, uint64_t most = mostInstructions);
  /// Writes. The programs of what was recorded have to be there still.
  ~Timeline() override;

  /// The part of `rank` in a call begins; null: there is no room for the call. Where it has begun a call of that number
  /// before, and none of a later number, that was in vain and is forgotten. One thread at a time for each rank.
  Recording *begin(uint32_t rank, const Recorded &call) noexcept;

  /// There is no room for such a call.
  void lose(uint32_t rank) noexcept;

  void write() noexcept override;

private:
  struct Lane {
    std::vector<std::unique_ptr<Recording>> recordings;
    uint64_t instructions = 0; ///< of these calls, on all ranks here, so that all of them come to the same
    uint64_t lostCalls = 0;
  };
  uint64_t instructions(const Recorded &call) const;
  Lane &lane(uint32_t rank) { return lanes[rank - ranks.first]; }
  uint32_t processOf(uint32_t rank) const { return processes.first + rank - ranks.first; }
  void forget(Lane &lane, uint64_t number);
  void nameRows(trace::Events &events) const;
  uint64_t writeRecording(trace::Events &events, const Recording &recording) const;
  void writeLosses(trace::Events &events, uint64_t lostInstructions);

  trace::TraceFile &file;
  const RankRange ranks;
  const uint64_t most;
  const trace::TraceFile::Processes processes;
  std::mutex mutex;        ///< guards what follows
  std::vector<Lane> lanes; ///< by rank
};

} // namespace gc3::core
