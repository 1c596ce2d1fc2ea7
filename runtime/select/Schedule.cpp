// SPDX-License-Identifier: Apache-2.0
#include "select/Schedule.h"

#include "select/Digest.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace gc3::select {

namespace {

/// An exchange is applied after twice the lag of the slowest rank, so that calls seldom wait.
constexpr uint64_t safety = 2;
/// The delay shrinks by this part at each exchange, so that it survives a few exchanges with small lags.
constexpr uint32_t shrinking = 8;

} // namespace

// The log goes back from the call for which an exchange is due to the first call of its range. The exchanges that are
// not applied began at most `mostDelay` calls ago.
Schedule::Schedule(const Terms &terms)
    : terms(terms), currentDelay(terms.leastDelay), log(size_t(terms.mostDelay) + terms.period),
      exchanges(terms.mostDelay / terms.period + 2) {
  assert(terms.period >= 1 && terms.period <= Message::mostTimes);
  assert(terms.leastDelay >= 1 && terms.leastDelay <= terms.mostDelay);
}

bool Schedule::record(const Call &call) {
  assert(!isDue());
  choices = mix(mix(mix(choices, call.context), call.bucket), call.arm * 2U + call.isTimed);
  log[calls % log.size()] = {call, choices};
  return calls++ % terms.period == 0;
}

Message Schedule::begin(uint64_t state) {
  const uint64_t call = calls - 1;
  assert(call == begun * terms.period);
  Pending &pending = at(begun);
  const uint64_t previous = begun == 0 ? 0 : at(begun - 1).due;
  pending.due = std::max(call + currentDelay, previous); // exchanges are applied in order
  pending.result.call = call;
  pending.result.count = call == 0 ? 0 : terms.period;
  uint32_t lag = largestLag;
  if (ended < begun) // its lag is at least its age
    lag = std::max(lag, static_cast<uint32_t>(call - at(ended).result.call));
  largestLag = 0;
  ++begun;
  return {call, choices, mix(mix(state, currentDelay), pending.due), lag, pending.result.count, {}, {}};
}

void Schedule::end(Exchange result) {
  assert(ended < begun && result.call == at(ended).result.call && result.count == at(ended).result.count);
  largestLag = std::max(largestLag, static_cast<uint32_t>(calls - result.call));
  at(ended++).result = std::move(result);
}

std::optional<uint64_t> Schedule::lookBack(uint64_t count) const {
  if (count == 0)
    return 0;
  if (count > calls || calls - count >= log.size())
    return std::nullopt;
  return entryOf(count - 1).choices;
}

/// Sets the delay, by the largest lag of all ranks.
void Schedule::adapt(uint32_t lag) {
  const uint64_t wanted = std::max<uint64_t>(safety * lag, currentDelay - currentDelay / shrinking);
  currentDelay = static_cast<uint32_t>(std::clamp<uint64_t>(wanted, terms.leastDelay, terms.mostDelay));
}

} // namespace gc3::select
