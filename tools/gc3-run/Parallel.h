// SPDX-License-Identifier: Apache-2.0
// Runs a loop over independent items on all cores, to make or check data. Uses one core if threads would cost more than
// they save.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace gc3::run {

/// Calls function(i) for i < items. The items together touch `elements` elements.
template <typename Function>
void parallelFor(size_t items, uint64_t elements, Function function) {
  constexpr uint64_t elementsWorthThreads = 1 << 16;
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < items;)
      function(i);
  };
  size_t threads =
      elements < elementsWorthThreads ? 1 : std::min<size_t>(items, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> others;
  for (size_t t = 1; t < threads; ++t)
    others.emplace_back(work);
  work();
  for (std::thread &thread : others)
    thread.join();
}

} // namespace gc3::run
