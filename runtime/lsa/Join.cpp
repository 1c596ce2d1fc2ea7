// SPDX-License-Identifier: Apache-2.0
// Joining: ranks exchange records, and each works out from them what all will do.
#include "lsa/Gather.h"
#include "lsa/World.h"

namespace gc3::lsa {

using host::Outcome;

namespace {

/// A rank that may join.
struct Candidate {
  std::shared_ptr<Rank> rank;
  std::unique_ptr<Catalog> catalog;
  Outcome outcome; ///< of its own
  std::vector<Record> records;
};

/// What a rank finds out alone; others hear of it, unless it can't even tell.
void look(Candidate &candidate, const Applicant &applicant, Record &record) {
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

Outcome gatherRecords(const Nccl &nccl, std::vector<Candidate> &candidates, const std::vector<Record> &own) {
  std::vector<Rank *> ranks;
  for (Candidate &candidate : candidates)
    ranks.push_back(candidate.rank.get());
  std::vector<std::vector<Record>> all;
  Outcome outcome = gather<Record>(nccl, ranks, own, all);
  for (size_t i = 0; outcome.ok() && i < candidates.size(); ++i)
    candidates[i].records = std::move(all[i]);
  return outcome;
}

/// Once the records are there. An error is that of all ranks.
void judge(Candidate &candidate) {
  const std::string why = disagreement(candidate.records);
  if (candidate.outcome.ok() && !why.empty())
    candidate.outcome = {gc3InvalidUsage, why};
}

/// Of the ranks that have programs for it, between which ones LL128 is possible.
Outcome gatherLines(const Nccl &nccl, std::vector<Candidate> &candidates) {
  std::vector<Candidate *> asked;
  std::vector<Rank *> ranks;
  std::vector<PeerSet> own;
  for (Candidate &candidate : candidates)
    if (candidate.outcome.ok() && candidate.catalog->wantsWholeLines()) {
      asked.push_back(&candidate);
      ranks.push_back(candidate.rank.get());
      own.push_back(candidate.rank->wholeLines(candidate.records));
    }
  if (asked.empty())
    return {};
  std::vector<std::vector<PeerSet>> all;
  Outcome outcome = gather<PeerSet>(nccl, ranks, own, all);
  for (size_t i = 0; outcome.ok() && i < asked.size(); ++i)
    for (size_t r = 0; r < all[i].size(); ++r)
      asked[i]->records[r].wholeLines = all[i][r];
  return outcome;
}

/// Of the ranks that have programs which go over the network, creates its ends, and settles what they do with it.
Outcome connectNetworks(const Nccl &nccl, std::vector<Candidate> &candidates) {
  std::vector<Candidate *> asked;
  std::vector<Rank *> ranks;
  for (Candidate &candidate : candidates)
    if (candidate.outcome.ok() && candidate.catalog->signals() != 0) {
      asked.push_back(&candidate);
      ranks.push_back(candidate.rank.get());
    }
  if (asked.empty())
    return {};
  std::vector<Outcome> created(asked.size());
  const Outcome group = grouped(nccl, [&]() -> Outcome {
    for (size_t i = 0; i < asked.size(); ++i)
      created[i] = ranks[i]->network().create(asked[i]->catalog->signals());
    return {};
  });
  std::vector<uint32_t> contexts;
  for (size_t i = 0; i < asked.size(); ++i)
    contexts.push_back(ranks[i]->completeNetwork(group.ok() ? created[i] : group));
  std::vector<std::vector<uint32_t>> all;
  Outcome outcome = gather<uint32_t>(nccl, ranks, contexts, all);
  for (size_t i = 0; outcome.ok() && i < asked.size(); ++i) {
    for (size_t r = 0; r < all[i].size(); ++r)
      asked[i]->records[r].contexts = all[i][r];
    asked[i]->catalog->settle(asked[i]->records);
  }
  return outcome;
}

Joined settle(Candidate &candidate) {
  if (!candidate.outcome.ok())
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
  for (size_t i = 0; i < applicants.size(); ++i)
    candidates[i].rank = std::make_shared<Rank>(drivers, applicants[i].comm, applicants[i].options);
  for (Candidate &candidate : candidates)
    if (Outcome outcome = candidate.rank->prepare(); !outcome.ok())
      return breakAll(candidates, outcome);
  std::vector<Record> own(applicants.size());
  for (size_t i = 0; i < applicants.size(); ++i)
    look(candidates[i], applicants[i], own[i]);
  if (Outcome outcome = gatherRecords(drivers.nccl, candidates, own); !outcome.ok())
    return breakAll(candidates, outcome);
  for (Candidate &candidate : candidates)
    judge(candidate);
  if (Outcome outcome = gatherLines(drivers.nccl, candidates); !outcome.ok())
    return breakAll(candidates, outcome);
  for (Candidate &candidate : candidates)
    if (candidate.outcome.ok())
      candidate.catalog->settle(candidate.records);
  if (Outcome outcome = connectNetworks(drivers.nccl, candidates); !outcome.ok())
    return breakAll(candidates, outcome);
  std::vector<Joined> joined;
  for (Candidate &candidate : candidates)
    joined.push_back(settle(candidate));
  return joined;
}

} // namespace gc3::lsa
