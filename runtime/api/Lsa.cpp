// SPDX-License-Identifier: Apache-2.0
#include "api/Lsa.h"

#include "ncclapi/Installed.h"

namespace gc3::api {

using core::Outcome;
using core::RankRequest;
using core::Request;

static const Outcome gone{gc3InvalidUsage, "the communicator was aborted or destroyed"};

Outcome Lsa::make(const lsa::Drivers &drivers, std::span<const Init> inits) {
  std::vector<lsa::Applicant> applicants;
  for (const Init &init : inits)
    applicants.push_back(init.applicant);
  std::vector<lsa::Joined> joined = lsa::join(drivers, applicants);
  std::map<uint64_t, std::shared_ptr<Lsa>> backends; // by communicator
  Outcome first;
  for (size_t i = 0; i < inits.size(); ++i) {
    if (const Outcome &outcome = joined[i].outcome; !outcome.ok()) {
      // What a rank has found out by itself says more than what the others heard of it, which is gc3InvalidUsage.
      if (first.ok() || (first.code == gc3InvalidUsage && outcome.code != gc3InvalidUsage))
        first = outcome;
      continue;
    }
    std::shared_ptr<Lsa> &backend = backends[joined[i].communicator];
    if (!backend)
      backend = std::make_shared<Lsa>(drivers);
    const uint32_t rank = joined[i].rank->rank();
    backend->add(joined[i].rank);
    *inits[i].comm = new gc3Comm{backend, rank, {}};
  }
  return first;
}

Outcome Lsa::make(std::span<const Init> inits) {
  const cuda::Cuda *cuda = cuda::linkedCuda();
  if (!cuda)
    return {gc3InvalidUsage, "this gc3 was built without CUDA"};
  static ncclapi::Nccl nccl;
  static const Outcome found = ncclapi::Nccl::find(ncclapi::findInstalled, nccl);
  return found.ok() ? make({*cuda, nccl, gin::find, lsa::inThread}, inits) : found;
}

void Lsa::add(const std::shared_ptr<lsa::Rank> &rank) {
  rankCount = rank->ranks();
  Member member{rank, nullptr};
  if (rank->timeoutMs() != 0) {
    member.watcher = std::make_shared<cuda::PeriodicThread>();
    member.watcher->start(rank->timeoutMs(), [raw = rank.get()] { raw->patrol(); });
  }
  members[rank->rank()] = std::move(member);
}

/// A rank's part of a call.
Outcome Lsa::callOf(const RankRequest &part, lsa::RankCall &call, std::shared_ptr<lsa::Rank> &rank) {
  {
    std::lock_guard lock(mutex);
    const auto member = members.find(part.rank);
    if (member == members.end())
      return gone;
    rank = member->second.rank;
  }
  call.rank = rank.get();
  call.request = part.request;
  call.stream = static_cast<cuda::Stream>(part.request.stream);
  return call.rank->programs()->choose(part.request, call.program);
}

Outcome Lsa::complete(const Arrival &arrival) {
  try {
    return run(arrival);
  } catch (const std::exception &) {
    std::lock_guard lock(mutex);
    for (const RankRequest &part : arrival.parts) // others may make it
      if (const auto member = members.find(part.rank); member != members.end())
        member->second.rank->breakDown({gc3SystemError, "no memory"}); // short, which takes none
    throw;
  }
}

Outcome Lsa::run(const Arrival &arrival) {
  const Request &first = arrival.parts[0].request;
  for (const RankRequest &part : arrival.parts) {
    if (Outcome outcome = core::checkRequest(part.request, part.rank, rankCount); !outcome.ok())
      return outcome;
    if (!part.request.matches(first))
      return {gc3InvalidUsage, "the calls of this thread's ranks do not match"};
  }
  if (core::isEmpty(first))
    return {};
  std::vector<std::shared_ptr<lsa::Rank>> kept(arrival.parts.size()); // who aborts one does not wait for its calls
  std::vector<lsa::RankCall> calls(arrival.parts.size());
  for (size_t i = 0; i < calls.size(); ++i)
    if (Outcome outcome = callOf(arrival.parts[i], calls[i], kept[i]); !outcome.ok())
      return outcome;
  lsa::run(calls, nccl);
  for (const lsa::RankCall &call : calls)
    if (!call.outcome.ok())
      return call.outcome;
  return {};
}

std::vector<nccl::Asking<lsa::Rank>> Lsa::present() {
  std::lock_guard lock(mutex);
  std::vector<nccl::Asking<lsa::Rank>> ranks;
  for (const auto &[number, member] : members)
    ranks.emplace_back(member.rank, member.asked);
  return ranks;
}

Outcome Lsa::select(const Request &request, const char *&program) {
  const std::vector<nccl::Asking<lsa::Rank>> ranks = present();
  if (ranks.empty())
    return gone;
  const nccl::Asking<lsa::Rank> &rank = ranks[0]; // alike on all of them
  if (Outcome outcome = rank->broken(); !outcome.ok())
    return outcome;
  uint32_t number = 0;
  if (Outcome outcome = rank->programs()->choose(request, number); !outcome.ok())
    return outcome;
  if (const std::string refusal = rank->refusal(number); !refusal.empty())
    return {gc3InvalidUsage, refusal};
  program = rank->programs()->entry(number).loaded->program->info().name()->c_str();
  return {};
}

Outcome Lsa::asyncError() {
  for (const auto &rank : present())
    if (Outcome outcome = rank->watch(cuda::Watchdog::Clock::now()); !outcome.ok())
      return outcome;
  return {};
}

void Lsa::leave(uint32_t rank, bool aborts) {
  Member member; // goes when the lock is free again
  {
    std::lock_guard lock(mutex);
    member = std::move(members.at(rank));
    members.erase(rank);
  }
  if (!aborts)
    return member.asked.awaitEnd();
  member.rank->abort();
  // To let go of it may wait for CUDA, which may wait for kernels that only NCCL's abort ends.
  const int device = member.rank->device();
  aside(lsa::onGpu(cuda, device, [left = std::make_shared<Member>(std::move(member))] {
    left->asked.awaitEnd();
    left->watcher.reset();
    left->rank.reset();
  }));
}

} // namespace gc3::api
