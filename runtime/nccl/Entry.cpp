// SPDX-License-Identifier: Apache-2.0
#include "nccl/Entry.h"

#include "core/Log.h"
#include "ncclapi/Installed.h"

#include <utility>

namespace gc3::nccl {

Decision Entry::decide(const CollectiveCall &call) const {
  Decision decision;
  decision.why = attached.attachment ? whyNever(call, member.ranks) : attached.why;
  if (attached.attachment && decision.why.empty())
    decision = attached.attachment->serves(call);
  if (core::informs() && member.ranks > 0)
    core::tell("rank " + std::to_string(member.rank) + ": " + describe(call, member.ranks) +
               (decision.served() ? ": " : ": NCCL: ") + std::string(decision.why));
  return decision;
}

void tellOf(const Member &member, const std::string &what) {
  if (core::informs())
    core::tell(
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
