// SPDX-License-Identifier: Apache-2.0
// What the library between the application and NCCL keeps in a process: its settings, and the operations that the
// application has created. Communicators are in the registry (comm/Registry.h), with NCCL's handles; each is added by
// the first collective call on its handle, which all ranks make, or by a query of its state. Thread-safe.
#pragma once

#include "comm/Registry.h"
#include "shim/CollectiveCall.h"

#include <unordered_map>

namespace gc3::shim {

using comm::Communicator;

class Interposer {
public:
  /// Reads the environment with the first call of the process. Never destroyed, since threads can call at its end.
  static Interposer &ofProcess();

  /// False if NCCL runs all calls of the process. There are no communicators then.
  bool isActive() const { return setup != nullptr; }

  /// Null if no collective call or query of the state has been made on the handle.
  std::shared_ptr<Communicator> find(Comm comm) const;
  /// For a collective call, or a query of the state. Null if NCCL runs all calls.
  std::shared_ptr<Communicator> findOrAdd(Comm comm);

  /// The program in the communicator's table that runs a call, which is logged if the user wants that; nothing: NCCL
  /// runs the call. Depends only on what is the same on all ranks. The communicator has no error.
  static std::optional<uint32_t> chooseProgram(Communicator &communicator, const CollectiveCall &call);

  /// Notes what the application has created on a communicator, or with nothing, that it has destroyed that.
  void recordOperation(Comm comm, RedOp op, std::optional<core::PreMulSum> created);
  std::optional<core::PreMulSum> operation(Comm comm, RedOp op) const;
  /// The communicator is about to be finalized or destroyed.
  void removeOperations(Comm comm);

private:
  Interposer();

  std::shared_ptr<const comm::Setup> setup; ///< null: NCCL runs all calls
  mutable std::mutex mutex;                 ///< guards what follows
  std::unordered_map<Comm, std::unordered_map<RedOp, core::PreMulSum>> operations;
};

/// The request that a program runs for a call.
core::Request requestOf(const CollectiveCall &call);

} // namespace gc3::shim
