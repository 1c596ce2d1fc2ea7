// SPDX-License-Identifier: Apache-2.0
#include "lsa/Revocation.h"

#include "nccl/Log.h"

#include <system_error>
#include <thread>

namespace gc3::lsa {

void Revocation::begin() {
  if (begun.exchange(true))
    return;
  if (!nccl.CommRevoke) {
    nccl::tellOnce("this NCCL has no ncclCommRevoke: what it runs on a communicator that waits in vain goes on until "
                   "that is aborted");
    return;
  }
  const auto work = [held = turn, revoke = nccl.CommRevoke, own = comm] {
    std::lock_guard lock(held->mutex);
    if (held->over)
      return;
    const host::Outcome outcome = outcomeOf(revoke(own, 0), "revoking a communicator");
    held->done = outcome.ok();
    if (!outcome.ok())
      nccl::tellOnce(outcome.text);
  };
  aside ? aside(work) : work();
}

void Revocation::end() {
  std::lock_guard lock(turn->mutex);
  turn->over = true;
}

bool Revocation::isDone() const {
  std::lock_guard lock(turn->mutex);
  return turn->done;
}

void inThread(std::function<void()> work) {
  try {
    std::thread(std::move(work)).detach();
  } catch (const std::system_error &) { // then kernels hang until the application aborts
  }
}

} // namespace gc3::lsa
