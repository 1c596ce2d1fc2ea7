// SPDX-License-Identifier: Apache-2.0
// All communicators of the process that are not closed. Thread-safe.
#pragma once

#include "comm/Communicator.h"

#include <functional>
#include <unordered_map>

namespace gc3::comm {

class Registry {
public:
  /// Returns the registry. It is never destroyed, because threads can call it while the process exits.
  static Registry &ofProcess();

  /// Keeps a communicator until it is closed.
  void add(std::shared_ptr<Communicator> communicator);

  /// Returns null if no communicator has the handle.
  std::shared_ptr<Communicator> find(ncclapi::Comm handle) const;
  /// Returns the communicator with the handle. If there is none, adds the communicator that `make` returns under the
  /// handle.
  std::shared_ptr<Communicator> findOrAdd(ncclapi::Comm handle,
                                          const std::function<std::shared_ptr<Communicator>()> &make);
  /// Removes the handle, before it is freed.
  void remove(ncclapi::Comm handle);

  /// Releases closed communicators. Their executor threads have ended, so this does not wait. Returns the number of
  /// remaining communicators.
  size_t sweep();

private:
  size_t sweepLocked();

  mutable std::mutex mutex; ///< guards the members below
  std::vector<std::shared_ptr<Communicator>> all;
  std::unordered_map<ncclapi::Comm, std::shared_ptr<Communicator>> byHandle;
};

} // namespace gc3::comm
