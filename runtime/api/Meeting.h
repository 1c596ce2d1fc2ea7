// SPDX-License-Identifier: Apache-2.0
// The ranks of one communicator that are in this process join on threads of their own, and then share one object. The
// last of them creates it.
#pragma once

#include "core/Result.h"
#include "job/Assembly.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gc3::api {

class HostBackend;

class Meeting {
public:
  using Made = core::Result<std::shared_ptr<HostBackend>>;
  /// Gets the connections of the process's ranks, ascending by rank.
  using Make = std::function<Made(std::vector<std::unique_ptr<job::Assembly>> ownRanks)>;

  /// Returns the meeting of a communicator in this process. It exists as long as a rank uses it. Thread-safe.
  static std::shared_ptr<Meeting> of(const std::string &communicator);

  /// Waits until `expected` ranks of this process have arrived. The last one calls `make`, and all get its result. If a
  /// rank of the communicator is lost before, returns gc3RemoteError.
  Made arrive(std::unique_ptr<job::Assembly> own, size_t expected, const Make &make);

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::map<uint32_t, std::unique_ptr<job::Assembly>> arrived; ///< by rank
  std::optional<Made> made;
};

} // namespace gc3::api
