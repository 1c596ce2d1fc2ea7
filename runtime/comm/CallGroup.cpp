// SPDX-License-Identifier: Apache-2.0
#include "comm/CallGroup.h"

#include "comm/CallQueue.h"
#include "core/Backoff.h"

#include <algorithm>
#include <map>

namespace gc3::comm {

/// Returns one queue for each communicator object, in the order of their first calls.
static std::vector<CallQueue> queuesOf(std::span<CallGroup::Call> calls) {
  std::map<const Communicator *, size_t> indices;
  std::vector<CallQueue> queues;
  for (CallGroup::Call &call : calls) {
    const auto [index, isNew] = indices.try_emplace(call.comm.get(), queues.size());
    if (isNew)
      queues.emplace_back(call.comm.get());
    queues[index->second].add(call);
  }
  return queues;
}

/// Enqueues the next round of the queue at `index`, and returns true. Returns false if that round must still wait.
static bool advance(std::vector<CallQueue> &queues, size_t index, CallGroup::Fallback *fallback) {
  CallQueue &queue = queues[index];
  const auto first = queues.begin(), here = first + static_cast<ptrdiff_t>(index);
  const auto isAwaited = [&](const CallQueue &other) { return queue.mustAwait(other); };
  if (!queue.hasJoined())
    return false;
  // Repeats while it merges queues: each merged queue can show that further queues belong to the same communicator.
  for (size_t before = 0; before != queues.size();) {
    before = queues.size();
    queues.erase(std::remove_if(here + 1, queues.end(), [&](CallQueue &other) { return queue.merge(other); }),
                 queues.end());
  }
  if (std::any_of(first, queues.end(), isAwaited) || !queue.isReady())
    return false;
  if (std::any_of(first, here, [&](const CallQueue &other) { return other.precedes(queue); }))
    return false;
  queue.enqueueRound(fallback);
  return true;
}

void CallGroup::run(std::span<Call> calls, Fallback *fallback) {
  try {
    std::vector<CallQueue> queues = queuesOf(calls);
    for (CallQueue &queue : queues)
      queue.beginJoin();
    for (core::Backoff backoff; !queues.empty();) {
      for (CallQueue &queue : queues)
        queue.decide(fallback);
      bool hasMoved = false;
      for (size_t index = 0; index < queues.size(); ++index)
        hasMoved |= advance(queues, index, fallback);
      std::erase_if(queues, [](const CallQueue &queue) { return queue.isDone(); });
      if (hasMoved)
        backoff = {};
      else
        backoff.pause();
    }
  } catch (const std::bad_alloc &) {
    for (const Call &call : calls)
      call.comm->fail({gc3SystemError, "no memory"}); // short, so the string allocates no memory
    throw;
  }
}

} // namespace gc3::comm
