// SPDX-License-Identifier: Apache-2.0
// Ranks of one thread telling all others something, in one of NCCL's groups.
#pragma once

#include "lsa/Deadline.h"

#include <algorithm>
#include <span>

namespace gc3::lsa {

/// `body` between the start and the end of a group of NCCL's; gives the first error.
template <typename Body>
core::Outcome grouped(const ncclapi::Nccl &nccl, Body body) {
  if (core::Outcome outcome = outcomeOf(nccl.GroupStart(), "opening a group"); !outcome.ok())
    return outcome;
  core::Outcome inside = body();
  core::Outcome end = outcomeOf(nccl.GroupEnd(), "closing a group");
  return inside.ok() ? end : inside;
}

/// Every rank gives own[i] and receives all[i], by rank of its communicator; by rank of the thread, what that came to.
/// A rank with an error is broken, as the others may wait for it.
template <typename Message>
std::vector<core::Outcome> gatherEach(const ncclapi::Nccl &nccl, std::span<Rank *const> ranks,
                                      const std::vector<Message> &own, std::vector<std::vector<Message>> &all) {
  static_assert(sizeof(Message) <= Exchange::mostBytes);
  all.resize(ranks.size());
  const Rank::Clock::time_point since = Rank::Clock::now();
  core::Outcome begun;
  for (size_t i = 0; begun.ok() && i < ranks.size(); ++i)
    begun = ranks[i]->beginGather(&own[i], sizeof(Message));
  if (begun.ok()) {
    Deadline deadline(ranks);
    begun = grouped(nccl, [&] {
      core::Outcome gathered;
      for (size_t i = 0; gathered.ok() && i < ranks.size(); ++i)
        gathered = ranks[i]->gather();
      return gathered;
    });
    if (core::Outcome late = deadline.outcome(); !late.ok())
      begun = late;
  }
  if (begun.code == gc3InProgress) { // nobody waits for it
    begun.code = gc3InvalidUsage;
    for (Rank *rank : ranks)
      rank->leaveGather();
  }
  std::vector<core::Outcome> outcomes(ranks.size(), begun);
  for (size_t i = 0; i < ranks.size(); ++i) {
    all[i].resize(ranks[i]->ranks());
    if (begun.ok())
      outcomes[i] = ranks[i]->endGather(all[i].data(), since);
    if (!outcomes[i].ok())
      ranks[i]->giveUp(outcomes[i]);
  }
  return outcomes;
}

/// Of ranks that can't go on without each other: the first error, which breaks all of them.
inline core::Outcome breakTogether(std::span<const core::Outcome> outcomes, std::span<Rank *const> ranks) {
  const auto first = std::find_if(outcomes.begin(), outcomes.end(), [](const auto &outcome) { return !outcome.ok(); });
  if (first == outcomes.end())
    return {};
  for (size_t i = 0; i < ranks.size(); ++i)
    if (outcomes[i].ok())
      ranks[i]->giveUp(*first);
  return *first;
}

} // namespace gc3::lsa
