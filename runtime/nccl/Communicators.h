// SPDX-License-Identifier: Apache-2.0
// The side table: what we know of NCCL's communicators. Handles are NCCL's own; each has an entry from its birth to its
// death. Any number of threads may call; entries live on while a thread holds one.
#pragma once

#include "nccl/Engine.h"
#include "nccl/OwnComm.h"

#include <shared_mutex>
#include <thread>
#include <unordered_map>

namespace gc3::nccl {

/// A communicator about to be made, or just made.
struct Birth {
  Comm *handle; ///< where NCCL writes it; null there afterwards: this process has no part in it
  bool blocking;
};

/// A communicator, and its attachment or why there is none.
struct Entry {
  Member member; ///< `ranks` is 0 where it was not ready to say
  bool blocking;
  std::shared_ptr<OwnComm> own; ///< where `member` does not block; an attachment is of it, which it outlives
  Attached attached;
  bool waits = false; ///< no engine has been asked yet

  /// Who serves a call on it, logged if asked for.
  Decision decide(const Call &call) const;
};

/// The first collective call on a communicator.
struct First {
  Comm comm;
  Stream stream;
};

class Communicators {
public:
  /// The process's table, never destroyed: threads may call while it ends.
  static Communicators &table();

  /// False where GC3_BUNDLES names none: there are no entries then, and nothing to do.
  bool active() const { return engine != nullptr; }

  /// Null for handles that have none.
  std::shared_ptr<const Entry> find(Comm comm) const;

  /// Whether a communicator with this configuration is to block. One that does not becomes ready at a time of its own
  /// on each rank, so it waits for its first call.
  bool willBlock(const Config *config, Comm parent) const;

  /// Communicators that NCCL has made, together, outside of any group that is still open.
  void adopt(std::span<const Birth> births);

  /// Those that wait, at their first collective calls, which all their ranks make, outside of any group. Each by
  /// itself, as other ranks may come to theirs one by one, in any order. Some wait on: where they are not ready, which
  /// is NCCL's error, or the call is captured, in which nothing can be made.
  void takeOn(std::span<const First> calls);

  /// Waits until NCCL has put on its streams what it was told of a communicator, where that does not block. Not
  /// Success: it has failed, or was aborted.
  Result settle(Comm comm) const;

  /// Runs calls that programs serve.
  Result run(std::span<const Work> works);

  /// What NCCL has made of an operation on a communicator, from now on; nothing: it is destroyed.
  void note(Comm comm, RedOp op, std::optional<host::PreMulSum> made);
  /// What is known of an operation.
  std::optional<host::PreMulSum> operation(Comm comm, RedOp op) const;

  /// Before NCCL finalizes or destroys it: forgets it. To destroy the entry, which may be null, gives back what the
  /// attachment holds.
  std::shared_ptr<const Entry> release(Comm comm);

  /// Before NCCL aborts or revokes it: ends what runs; from here on all calls are NCCL's. True: the engine has revoked
  /// it.
  bool abort(Comm comm);

private:
  Communicators();
  void takeOn(Comm comm);
  std::jthread takeOnElsewhere(Comm comm);
  void insert(Entry made);
  void replace(Entry made);
  std::vector<Entry> attach(std::vector<Entry> asked, std::span<const Member> members) const;

  std::unique_ptr<Engine> engine;
  mutable std::shared_mutex mutex;
  std::unordered_map<Comm, std::shared_ptr<const Entry>> entries;
  std::unordered_map<Comm, std::unordered_map<RedOp, host::PreMulSum>> operations;
};

} // namespace gc3::nccl
