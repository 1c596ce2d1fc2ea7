// SPDX-License-Identifier: Apache-2.0
// How ranks on CPUs join from several processes (docs/processes.md). Each rank joins on a thread of its own:
//
// 1. The ranks find each other (job::Assembly), and compare their bundles and options.
// 2. The lowest rank of each host creates the shared memory, and the other processes of the host open it.
// 3. The ranks of a process meet, and share one HostBackend.
// 4. If there are several hosts, processes of different hosts connect.
// 5. All ranks wait until all processes have done so.
#pragma once

#include "api/Handles.h"
#include "api/HostBackend.h"
#include "job/Assembly.h"

#include <functional>
#include <memory>
#include <string>

namespace gc3::api {

/// A rank to create, and where to store its handle.
struct HostJoin {
  gc3Comm **handle = nullptr;
  std::shared_ptr<const bundle::BundleFile> file;
  HostBackendOptions options;
  std::string traceName;    ///< name of the trace files (trace/RankFiles.h); empty: none
  std::string communicator; ///< identifies it in this process
  /// Finds the other ranks. Runs on the thread of the join.
  std::function<core::Result<std::unique_ptr<job::Assembly>>(const job::Wait &wait)> assemble;
  std::function<void()> onJoined; ///< runs on that thread if the join succeeds; may be null
};

/// Makes ranks join, on concurrent threads if there are several. Stores the handles of those that succeed. Returns the
/// first error.
core::Outcome join(std::span<const HostJoin> joins);

/// Makes a rank join at once, or at the end of the group if the thread has an open group.
core::Outcome enqueue(HostJoin join);

} // namespace gc3::api
