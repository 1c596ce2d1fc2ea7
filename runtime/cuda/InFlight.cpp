// SPDX-License-Identifier: Apache-2.0
#include "cuda/InFlight.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace gc3::cuda {

struct InFlight::Registry {
  /// Never destroyed: communicators can end while the process exits.
  static Registry &ofProcess() {
    static auto &registry = *new Registry;
    return registry;
  }
  std::mutex mutex;
  std::vector<InFlight *> members;
};

InFlight::~InFlight() {
  Registry &registry = Registry::ofProcess();
  const std::lock_guard lock(registry.mutex);
  std::erase(registry.members, this);
}

void InFlight::start(Event event) {
  Registry &registry = Registry::ofProcess();
  const std::lock_guard lock(registry.mutex);
  lastCall = event;
  registry.members.push_back(this);
}

void InFlight::setCommunicator(uint64_t number) {
  const std::lock_guard lock(Registry::ofProcess().mutex);
  communicator = number;
}

bool InFlight::areOthers() const {
  Registry &registry = Registry::ofProcess();
  const std::lock_guard lock(registry.mutex);
  return std::any_of(registry.members.begin(), registry.members.end(), [this](InFlight *each) {
    return each != this && (communicator == 0 || each->communicator != communicator) && each->isBusy();
  });
}

/// Calls end in their order. So if the event after the last call has passed, all calls that were enqueued before the
/// query have ended.
bool InFlight::isBusy() {
  const uint64_t before = enqueued.load(std::memory_order_acquire);
  if (before == ended)
    return false;
  if (cuda.query(lastCall) == notReady)
    return true;
  ended = before;
  return false;
}

} // namespace gc3::cuda
