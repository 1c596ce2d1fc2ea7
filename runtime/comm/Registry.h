// SPDX-License-Identifier: Apache-2.0
// All communicators of the process that are not closed yet, and the helper thread that does what can wait for kernels.
// Thread-safe.
#pragma once

#include "comm/Communicator.h"

#include <deque>
#include <functional>
#include <unordered_map>

namespace gc3::comm {

/// One thread, started by the first work, which lives as long as the process.
class HelperThread {
public:
  /// Work is done in its order. It is dropped if no thread can be started: kernels then run until the process ends.
  void post(std::function<void()> work);

private:
  void run();

  std::mutex mutex; ///< guards what follows; a leaf: not held during work
  std::condition_variable changed;
  std::deque<std::function<void()>> works;
  std::thread thread;
};

class Registry {
public:
  /// Never destroyed, since threads can call while the process ends.
  static Registry &ofProcess();

  /// Keeps a communicator until it is closed. `handle` finds it, unless that is null, until remove().
  void add(ncclapi::Comm handle, std::shared_ptr<Communicator> communicator);
  /// Null if there is none.
  std::shared_ptr<Communicator> find(ncclapi::Comm handle) const;
  /// The communicator with that handle, or the one that `make` returns.
  std::shared_ptr<Communicator> findOrAdd(ncclapi::Comm handle,
                                          const std::function<std::shared_ptr<Communicator>()> &make);
  /// The handle is about to be freed, so it finds nothing from now on.
  void remove(ncclapi::Comm handle);

  /// After Communicator::abort(): has the helper thread release everything. `isParentAlive` as in Communicator::reap.
  void reap(std::shared_ptr<Communicator> communicator, bool isParentAlive);

private:
  void sweep();

  HelperThread helper;
  mutable std::mutex mutex; ///< guards what follows
  std::vector<std::shared_ptr<Communicator>> all;
  std::unordered_map<ncclapi::Comm, std::shared_ptr<Communicator>> byHandle;
};

} // namespace gc3::comm
