// SPDX-License-Identifier: Apache-2.0
#include "api/Processes.h"

#include "job/ProcessState.h"

namespace gc3::api {

using core::Outcome;

namespace {

/// How long rank 0 waits for the others at the end. After it has left, they do not learn of each other's losses.
constexpr std::chrono::seconds linger{1};

Outcome errorOf(const job::Loss *loss) {
  return loss ? Outcome{gc3RemoteError, job::describe(*loss)} : Outcome{};
}

} // namespace

/// Rank 0 leaves last, because it waits for the others.
Processes::~Processes() {
  for (auto own = assemblies.rbegin(); own != assemblies.rend(); ++own)
    (*own)->leave(linger);
}

Outcome Processes::findLoss() {
  return errorOf(assemblies[0]->loss());
}

Outcome Processes::findLoss(uint32_t rank) {
  return errorOf(assemblies[0]->lossOf(rank));
}

bool Processes::isStopped(uint32_t rank) {
  return !isRemote(rank) &&
         job::stateOfProcess(assemblies[0]->identities()[rank].process) == job::ProcessState::Stopped;
}

std::string Processes::describe(uint32_t rank) {
  const job::Identity &identity = assemblies[0]->identities()[rank];
  return isRemote(rank) ? "whose process " + std::to_string(identity.process) + " is on host " + identity.hostName
                        : job::describeState(identity.process, identity.hostName);
}

bool Processes::isRemote(uint32_t rank) const {
  const std::span<const job::Identity> identities = assemblies[0]->identities();
  return !job::shareHost(identities[rank], identities[assemblies[0]->rank()]);
}

std::vector<bool> Processes::areRemote() const {
  std::vector<bool> elsewhere(assemblies[0]->ranks());
  for (uint32_t rank = 0; rank < elsewhere.size(); ++rank)
    elsewhere[rank] = isRemote(rank);
  return elsewhere;
}

std::vector<uint32_t> Processes::ownRanks() const {
  std::vector<uint32_t> ranks;
  for (const auto &own : assemblies)
    ranks.push_back(own->rank());
  return ranks;
}

} // namespace gc3::api
