// SPDX-License-Identifier: Apache-2.0
// All communicators of the process that are not closed. Thread-safe.
#pragma once

#include "comm/Communicator.h"

#include <functional>
#include <unordered_map>

namespace gc3::comm {

class Registry {
public:
  /// Returns the registry of this process. It is never destroyed, because threads can call it while the process exits.
  static Registry &ofProcess();

  /// Adds a communicator without a handle. Keeps it until it is closed.
  void add(std::shared_ptr<Communicator> communicator);

  /// Returns the communicator with the handle, or null if there is none.
  std::shared_ptr<Communicator> find(ncclapi::Comm handle) const;
  /// Returns the communicator with the handle. If there is none, calls `make` and adds its result under the handle.
  std::shared_ptr<Communicator> findOrAdd(ncclapi::Comm handle,
                                          const std::function<std::shared_ptr<Communicator>()> &make);
  /// Removes the handle from the registry. Call this before NCCL frees the handle.
  void remove(ncclapi::Comm handle);

  /// Releases closed communicators. Does not wait for other ranks, because the executor threads of closed communicators
  /// have ended or are about to end. Returns the number of remaining communicators.
  size_t sweep();

private:
  size_t sweepLocked();

  mutable std::mutex mutex; ///< guards the members below
  std::vector<std::shared_ptr<Communicator>> all;
  std::unordered_map<ncclapi::Comm, std::shared_ptr<Communicator>> byHandle;
};

} // namespace gc3::comm
