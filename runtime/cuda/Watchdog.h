// SPDX-License-Identifier: Apache-2.0
// Calls on their way on streams, and whether one of them has been running for too long. The clock of a call starts when
// what came before it on its stream is done. Who looks, and when, is somebody else's business: another thread may, also
// while a call waits for room on its stream.
#pragma once

#include "cuda/Resources.h"

#include <chrono>
#include <deque>
#include <mutex>
#include <optional>

namespace gc3::cuda {

class Watchdog {
public:
  using Clock = std::chrono::steady_clock;

  Watchdog(const Cuda &cuda, std::chrono::milliseconds timeout) : cuda(cuda), timeout(timeout) {}

  /// Around a call. After an error of either nothing is watched.
  host::Outcome begin(Stream stream);
  host::Outcome end(Stream stream);

  /// Whether a call has been running for longer than the timeout. An error: a call has failed.
  host::Outcome look(Clock::time_point now, bool &stuck);
  /// At the last look.
  bool idle() const;

private:
  struct Watched {
    OwnEvent begin, end;
    std::optional<Clock::time_point> since; ///< when it was first seen running
  };
  OwnEvent takeSpare(); ///< empty: there is none
  host::Outcome mark(OwnEvent &event, Stream stream);
  bool passed(const OwnEvent &event, host::Outcome &outcome) const;

  const Cuda &cuda;
  const std::chrono::milliseconds timeout;
  Watched next;                ///< who makes calls alone knows it
  mutable std::mutex mutex;    ///< guards what follows
  std::deque<Watched> watched; ///< in the order of their calls, which run one after the other
  std::vector<OwnEvent> spare;
};

} // namespace gc3::cuda
