// SPDX-License-Identifier: Apache-2.0
#include "cuda/OnlineLaunches.h"

#include <algorithm>

namespace gc3::cuda {

core::Outcome OnlineLaunches::prepare() {
  if (options.explorable <= 0)
    return {};
  core::Outcome outcome = callTimes.prepare(mostPending);
  return outcome.ok() ? callTimes.prepareKernels() : outcome;
}

/// Adds the times that are known. Calls end in their order. If a call has not ended, it has no time when too many later
/// calls are enqueued.
void OnlineLaunches::collect() {
  while (!pending.empty()) {
    const Pending &first = pending.front();
    const std::optional<CallTimes::Time> found = callTimes.find(first.number);
    if (!found && pending.size() < mostPending)
      return;
    const CallTimes::Time time = found.value_or(CallTimes::Time{select::noTime});
    selection.add(first.call, time.microseconds, first.conditions,
                  time.byEvents ? select::Timing::Costly : select::Timing::Cheap);
    callTimes.forget(first.number + 1);
    pending.pop_front();
  }
}

core::Arm OnlineLaunches::choose(const Kind &kind, std::span<const core::Request> requests) {
  collect();
  const select::Call call = selection.choose(kind);
  const uint64_t number = calls++;
  timedCall = std::nullopt;
  if (call.isTimed && options.explorable > 0) {
    bool isInPlace = false;
    for (uint32_t rank = 0; rank < requests.size(); ++rank)
      isInPlace |= core::isInPlace(requests[rank], rank);
    pending.push_back({number, call, core::CallConditions::of(isInPlace, inFlight.areOthers())});
    timedCall = number;
  }
  return selection.armOf(call);
}

} // namespace gc3::cuda
