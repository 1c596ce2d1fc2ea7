// SPDX-License-Identifier: Apache-2.0
#include "nccl/Entry.h"

#include "log/Log.h"
#include "nccl/Installed.h"

#include <utility>

namespace gc3::nccl {

Decision Entry::decide(const Call &call) const {
  Decision decision;
  decision.why = attached.attachment ? whyNever(call, member.ranks) : attached.why;
  if (attached.attachment && decision.why.empty())
    decision = attached.attachment->serves(call);
  if (log::informs() && member.ranks > 0)
    log::tell("rank " + std::to_string(member.rank) + ": " + describe(call, member.ranks) +
              (decision.served() ? ": " : ": NCCL: ") + std::string(decision.why));
  return decision;
}

void tellOf(const Member &member, const std::string &what) {
  if (log::informs())
    log::tell(
        (member.ranks ? "rank " + std::to_string(member.rank) + " of " + std::to_string(member.ranks) + ": " : "") +
        "a communicator " + what);
}

Attached refusal(const Member &member, std::string why) {
  tellOf(member, "is left to NCCL: " + why);
  return {nullptr, std::move(why)};
}

bool ask(Member &member) {
  return callInstalled<Function::CommCount>(member.comm, &member.ranks) == Result::Success &&
         callInstalled<Function::CommUserRank>(member.comm, &member.rank) == Result::Success;
}

} // namespace gc3::nccl
