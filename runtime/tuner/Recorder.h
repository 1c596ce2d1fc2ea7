// SPDX-License-Identifier: Apache-2.0
// Measures the calls of one communicator on one rank: from the start of the first channel of its kernel to the end of
// the last, by the GPU's global timer. Calls that share a launch with others do not count, because their times depend
// on each other.
#pragma once

#include "tuner/Choices.h"
#include "tuner/ProfilerAbi.h"

#include <deque>
#include <map>
#include <mutex>

namespace gc3::tuner {

/// The times of arms, by collective and bucket. Each arm keeps its last 1024 times.
class Times {
public:
  void add(const Row &row, float microseconds);
  /// Returns the rows with the medians of their times, in the order of collective, bucket and arm.
  std::vector<Row> medians() const;

private:
  struct Samples {
    Row row;
    std::vector<float> times;
    size_t next = 0; ///< the place of the next time, if all places are in use
  };
  std::map<uint64_t, Samples> all;
};

struct Call;
class Recorder;

/// NCCL's handle of an event points to this object. An event of a group has no call.
struct Event {
  Recorder *recorder = nullptr;
  Call *call = nullptr;
};

/// A call that has begun. Its launch has ended if `isLaunched`.
struct Call {
  Event handle;
  Row row;
  uint64_t start = UINT64_MAX, stop = 0; ///< nanoseconds
  uint32_t running = 0;                  ///< channels that have not ended
  bool isAlone = false, isLaunched = false;
};

/// Thread-safe: NCCL reports launches and kernels from different threads.
class Recorder {
public:
  /// `choices` are the arms that the tuner of this communicator has.
  Recorder(Choices choices, uint32_t ranks, uint32_t nodes) : choices(std::move(choices)), ranks(ranks), nodes(nodes) {}

  /// Returns the handle of a launch.
  Event *beginGroup();
  /// Returns the handle of a call, or null if the call has no row in a table.
  Event *beginCall(const abi::CollDescription &description);
  /// Counts a message that shares the launch.
  void beginMessage();
  void endGroup();
  void beginKernel(Call &call, uint64_t nanoseconds);
  void endKernel(Call &call, uint64_t nanoseconds);

  std::vector<Row> rows() const { return times.medians(); }

private:
  bool describe(const abi::CollDescription &description, Row &row) const;
  /// Adds the time of a call that has ended, and frees its place.
  void finish(Call &call);

  const Choices choices;
  const uint32_t ranks, nodes;
  Event group{this, nullptr};
  std::mutex mutex;
  std::deque<Call> calls; ///< addresses are handles
  std::vector<Call *> unused, launching;
  uint32_t tasks = 0; ///< calls and messages of the launch
  Times times;
};

} // namespace gc3::tuner
