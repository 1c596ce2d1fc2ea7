// SPDX-License-Identifier: Apache-2.0
// The interface between the C API and one kind of communicators: ranks on CPUs, ranks that share a GPU, or ranks of an
// NCCL communicator.
#pragma once

#include "core/OnlineSelection.h"

#include <span>

namespace gc3::api {

class NcclBackend;

class Backend {
public:
  Backend() = default;
  Backend(const Backend &) = delete;
  Backend &operator=(const Backend &) = delete;
  virtual ~Backend() = default;

  virtual uint32_t ranks() const = 0;
  /// Returns whether calls are enqueued on streams. If not, calls take no stream, and a call has ended when it returns.
  virtual bool takesStreams() const = 0;

  /// One thread's part of a call. arrive() returns it, and complete() takes it.
  struct Arrival {
    core::Outcome refused; ///< an error: arrive() has refused the call, and complete() returns this error
    std::span<const core::RankRequest> parts;
    uint64_t number = 0; ///< number of the call
  };

  /// Begins a call. `parts` has one request for each of this thread's ranks. Does not wait for other ranks. `parts`,
  /// and all data that the requests point to, must stay valid until complete() returns.
  virtual Arrival arrive(std::span<const core::RankRequest> parts) = 0;

  /// Waits until the parts of `arrival` have ended. With streams, waits only until the parts are enqueued on their
  /// stream. If a call fails before it begins, all ranks get the same error.
  virtual core::Outcome complete(const Arrival &arrival) = 0;

  /// Returns the name of the program that a request would run. Does not wait for other ranks.
  virtual core::Result<const char *> select(const core::Request &request) = 0;

  /// Returns the first error of calls on streams.
  virtual core::Outcome asyncError() = 0;

  /// Returns what online selection has done.
  virtual core::OnlineSelection::Counters tuneCounters() { return {}; }

  /// Adds what online selection has learned to the file at `path`; null: the file that was chosen at the creation.
  virtual core::Outcome saveTuneFile(const char *path) {
    (void)path;
    return {gc3InvalidUsage, "the communicator has no online selection"};
  }

  /// Ends the use of a rank. Called when the rank is destroyed or, if `aborts` is true, aborted.
  virtual void leave(bool aborts) { (void)aborts; }

  /// Returns this object if it is a rank of an NCCL communicator, else null.
  virtual NcclBackend *ofNccl() { return nullptr; }
};

} // namespace gc3::api
