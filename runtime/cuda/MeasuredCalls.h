// SPDX-License-Identifier: Apache-2.0
// Measures calls whose program the application's tuner could choose, and reports their times when they are known.
//
// Not thread-safe.
#pragma once

#include "core/TunerTimes.h"
#include "cuda/Runner.h"

#include <deque>
#include <string>

namespace gc3::cuda {

class MeasuredCalls {
public:
  /// `cuda` must outlive this object. `rank` is -1 for all ranks of a launch.
  MeasuredCalls(const Cuda &cuda, const core::ChoiceOptions &options, uint32_t ranks, int rank)
      : options(options), ranks(ranks), rank(rank), callTimes(cuda) {}

  /// Creates the events, on the thread's current device.
  core::Outcome prepare() { return callTimes.prepare(most); }
  /// Reports the times that are known. Then makes the call measure itself, unless it is captured or the application
  /// does not want its time.
  void add(const core::Request &request, Runner::Plan &plan);
  /// Reports the times that are known.
  void collect();

private:
  static constexpr uint32_t most = 64; ///< calls that are measured at once

  struct Call {
    uint64_t number;
    std::string name; ///< storage of call.request.name
    core::MeasuredCall call;
  };

  const core::ChoiceOptions options;
  const uint32_t ranks;
  const int rank;
  CallTimes callTimes;
  std::deque<Call> calls; ///< a deque does not move its elements
  uint64_t next = 0;
};

} // namespace gc3::cuda
