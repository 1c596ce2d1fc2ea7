// SPDX-License-Identifier: Apache-2.0
#include "lsa/Revocation.h"

#include "core/Log.h"

namespace gc3::lsa {

void Revocation::begin() {
  if (begun.exchange(true))
    return;
  if (!nccl.CommRevoke) {
    core::tellOnce("this NCCL has no ncclCommRevoke: what it runs on a communicator that waits in vain goes on until "
                   "that is aborted");
    return;
  }
  const auto work = [held = turn, revoke = nccl.CommRevoke, own = comm] {
    std::lock_guard lock(held->mutex);
    if (held->over)
      return;
    const core::Outcome outcome = outcomeOf(revoke(own, 0), "revoking a communicator");
    held->done = outcome.ok();
    if (!outcome.ok())
      core::tellOnce(outcome.text);
  };
  aside(work);
}

void Revocation::end() {
  std::lock_guard lock(turn->mutex);
  turn->over = true;
}

bool Revocation::isDone() const {
  std::lock_guard lock(turn->mutex);
  return turn->done;
}

} // namespace gc3::lsa
