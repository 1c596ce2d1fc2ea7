// SPDX-License-Identifier: Apache-2.0
// Joining: ranks exchange records, and each works out from them what all will do.
#include "lsa/Gather.h"
#include "lsa/World.h"

namespace gc3::lsa {

using core::Outcome;

namespace {

/// A rank that may join.
struct Candidate {
  const Applicant *applicant;
  std::shared_ptr<Rank> rank;
  std::unique_ptr<Catalog> catalog;
  Outcome outcome;             ///< of its own, until the records are there
  bool isBroken = false;       ///< others may wait for it
  bool isOfOneVersion = false; ///< all ranks are
  Record record;               ///< its own
  std::vector<Record> records; ///< by rank

  bool joins() const { return outcome.ok(); }
};
using Candidates = std::vector<Candidate *>;

template <typename Which>
Candidates those(std::vector<Candidate> &candidates, Which which) {
  Candidates chosen;
  for (Candidate &candidate : candidates)
    if (which(candidate))
      chosen.push_back(&candidate);
  return chosen;
}

/// Candidates of which all ranks of a communicator are among those asked, or none, tell each other something. Who waits
/// in vain is no more asked: ranks of other communicators may have all of theirs.
template <typename Message>
Outcome exchange(const ncclapi::Nccl &nccl, const Candidates &asked, const std::vector<Message> &own,
                 std::vector<std::vector<Message>> &all) {
  if (asked.empty())
    return {};
  std::vector<Rank *> ranks;
  for (Candidate *candidate : asked)
    ranks.push_back(candidate->rank.get());
  std::vector<Outcome> outcomes = gatherEach<Message>(nccl, ranks, own, all);
  for (size_t i = 0; i < asked.size(); ++i)
    if (outcomes[i].code == gc3Timeout) {
      asked[i]->outcome = std::exchange(outcomes[i], {});
      asked[i]->isBroken = true;
    }
  return breakTogether(outcomes, ranks);
}

/// What a rank finds out alone; others hear of it, unless it can't even tell.
void look(Candidate &candidate) {
  const Applicant &applicant = *candidate.applicant;
  Record &record = candidate.record;
  candidate.outcome = applicant.problem;
  if (candidate.outcome.ok())
    candidate.outcome = check(applicant.options);
  if (candidate.outcome.ok())
    candidate.outcome = candidate.rank->describe(record);
  if (candidate.outcome.ok())
    candidate.outcome = Catalog::make(applicant.files, candidate.rank->ranks(), applicant.options, candidate.catalog);
  record.bundles = Catalog::digest(applicant.files);
  record.able = candidate.outcome.ok();
}

/// Ranks of one version go on; the others know so from here on. Who comes to this when others have waited for too long
/// finds out in the next gather, before anything that it could not stop waiting in: so nothing that takes long is
/// between the gathers.
Outcome greet(const ncclapi::Nccl &nccl, std::vector<Candidate> &candidates) {
  const Candidates asked = those(candidates, [](const Candidate &) { return true; });
  std::vector<std::vector<Greeting>> all;
  Outcome outcome = exchange(nccl, asked, std::vector<Greeting>(asked.size()), all);
  for (size_t i = 0; outcome.ok() && i < asked.size(); ++i) {
    if (asked[i]->isBroken)
      continue;
    const std::string why = otherVersion(all[i]);
    asked[i]->isOfOneVersion = why.empty();
    if (asked[i]->joins() && !why.empty())
      asked[i]->outcome = {gc3InvalidUsage, why};
  }
  return outcome;
}

/// An error that follows from the records is that of all ranks.
Outcome gatherRecords(const ncclapi::Nccl &nccl, std::vector<Candidate> &candidates) {
  const Candidates asked = those(candidates, [](const Candidate &candidate) { return candidate.isOfOneVersion; });
  std::vector<Record> own;
  for (const Candidate *candidate : asked)
    own.push_back(candidate->record);
  std::vector<std::vector<Record>> all;
  Outcome outcome = exchange(nccl, asked, own, all);
  for (size_t i = 0; outcome.ok() && i < asked.size(); ++i) {
    asked[i]->records = std::move(all[i]);
    if (asked[i]->isBroken)
      continue;
    if (const std::string why = disagreement(asked[i]->records); asked[i]->joins() && !why.empty())
      asked[i]->outcome = {gc3InvalidUsage, why};
  }
  return outcome;
}

/// Of the ranks that have programs for it, between which ones LL128 is possible.
Outcome gatherLines(const ncclapi::Nccl &nccl, std::vector<Candidate> &candidates) {
  const Candidates asked = those(
      candidates, [](const Candidate &candidate) { return candidate.joins() && candidate.catalog->wantsWholeLines(); });
  std::vector<PeerSet> own;
  for (const Candidate *candidate : asked)
    own.push_back(candidate->rank->wholeLines(candidate->records));
  std::vector<std::vector<PeerSet>> all;
  Outcome outcome = exchange(nccl, asked, own, all);
  for (size_t i = 0; outcome.ok() && i < asked.size(); ++i)
    for (size_t r = 0; r < all[i].size(); ++r)
      asked[i]->records[r].wholeLines = all[i][r];
  return outcome;
}

/// Of the ranks that have programs which go over the network, creates its ends, and settles what they do with it.
Outcome connectNetworks(const ncclapi::Nccl &nccl, std::vector<Candidate> &candidates) {
  const Candidates asked = those(
      candidates, [](const Candidate &candidate) { return candidate.joins() && candidate.catalog->signals() != 0; });
  if (asked.empty())
    return {};
  std::vector<Outcome> created(asked.size());
  const Outcome group = grouped(nccl, [&]() -> Outcome {
    for (size_t i = 0; i < asked.size(); ++i)
      created[i] = asked[i]->rank->network().create(asked[i]->catalog->signals());
    return {};
  });
  std::vector<uint32_t> contexts;
  for (size_t i = 0; i < asked.size(); ++i)
    contexts.push_back(asked[i]->rank->completeNetwork(group.ok() ? created[i] : group));
  std::vector<std::vector<uint32_t>> all;
  Outcome outcome = exchange(nccl, asked, contexts, all);
  for (size_t i = 0; outcome.ok() && i < asked.size(); ++i) {
    if (asked[i]->isBroken)
      continue;
    for (size_t r = 0; r < all[i].size(); ++r)
      asked[i]->records[r].contexts = all[i][r];
    asked[i]->catalog->settle(asked[i]->records);
  }
  return outcome;
}

/// An error: some rank can't tell the others what it came to.
Outcome agree(const ncclapi::Nccl &nccl, std::vector<Candidate> &candidates) {
  for (Candidate &candidate : candidates)
    look(candidate);
  for (auto *gatherNext : {greet, gatherRecords, gatherLines})
    if (Outcome outcome = gatherNext(nccl, candidates); !outcome.ok())
      return outcome;
  for (Candidate *candidate : those(candidates, [](const Candidate &each) { return each.joins(); }))
    candidate->catalog->settle(candidate->records);
  return connectNetworks(nccl, candidates);
}

Joined settle(Candidate &candidate) {
  if (candidate.isBroken)
    return {std::move(candidate.rank), candidate.outcome, 0};
  if (!candidate.joins())
    return {nullptr, candidate.outcome, 0};
  candidate.rank->join(std::move(candidate.catalog), candidate.records);
  return {std::move(candidate.rank), {}, candidate.records[0].nonce};
}

/// Others may wait for these ranks, who can't tell them.
std::vector<Joined> breakAll(std::vector<Candidate> &candidates, const Outcome &why) {
  std::vector<Joined> joined;
  for (Candidate &candidate : candidates) {
    candidate.rank->breakDown(why);
    joined.push_back({std::move(candidate.rank), why, 0});
  }
  return joined;
}

} // namespace

std::vector<Joined> join(const Drivers &drivers, std::span<const Applicant> applicants) {
  std::vector<Candidate> candidates(applicants.size());
  for (size_t i = 0; i < applicants.size(); ++i) {
    candidates[i].applicant = &applicants[i];
    candidates[i].rank =
        std::make_shared<Rank>(drivers, applicants[i].comm, applicants[i].options, applicants[i].isAborted);
  }
  for (Candidate &candidate : candidates)
    if (Outcome outcome = candidate.rank->prepare(); !outcome.ok())
      return breakAll(candidates, outcome);
  if (Outcome outcome = agree(drivers.nccl, candidates); !outcome.ok())
    return breakAll(candidates, outcome);
  std::vector<Joined> joined;
  for (Candidate &candidate : candidates)
    joined.push_back(settle(candidate));
  return joined;
}

} // namespace gc3::lsa
