// SPDX-License-Identifier: Apache-2.0
#include "api/Concurrently.h"

#include <algorithm>
#include <exception>
#include <new>
#include <system_error>
#include <thread>

namespace gc3::api {

using core::Outcome;

namespace {

/// Threads must not throw.
Outcome run(const std::function<Outcome(size_t)> &function, size_t index) noexcept {
  try {
    return function(index);
  } catch (const std::bad_alloc &) {
    return {gc3SystemError, "out of memory"};
  } catch (const std::exception &error) {
    return {gc3InternalError, error.what()};
  }
}

} // namespace

std::vector<Outcome> concurrently(size_t count, const std::function<Outcome(size_t)> &function) {
  std::vector<Outcome> outcomes(count);
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (size_t i = 1; i < count; ++i)
    try {
      threads.emplace_back([&, i] { outcomes[i] = run(function, i); });
    } catch (const std::system_error &error) {
      outcomes[i] = {gc3SystemError, std::string("can't create a thread: ") + error.what()};
    }
  if (count != 0)
    outcomes[0] = run(function, 0);
  for (std::thread &thread : threads)
    thread.join();
  return outcomes;
}

Outcome firstError(const std::vector<Outcome> &outcomes) {
  const auto failed = std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome &one) { return !one.ok(); });
  return failed == outcomes.end() ? Outcome{} : *failed;
}

} // namespace gc3::api
