// SPDX-License-Identifier: Apache-2.0
#include "cuda/Watchdog.h"

namespace gc3::cuda {

using host::Outcome;

Outcome Watchdog::mark(OwnEvent &event, Stream stream) {
  event = takeSpare();
  if (!event.get())
    if (Outcome outcome = createEvent(cuda, event); !outcome.ok())
      return outcome;
  return outcomeOf(cuda, cuda.record(event.get(), stream), "recording an event");
}

OwnEvent Watchdog::takeSpare() {
  std::lock_guard lock(mutex);
  if (spare.empty())
    return {};
  OwnEvent event = std::move(spare.back());
  spare.pop_back();
  return event;
}

bool Watchdog::idle() const {
  std::lock_guard lock(mutex);
  return watched.empty();
}

Outcome Watchdog::begin(Stream stream) {
  return mark(next.begin, stream);
}

Outcome Watchdog::end(Stream stream) {
  Outcome outcome = mark(next.end, stream);
  std::lock_guard lock(mutex);
  if (outcome.ok())
    watched.push_back(std::exchange(next, {}));
  return outcome;
}

bool Watchdog::passed(const OwnEvent &event, Outcome &outcome) const {
  const Result result = cuda.query(event.get());
  if (result != notReady)
    outcome = outcomeOf(cuda, result, "a call that was under way");
  return result != notReady;
}

Outcome Watchdog::look(Clock::time_point now, bool &stuck) {
  std::lock_guard lock(mutex);
  stuck = false;
  Outcome outcome;
  while (!watched.empty() && passed(watched.front().end, outcome)) {
    if (!outcome.ok())
      return outcome;
    spare.push_back(std::move(watched.front().begin));
    spare.push_back(std::move(watched.front().end));
    watched.pop_front();
  }
  if (watched.empty())
    return {};
  Watched &running = watched.front();
  if (!running.since && passed(running.begin, outcome) && outcome.ok())
    running.since = now;
  stuck = running.since && now - *running.since >= timeout;
  return outcome;
}

} // namespace gc3::cuda
