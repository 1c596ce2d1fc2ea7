// SPDX-License-Identifier: Apache-2.0
// The interposer's state in a process: its settings, and the reduction operations that the application has created. The
// registry (comm/Registry.h) has the communicators, by NCCL handle. A communicator is added by the first collective
// call on its handle, or by the first query of its state. Thread-safe.
#pragma once

#include "comm/GroupedCall.h"
#include "comm/Registry.h"
#include "ncclapi/CollectiveCall.h"

#include <unordered_map>

namespace gc3::shim {

using namespace ncclapi; // this library's functions take NCCL's types
using comm::Communicator;

class Interposer {
public:
  /// Returns the interposer of this process. The first call reads the environment. The interposer is never destroyed,
  /// because threads can call it while the process exits.
  static Interposer &ofProcess();

  /// Returns false if NCCL runs all calls of the process. In that case gc3 has no communicators.
  bool isActive() const { return setup != nullptr; }

  /// Returns the communicator with the handle. Returns null if NCCL runs all calls, or if there was no collective call
  /// on the handle and no query of its state.
  std::shared_ptr<Communicator> find(Comm comm) const;
  /// Returns the communicator with the handle, for a collective call or a query of the state. Adds the communicator if
  /// it is new. Returns null if NCCL runs all calls.
  std::shared_ptr<Communicator> findOrAdd(Comm comm);

  /// Returns what runs a call. Logs it if GC3_DEBUG is INFO. The result is identical on all ranks. The communicator
  /// must have no error.
  static comm::CallChoice choose(Communicator &communicator, const CollectiveCall &call);

  /// Records an operation that the application has created on a communicator. If `created` is empty, removes the
  /// operation.
  void recordOperation(Comm comm, RedOp op, std::optional<core::PreMulSum> created);
  std::optional<core::PreMulSum> operation(Comm comm, RedOp op) const;
  /// Removes all operations of a communicator. Call this before the communicator is finalized or destroyed.
  void removeOperations(Comm comm);

private:
  Interposer();

  std::shared_ptr<const comm::Setup> setup; ///< null: NCCL runs all calls
  mutable std::mutex mutex;                 ///< guards the members below
  std::unordered_map<Comm, std::unordered_map<RedOp, core::PreMulSum>> operations;
};

/// Converts a call of the application to a request to a program.
core::Request requestOf(const CollectiveCall &call);

} // namespace gc3::shim
