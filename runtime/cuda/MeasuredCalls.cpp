// SPDX-License-Identifier: Apache-2.0
#include "cuda/MeasuredCalls.h"

namespace gc3::cuda {

void MeasuredCalls::add(const core::Request &request, Runner::Plan &plan) {
  collect();
  if (plan.capture != 0 || calls.size() == most || !core::wantsTime(options, request))
    return;
  calls.push_back(
      {next, std::string(request.name), {request, plan.prepared->program.loaded().program.get(), ranks, rank}});
  calls.back().call.request.name = calls.back().name;
  plan.times = &callTimes, plan.number = next++;
}

void MeasuredCalls::collect() {
  for (; !calls.empty(); calls.pop_front()) {
    const std::optional<CallTimes::Time> time = callTimes.find(calls.front().number);
    if (!time)
      return;
    core::reportTime(options, calls.front().call, time->microseconds);
    callTimes.forget(calls.front().number + 1);
  }
}

} // namespace gc3::cuda
