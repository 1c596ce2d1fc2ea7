// SPDX-License-Identifier: Apache-2.0
// Online selection for calls of all ranks in one launch. One process chooses, so there is nothing to agree on: times
// count as soon as they are known.
//
// Not thread-safe.
#pragma once

#include "core/SequentialSelection.h"
#include "cuda/CallTimes.h"
#include "cuda/InFlight.h"

#include <deque>
#include <optional>
#include <span>

namespace gc3::cuda {

class OnlineLaunches {
public:
  using Kind = core::SequentialSelection::Kind;

  /// `cuda`, `source` and `inFlight` must outlive this object.
  OnlineLaunches(const Cuda &cuda, core::ArmSource &source, const core::TuneOptions &options, uint32_t ranks,
                 select::TuneFile earlier, const InFlight &inFlight, core::ShapeRule shapes)
      : options(options), selection(source, options, {ranks, 1}, std::move(earlier), std::move(shapes)),
        callTimes(cuda), inFlight(inFlight) {}

  /// Prepares times() on the thread's current device.
  core::Outcome prepare();

  /// Returns the kind of a valid request; see SequentialSelection.
  Kind find(const core::Request &request) { return selection.find(request); }
  /// Returns the arm for the next call; `requests` are those of all ranks, and match.
  core::Arm choose(const Kind &kind, std::span<const core::Request> requests);
  /// Returns the number under which times() measures the last chosen call; no value if its time is not needed.
  std::optional<uint64_t> timed() const { return timedCall; }
  CallTimes &times() { return callTimes; }
  /// Returns the arm of a call that is not measured, because it is captured.
  core::Arm favourite(const Kind &kind) const { return selection.favourite(kind); }
  /// Removes a program that could not be loaded from the arms.
  void exclude(uint32_t program) { selection.exclude(program); }

  core::OnlineSelection::Counters counters() const { return selection.counters(); }
  select::TuneFile learned() const { return selection.learned(); }

private:
  static constexpr size_t mostPending = 256; ///< calls that are measured at once

  /// A call whose time is not known.
  struct Pending {
    uint64_t number;
    select::Call call;
    core::CallConditions conditions;
  };
  void collect();

  const core::TuneOptions options;
  core::SequentialSelection selection;
  CallTimes callTimes;
  const InFlight &inFlight;
  std::deque<Pending> pending; ///< in the order of the calls
  uint64_t calls = 0;
  std::optional<uint64_t> timedCall;
};

} // namespace gc3::cuda
