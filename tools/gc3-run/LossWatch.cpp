// SPDX-License-Identifier: Apache-2.0
#include "LossWatch.h"

#include <cstdio>
#include <cstdlib>

namespace gc3::run {

using std::chrono::milliseconds;

LossWatch::LossWatch(const Job &job, milliseconds time) : awaitLoss(job.awaitLoss()), name(job.name()) {
  if (awaitLoss)
    thread = std::thread([this, time] { watch(time); });
}

LossWatch::~LossWatch() {
  if (!thread.joinable())
    return;
  {
    const std::lock_guard lock(mutex);
    isEnding = true;
  }
  changed.notify_one();
  thread.join();
}

bool LossWatch::hasEnded() {
  const std::lock_guard lock(mutex);
  return isEnding;
}

void LossWatch::watch(milliseconds time) {
  constexpr milliseconds interval(50); // the destructor waits for the rest of it
  std::string loss;
  while (loss.empty() && !hasEnded())
    loss = awaitLoss(interval);
  std::unique_lock lock(mutex);
  if (changed.wait_for(lock, time, [this] { return isEnding; }))
    return;
  std::fprintf(stderr, "gc3-run: %s: %s\n", name.c_str(), loss.c_str());
  std::_Exit(EXIT_FAILURE);
}

} // namespace gc3::run
