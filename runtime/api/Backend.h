// SPDX-License-Identifier: Apache-2.0
// The ranks of one group of communicators, wherever they run.
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
  /// Whether calls are put on streams; else they take none, and have ended when they return.
  virtual bool takesStreams() const = 0;

  /// A thread's part in a call.
  struct Arrival {
    core::Outcome refused; ///< not ok: there is nothing to complete
    std::span<const core::RankRequest> parts;
    uint64_t number = 0; ///< of the call
    bool last = false;   ///< nobody else is missing
  };

  /// Joins with some ranks, no two alike, without waiting for others: so a thread can arrive in several groups before
  /// it waits in any. `parts`, and what the requests point to, have to stay until complete() returns.
  virtual Arrival arrive(std::span<const core::RankRequest> parts) = 0;

  /// Returns when the parts of the ranks that arrived have ended, or are on their stream. A call that fails before it
  /// begins fails alike on all ranks.
  virtual core::Outcome complete(const Arrival &arrival) = 0;

  /// The name of the program that a request would run. Waits for no other rank.
  virtual core::Result<const char *> select(const core::Request &request) = 0;

  /// The first error of calls on streams.
  virtual core::Outcome asyncError() = 0;

  /// A rank is destroyed or, if `aborts`, aborted.
  virtual void leave(bool aborts) { (void)aborts; }

  /// This object if it is a rank of an NCCL communicator, else null.
  virtual NcclBackend *ofNccl() { return nullptr; }
};

} // namespace gc3::api
