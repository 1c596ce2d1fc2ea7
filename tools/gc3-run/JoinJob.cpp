// SPDX-License-Identifier: Apache-2.0
#include "JoinJob.h"

#include "core/Proofs.h"
#include "core/Settings.h"
#include "job/Assembly.h"

#include <memory>

namespace gc3::run {

/// Returns the limits of a gather of a process with a problem. The others may be in a call, or stopped, so this process
/// soon sends them the problem and ends.
static job::WaitLimits limitsWith(const std::string &problem) {
  constexpr std::chrono::seconds patience(2);
  const auto deadline = job::Wait::Clock::now() + patience;
  const auto checkTime = [=] {
    return job::Wait::Clock::now() < deadline ? core::Outcome{} : core::Outcome{gc3RemoteError, problem};
  };
  return {job::Wait::longest, checkTime};
}

core::Result<Job> joinJob(job::Launch launch) {
  const core::Result<uint32_t> given = core::timeoutMs(core::settings(), 0);
  if (!given.ok())
    return given.outcome();
  constexpr uint32_t defaultTimeout = 60000;
  const job::WaitLimits limits{std::chrono::milliseconds(*given != 0 ? *given : defaultTimeout), nullptr};
  launch.key += "/gc3-run"; // communicators can join under the launcher's own key
  job::Member member;
  if (core::Outcome outcome = core::secret(core::settings()).moveTo(member.secret); !outcome.ok())
    return outcome;
  std::unique_ptr<job::Assembly> joined;
  if (core::Outcome outcome = job::Assembly::join(launch, member, limits).moveTo(joined); !outcome.ok())
    return outcome;
  const std::shared_ptr<job::Assembly> assembly = std::move(joined);
  const auto gather = [assembly, limits](const Job::Bytes &own, const std::string &problem) {
    return assembly->gather(own, problem.empty() ? limits : limitsWith(problem));
  };
  const auto awaitLoss = [assembly](std::chrono::milliseconds time) {
    const job::Loss *loss = assembly->waitForLoss(time);
    return loss ? job::describe(*loss) : std::string();
  };
  return Job(launch.rank, launch.ranks, gather, {launch.localRank, launch.localRanks}, awaitLoss);
}

} // namespace gc3::run
