// SPDX-License-Identifier: Apache-2.0
// The names that the application gives communicators in NCCL's config (commName), by handle. The first collective call
// on a communicator takes its name. Thread-safe.
#pragma once

#include "ncclapi/Abi.h"

#include <mutex>
#include <string>
#include <unordered_map>

namespace gc3::shim {

class CommunicatorNames {
public:
  /// Returns the names of this process. They are never destroyed, because threads can use them while the process exits.
  static CommunicatorNames &ofProcess();

  /// Records the name of a new communicator, or that it has none. Does nothing if the handle is null.
  void record(ncclapi::Comm comm, const ncclapi::Config *config);
  /// Returns a communicator's name; empty: it has none.
  std::string find(ncclapi::Comm comm) const;
  /// Removes the name of a communicator. Call this before NCCL frees the handle.
  void remove(ncclapi::Comm comm);

private:
  mutable std::mutex mutex; ///< guards the next member
  std::unordered_map<ncclapi::Comm, std::string> names;
};

/// Records the name of the communicator that a function of NCCL has created, if it has. Returns `result`, the
/// function's.
ncclapi::Result recordCreated(ncclapi::Result result, const ncclapi::Comm *created, const ncclapi::Config *config);

} // namespace gc3::shim
