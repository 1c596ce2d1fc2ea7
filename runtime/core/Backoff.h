// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace gc3::core {

/// Pauses between two polls. They grow, so that short waits end soon and long waits cost little.
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
