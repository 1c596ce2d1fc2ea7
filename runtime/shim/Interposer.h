// SPDX-License-Identifier: Apache-2.0
// The interposer's state in a process: its settings, and the operations that the application has created. The registry
// (comm/Registry.h) has the communicators, by NCCL handle. The first collective call on a handle, which all ranks make,
// adds its communicator, or a query of its state does. Thread-safe.
#pragma once

#include "comm/Registry.h"
#include "shim/CollectiveCall.h"

#include <unordered_map>

namespace gc3::shim {

using comm::Communicator;

class Interposer {
public:
  /// Returns the interposer. The first call in a process reads the environment. It is never destroyed, because threads
  /// can call it while the process exits.
  static Interposer &ofProcess();

  /// Returns false if NCCL runs all calls of the process. There are no communicators then.
  bool isActive() const { return setup != nullptr; }

  /// Returns null if the handle has had no collective call and no query of its state.
  std::shared_ptr<Communicator> find(Comm comm) const;
  /// Returns the communicator for a collective call or a query of the state. Returns null if NCCL runs all calls.
  std::shared_ptr<Communicator> findOrAdd(Comm comm);

  /// Returns the program in the communicator's table that runs a call; nothing: NCCL runs it. Logs the choice if
  /// GC3_DEBUG is INFO. Identical on all ranks. The communicator has no error.
  static std::optional<uint32_t> chooseProgram(Communicator &communicator, const CollectiveCall &call);

  /// Records an operation that the application has created on a communicator. If `created` is empty, removes the
  /// operation.
  void recordOperation(Comm comm, RedOp op, std::optional<core::PreMulSum> created);
  std::optional<core::PreMulSum> operation(Comm comm, RedOp op) const;
  /// Removes all operations of a communicator, before it is finalized or destroyed.
  void removeOperations(Comm comm);

private:
  Interposer();

  std::shared_ptr<const comm::Setup> setup; ///< null: NCCL runs all calls
  mutable std::mutex mutex;                 ///< guards the members below
  std::unordered_map<Comm, std::unordered_map<RedOp, core::PreMulSum>> operations;
};

/// Returns the request with which a program runs a call.
core::Request requestOf(const CollectiveCall &call);

} // namespace gc3::shim
