// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/Result.h"

#include <algorithm>
#include <chrono>
#include <functional>

namespace gc3::job {

/// How long a function waits for other ranks.
struct WaitLimits {
  std::chrono::milliseconds timeout;
  /// Runs about every 20 ms on the thread that waits. The function returns its error. May be null.
  std::function<core::Outcome()> checkInterruption;
};

/// A wait that has begun. It can consist of several functions, which share the time. Limits become a wait that begins
/// now.
struct Wait {
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::hours longest{24 * 365};

  Wait(const WaitLimits &limits)
      : limits(limits), deadline(Clock::now() + std::min<std::chrono::milliseconds>(limits.timeout, longest)) {}

  const WaitLimits limits;
  const Clock::time_point deadline;
};

} // namespace gc3::job
