// SPDX-License-Identifier: Apache-2.0
// Detects whether other communicators of this process have calls in flight. Each communicator writes to a cache line of
// its own. So a call costs a store, and only a call that asks reads the lines of other communicators.
#pragma once

#include "host/Memory.h"

#include <array>
#include <atomic>
#include <cstddef>

namespace gc3::api {

/// One communicator. All functions except the constructor and the destructor are lock-free. begin() and end() are
/// called by one thread at a time.
class InFlight {
public:
  InFlight();
  ~InFlight();
  InFlight(const InFlight &) = delete;
  InFlight &operator=(const InFlight &) = delete;

  /// A call of the communicator begins, or ends.
  void begin() { place->isInCall.store(true, std::memory_order_relaxed); }
  void end() { place->isInCall.store(false, std::memory_order_relaxed); }

  /// Returns whether another communicator has begun a call and not ended it. The answer can be out of date.
  bool areOthers() const;

private:
  static constexpr size_t most = 64; ///< more communicators share the last place, and are not counted
  struct alignas(host::linePair) Place {
    std::atomic<bool> isTaken{false}, isInCall{false};
  };
  static std::array<Place, most + 1> places;

  Place *place;
};

} // namespace gc3::api
