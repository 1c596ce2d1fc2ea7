// SPDX-License-Identifier: Apache-2.0
// A communicator of one LSA team's ranks, beside a larger one that has no windows: from NCCL 2.29 on these take all
// ranks in one team, or a network of GIN's.
#pragma once

#include "lsa/Aside.h"
#include "ncclapi/Nccl.h"

namespace gc3::lsa {

class TeamComm {
public:
  TeamComm() = default;
  explicit TeamComm(const ncclapi::Nccl &nccl) : nccl(&nccl) {}
  TeamComm(TeamComm &&other) noexcept { *this = std::move(other); }
  TeamComm &operator=(TeamComm &&other) noexcept;
  ~TeamComm(); ///< nothing of it is used any more

  /// All ranks of `parent` do so together, in a group of NCCL's. `team` is the rank's LSA team there, whose first rank
  /// is `first`.
  core::Outcome create(ncclapi::Comm parent, const ncclapi::Team &team, int first);
  /// When that group has ended: `created` says how. Its LSA team has to be all of it.
  core::Outcome complete(const core::Outcome &created, const ncclapi::Team &team);

  /// Null: there is none.
  ncclapi::Comm get() const { return comm; }

  /// Ends what waits in NCCL for other ranks of it, on other threads; nothing of it is used any more. Done aside, since
  /// NCCL waits for the GPU there, where kernels may hang until the application has aborted the larger communicator.
  void abort(Aside aside);
  /// It is left as it is, and never given back.
  void abandon() { comm = nullptr; }

private:
  const ncclapi::Nccl *nccl = nullptr;
  ncclapi::Comm comm = nullptr; ///< NCCL writes it when the group ends, so it stays where it is until complete()
};

} // namespace gc3::lsa
