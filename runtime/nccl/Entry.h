// SPDX-License-Identifier: Apache-2.0
// What we know of one of NCCL's communicators.
#pragma once

#include "nccl/Engine.h"
#include "nccl/OwnComm.h"

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

namespace gc3::nccl {

/// A communicator, and its attachment or why there is none.
struct Entry {
  Member member;                ///< `ranks` is 0 where it was not ready to say
  bool blocking;                ///< for certain
  std::shared_ptr<OwnComm> own; ///< where `member` may not block; an attachment is of it, which it outlives
  Attached attached;
  bool waits = false; ///< no engine has been asked yet

  /// Held by Asking.
  std::shared_ptr<std::shared_mutex> asked = std::make_shared<std::shared_mutex>();

  AbortFlag abortFlag() const { return own ? own->abortFlag() : member.isAborted; }

  /// Who serves a call on it, logged if asked for.
  Decision decide(const Call &call) const;
};

/// The reference of who asks for an entry's state, for which who gives the entry back waits: what is held goes with the
/// last reference, and the one that asks may be a watchdog, which must not wait for that. Made where the entry still is
/// to be found, as nobody begins to ask any more behind that.
class Asking {
public:
  Asking() = default;
  explicit Asking(std::shared_ptr<const Entry> entry) : asked(entry->asked), lock(*asked), entry(std::move(entry)) {}
  static void awaitEnd(const Entry &entry) { std::unique_lock(*entry.asked).unlock(); }

  explicit operator bool() const { return entry != nullptr; }
  const Entry *operator->() const { return entry.get(); }

private:
  std::shared_ptr<std::shared_mutex> asked;
  std::shared_lock<std::shared_mutex> lock;
  std::shared_ptr<const Entry> entry; ///< goes first
};

/// Says what becomes of a communicator, in the log.
void tellOf(const Member &member, const std::string &what);

/// Says why NCCL keeps a communicator.
Attached refusal(const Member &member, std::string why);

/// Asks NCCL how many ranks it has, and which is ours. False: it does not say.
bool ask(Member &member);

} // namespace gc3::nccl
