// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace gc3::core {

/// Sleeps between two polls of a state. Each pause is longer than the previous one, up to 1 ms. So short waits end
/// soon, and long waits use little processor time.
class Backoff {
public:
  void pause() {
    std::this_thread::sleep_for(next);
    next = std::min(next * 5 / 4, std::chrono::microseconds(1000));
  }

private:
  std::chrono::microseconds next{20};
};

} // namespace gc3::core
