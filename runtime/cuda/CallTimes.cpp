// SPDX-License-Identifier: Apache-2.0
#include "cuda/CallTimes.h"

#include <algorithm>
#include <limits>

namespace gc3::cuda {

core::Outcome CallTimes::prepare(uint32_t most) {
  std::vector<Slot> made(most);
  for (Slot &slot : made)
    for (OwnEvent *event : {&slot.begin, &slot.end})
      if (core::Outcome outcome = createTimedEvent(cuda).moveTo(*event); !outcome.ok())
        return outcome;
  std::lock_guard lock(mutex);
  slots = std::move(made);
  return {};
}

void CallTimes::begin(uint64_t call, Stream stream) {
  std::lock_guard lock(mutex);
  if (slots.empty())
    return;
  Slot &slot = slotOf(call);
  if (slot.state != State::Free && slot.call >= forgotten)
    return;
  slot.call = call;
  slot.state = cuda.record(slot.begin.get(), stream) == 0 ? State::Begun : State::Free;
}

void CallTimes::end(uint64_t call, Stream stream) {
  std::lock_guard lock(mutex);
  if (slots.empty())
    return;
  if (Slot &slot = slotOf(call); slot.state == State::Begun && slot.call == call)
    slot.state = cuda.record(slot.end.get(), stream) == 0 ? State::Ended : State::Free;
}

std::optional<float> CallTimes::find(uint64_t call) {
  constexpr float none = std::numeric_limits<float>::quiet_NaN();
  constexpr float resolution = 0.5F;
  std::lock_guard lock(mutex);
  if (slots.empty())
    return none;
  const Slot &slot = slotOf(call);
  if (slot.state != State::Ended || slot.call != call)
    return none;
  float milliseconds = 0;
  const Result result = cuda.elapsed(&milliseconds, slot.begin.get(), slot.end.get());
  if (result == notReady)
    return std::nullopt;
  return result == 0 ? std::max(milliseconds * 1000, resolution) : none;
}

void CallTimes::forget(uint64_t call) {
  std::lock_guard lock(mutex);
  forgotten = std::max(forgotten, call);
}

} // namespace gc3::cuda
