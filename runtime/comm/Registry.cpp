// SPDX-License-Identifier: Apache-2.0
#include "comm/Registry.h"

#include "ncclapi/Installed.h"

#include <system_error>

namespace gc3::comm {

void HelperThread::post(std::function<void()> work) {
  std::lock_guard lock(mutex);
  works.push_back(std::move(work));
  changed.notify_one();
  if (thread.joinable())
    return;
  try {
    thread = std::thread([this] { run(); });
  } catch (const std::system_error &) {
    works.clear();
  }
}

void HelperThread::run() {
  const ncclapi::Inside inside;
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return !works.empty(); });
    std::function<void()> work = std::move(works.front());
    works.pop_front();
    lock.unlock();
    work();
    work = nullptr; // it can hold the last reference to a communicator
    lock.lock();
  }
}

Registry &Registry::ofProcess() {
  static auto &registry = *new Registry;
  return registry;
}

/// Lets go of communicators that are closed. Their executor threads have ended, so this does not wait.
void Registry::sweep() {
  std::erase_if(all, [](const std::shared_ptr<Communicator> &each) {
    const bool isClosed = each->isClosed();
    if (isClosed)
      each->joinExecutor();
    return isClosed;
  });
}

void Registry::add(ncclapi::Comm handle, std::shared_ptr<Communicator> communicator) {
  std::lock_guard lock(mutex);
  sweep();
  if (handle)
    byHandle[handle] = communicator;
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
    sweep();
    known = make();
    all.push_back(known);
  }
  return known;
}

void Registry::remove(ncclapi::Comm handle) {
  std::lock_guard lock(mutex);
  byHandle.erase(handle);
  sweep();
}

void Registry::reap(std::shared_ptr<Communicator> communicator, bool isParentAlive) {
  helper.post([communicator = std::move(communicator), isParentAlive] { communicator->reap(isParentAlive); });
}

} // namespace gc3::comm
