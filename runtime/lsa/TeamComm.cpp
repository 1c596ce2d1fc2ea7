// SPDX-License-Identifier: Apache-2.0
#include "lsa/TeamComm.h"

#include <utility>

namespace gc3::lsa {

using core::Outcome;

TeamComm &TeamComm::operator=(TeamComm &&other) noexcept {
  std::swap(nccl, other.nccl);
  std::swap(comm, other.comm);
  return *this;
}

TeamComm::~TeamComm() {
  if (comm)
    nccl->CommDestroy(comm);
}

Outcome TeamComm::create(ncclapi::Comm parent, const ncclapi::Team &team, int first) {
  return outcomeOf(nccl->CommSplit(parent, first, team.rank, &comm, nullptr), "splitting the communicator by LSA team");
}

Outcome TeamComm::complete(const Outcome &created, const ncclapi::Team &team) {
  if (!created.ok())
    return created;
  const ncclapi::Team own = nccl->TeamLsa(comm);
  if (own.ranks != team.ranks || own.rank != team.rank || own.stride != 1)
    return {gc3SystemError, "an LSA team is no team in a communicator of its own"};
  return {};
}

void TeamComm::abort(Aside aside) {
  const ncclapi::Comm own = std::exchange(comm, nullptr);
  if (!own)
    return;
  aside([table = nccl, own] { table->CommAbort(own); });
}

} // namespace gc3::lsa
