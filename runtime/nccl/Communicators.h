// SPDX-License-Identifier: Apache-2.0
// The side table: what we know of NCCL's communicators. Handles are NCCL's own; each has an entry from its birth to its
// death. Any number of threads may call; entries live on while a thread holds one.
#pragma once

#include "nccl/Departures.h"
#include "nccl/Entry.h"

#include <mutex>
#include <thread>
#include <unordered_map>

namespace gc3::nccl {

/// A communicator about to be made, or just made.
struct Birth {
  Comm comm;          ///< as NCCL wrote it at once, to where it does not write again
  const Comm *handle; ///< of a child, else null: where NCCL writes it by the end of the group, if it is to have a part
  Blocking blocking;  ///< as it is configured
  bool isDone;        ///< else NCCL goes on by itself
};

/// A call that is kept until the end of a group, or the first one on a communicator.
struct Kept {
  Work work;                          ///< without an attachment NCCL serves it
  std::shared_ptr<const Entry> entry; ///< keeps the attachment alive
};
/// Of one communicator, in their order.
using CallsOfOne = std::vector<Kept *>;

class Communicators {
public:
  /// The process's table, never destroyed: threads may call while it ends.
  static Communicators &table();

  /// False where GC3_BUNDLES names none: there are no entries then, and nothing to do.
  bool active() const { return engine != nullptr; }

  /// Null for handles that have none.
  std::shared_ptr<const Entry> find(Comm comm) const;

  /// The same for who makes a collective call on it, or a child of it: it may be one of those that are expected.
  std::shared_ptr<const Entry> findOrExpected(Comm comm);

  /// What nothing is known of blocks. One that does not becomes ready at a time of its own on each rank, so it waits
  /// for its first call.
  Blocking blocking(Comm comm);

  /// A child of a communicator that may not block. NCCL writes its handle some time later, when nobody may look there
  /// any more. So a handle that is unknown at its first call is taken for one of those.
  void expect(bool mayBlock);

  /// Communicators that NCCL has made, together, outside of any group that is still open.
  void adopt(std::span<const Birth> births);

  /// Makes ready what first calls need that ranks wait for each other for, outside of any group: where communicators
  /// wait, and all their ranks make a first collective call, they are taken on, and it is decided who serves the calls;
  /// the first call's program is loaded, as further calls may have to be behind it first. Each communicator by itself,
  /// as other ranks may make their calls one by one. Some wait on: where they are not ready, which is NCCL's error, or
  /// the call is captured, in which nothing can be made.
  void makeReady(std::span<const CallsOfOne> all);

  /// Waits until NCCL has put on its streams what it was told of a communicator, where that does not block. Not
  /// Success: it has failed, or was aborted.
  Result settle(Comm comm) const;

  /// Runs calls that programs serve.
  Result run(std::span<const Work> works);

  /// What NCCL has made of an operation on a communicator, from now on; nothing: it is destroyed.
  void note(Comm comm, RedOp op, std::optional<core::PreMulSum> made);
  /// What is known of an operation.
  std::optional<core::PreMulSum> operation(Comm comm, RedOp op) const;

  /// What NCCL says of it, and where all is well there, what has become of what we run. InProgress: what we hold of one
  /// that does not block is being given back.
  Result state(Comm comm, Result &state) const;

  /// Before NCCL finalizes or destroys it: gives back what the attachment holds, as Departures::begin. False: it has
  /// been aborted meanwhile, or has to be.
  bool release(Comm comm, bool awaits);
  /// Since then, until it is destroyed: as Departures::state.
  Result stateOfRelease(Comm comm) const { return departures.state(comm); }
  /// Before NCCL destroys it: waits for that.
  bool awaitRelease(Comm comm);

  /// Before NCCL aborts or revokes it: ends what runs; from here on all calls are NCCL's. What is left is let go of
  /// aside, since that may wait for CUDA, which may wait for NCCL's kernels. True: the engine has revoked it before.
  bool abort(Comm comm);

private:
  Communicators();
  void takeOn(Comm comm);
  void makeOneReady(const CallsOfOne &calls, bool areCaptured);
  void tryToMakeOneReady(const CallsOfOne &calls, bool areCaptured);
  std::jthread makeOneReadyElsewhere(const CallsOfOne &calls, bool areCaptured);
  Entry unready(Comm comm, const Blocking &blocking) const;
  void insert(Entry made);
  void replace(Entry made);
  std::vector<Entry> attach(std::vector<Entry> asked, std::span<const Member> members) const;

  std::unique_ptr<Engine> engine;
  mutable std::mutex mutex; ///< not held while NCCL is asked, or for a state: who polls must not keep others out
  std::unordered_map<Comm, std::shared_ptr<const Entry>> entries;
  uint32_t expected = 0;        ///< children
  bool expectsBlocking = false; ///< some of them may block
  std::unordered_map<Comm, std::unordered_map<RedOp, core::PreMulSum>> operations;
  Departures departures;
};

} // namespace gc3::nccl
