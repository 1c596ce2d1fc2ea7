// SPDX-License-Identifier: Apache-2.0
// All communicators of the process that are not closed yet. Thread-safe.
#pragma once

#include "comm/Communicator.h"

#include <functional>
#include <unordered_map>

namespace gc3::comm {

class Registry {
public:
  /// Never destroyed, since threads can call while the process ends.
  static Registry &ofProcess();

  /// Keeps a communicator until it is closed.
  void add(std::shared_ptr<Communicator> communicator);

  /// Null if no communicator has the handle.
  std::shared_ptr<Communicator> find(ncclapi::Comm handle) const;
  /// The communicator with the handle or, if there is none, the one that `make` returns, which then has it.
  std::shared_ptr<Communicator> findOrAdd(ncclapi::Comm handle,
                                          const std::function<std::shared_ptr<Communicator>()> &make);
  /// No communicator has the handle any longer, which is about to be freed.
  void remove(ncclapi::Comm handle);

  /// Releases communicators that are closed. Their executor threads have ended, so this does not wait. Returns how many
  /// are left.
  size_t sweep();

private:
  size_t sweepLocked();

  mutable std::mutex mutex; ///< guards what follows
  std::vector<std::shared_ptr<Communicator>> all;
  std::unordered_map<ncclapi::Comm, std::shared_ptr<Communicator>> byHandle;
};

} // namespace gc3::comm
