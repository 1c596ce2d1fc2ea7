// SPDX-License-Identifier: Apache-2.0
// The ranks of one group of communicators, on any kind of device.
#pragma once

#include "core/Request.h"

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
  /// Returns whether calls are enqueued on streams. If not, calls take no stream, and have ended when they return.
  virtual bool takesStreams() const = 0;

  /// A thread's part in a call.
  struct Arrival {
    core::Outcome refused; ///< an error: there is no call to complete
    std::span<const core::RankRequest> parts;
    uint64_t number = 0; ///< number of the call
    bool last = false;   ///< all other ranks have arrived
  };

  /// Begins a call for different ranks, without waiting for other ranks. So a thread can arrive in several groups
  /// before it waits in any. `parts`, and all data that the requests point to, must stay valid until complete()
  /// returns.
  virtual Arrival arrive(std::span<const core::RankRequest> parts) = 0;

  /// Returns when the parts of the ranks that arrived have ended, or are enqueued on their stream. A call that fails
  /// before it begins fails with the same error on all ranks.
  virtual core::Outcome complete(const Arrival &arrival) = 0;

  /// Returns the name of the program that a request would run. Does not wait for other ranks.
  virtual core::Result<const char *> select(const core::Request &request) = 0;

  /// Returns the first error of calls on streams.
  virtual core::Outcome asyncError() = 0;

  /// Ends the use of a rank, which is destroyed or, if `aborts` is true, aborted.
  virtual void leave(bool aborts) { (void)aborts; }

  /// Returns this object if it is a rank of an NCCL communicator, else null.
  virtual NcclBackend *ofNccl() { return nullptr; }
};

} // namespace gc3::api
