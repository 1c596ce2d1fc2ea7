// SPDX-License-Identifier: Apache-2.0
// What we know of one of NCCL's communicators.
#pragma once

#include "nccl/Asking.h"
#include "nccl/Engine.h"
#include "nccl/OwnComm.h"

#include <memory>
#include <string>

namespace gc3::nccl {

/// What is known of whether a communicator blocks.
struct Blocking {
  bool surely, maybe;
  bool differs = false; ///< between its ranks, for all they know: all wait for their first call
};

/// A communicator, and its attachment or why there is none.
struct Entry {
  Member member; ///< `ranks` is 0 where it was not ready to say
  Blocking blocking;
  std::shared_ptr<OwnComm> own; ///< where some rank may not block; an attachment is of it, which it outlives
  Attached attached;
  bool waits = false; ///< no engine has been asked yet
  Asked asked{};

  AbortFlag abortFlag() const { return own ? own->abortFlag() : member.isAborted; }

  /// Who serves a call on it, logged if asked for.
  Decision decide(const CollectiveCall &call) const;
};

/// Says what becomes of a communicator, in the log.
void tellOf(const Member &member, const std::string &what);

/// Says why NCCL keeps a communicator.
Attached refusal(const Member &member, std::string why);

/// Asks NCCL how many ranks it has, and which is ours. False: it does not say.
bool ask(Member &member);

} // namespace gc3::nccl
