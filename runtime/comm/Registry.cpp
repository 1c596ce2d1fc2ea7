// SPDX-License-Identifier: Apache-2.0
#include "comm/Registry.h"

namespace gc3::comm {

Registry &Registry::ofProcess() {
  static auto &registry = *new Registry;
  return registry;
}

size_t Registry::sweepLocked() {
  std::erase_if(all, [](const std::shared_ptr<Communicator> &each) {
    const bool isClosed = each->isClosed();
    if (isClosed)
      each->joinExecutor();
    return isClosed;
  });
  return all.size();
}

size_t Registry::sweep() {
  std::lock_guard lock(mutex);
  return sweepLocked();
}

void Registry::add(std::shared_ptr<Communicator> communicator) {
  std::lock_guard lock(mutex);
  sweepLocked();
  all.push_back(std::move(communicator));
}

std::shared_ptr<Communicator> Registry::find(ncclapi::Comm handle) const {
  std::lock_guard lock(mutex);
  const auto found = byHandle.find(handle);
  return found == byHandle.end() ? nullptr : found->second;
}

std::shared_ptr<Communicator> Registry::findOrAdd(ncclapi::Comm handle,
                                                  const std::function<std::shared_ptr<Communicator>()> &make) {
  std::lock_guard lock(mutex);
  std::shared_ptr<Communicator> &known = byHandle[handle];
  if (!known) {
    sweepLocked();
    known = make();
    all.push_back(known);
  }
  return known;
}

void Registry::remove(ncclapi::Comm handle) {
  std::lock_guard lock(mutex);
  byHandle.erase(handle);
  sweepLocked();
}

} // namespace gc3::comm
