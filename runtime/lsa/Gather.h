// SPDX-License-Identifier: Apache-2.0
// Ranks of one thread telling all others something, in one of NCCL's groups.
#pragma once

#include "lsa/Rank.h"

#include <span>

namespace gc3::lsa {

/// `body` between the start and the end of a group of NCCL's; gives the first error.
template <typename Body>
host::Outcome grouped(const Nccl &nccl, Body body) {
  if (host::Outcome outcome = outcomeOf(nccl.GroupStart(), "opening a group"); !outcome.ok())
    return outcome;
  host::Outcome inside = body();
  host::Outcome end = outcomeOf(nccl.GroupEnd(), "closing a group");
  return inside.ok() ? end : inside;
}

/// Every rank gives own[i] and receives all[i], by rank of its communicator. An error breaks all of the thread's ranks:
/// those of others may wait for any of them, and once the group has begun any of them may have a kernel of NCCL's that
/// waits for others.
template <typename Message>
host::Outcome gather(const Nccl &nccl, std::span<Rank *const> ranks, const std::vector<Message> &own,
                     std::vector<std::vector<Message>> &all) {
  static_assert(sizeof(Message) <= Rank::mostBytes);
  all.resize(ranks.size());
  host::Outcome outcome;
  for (size_t i = 0; outcome.ok() && i < ranks.size(); ++i)
    outcome = ranks[i]->beginGather(&own[i], sizeof(Message));
  const bool hasBegun = outcome.ok();
  if (hasBegun)
    outcome = grouped(nccl, [&] {
      host::Outcome gathered;
      for (size_t i = 0; gathered.ok() && i < ranks.size(); ++i)
        gathered = ranks[i]->gather(sizeof(Message));
      return gathered;
    });
  for (size_t i = 0; outcome.ok() && i < ranks.size(); ++i) {
    all[i].resize(ranks[i]->ranks());
    outcome = ranks[i]->endGather(all[i].data(), sizeof(Message));
  }
  if (!outcome.ok())
    for (Rank *rank : ranks)
      hasBegun ? rank->giveUp(outcome) : rank->breakDown(outcome);
  return outcome;
}

} // namespace gc3::lsa
