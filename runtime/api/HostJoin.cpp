// SPDX-License-Identifier: Apache-2.0
#include "api/HostJoin.h"

#include "api/HostInfo.h"
#include "api/Meeting.h"
#include "api/Processes.h"
#include "core/Log.h"

#include <algorithm>
#include <exception>
#include <thread>

namespace gc3::api {

using core::Outcome;
using core::Result;
using job::Assembly;
using job::Identity;

namespace {

/// The descriptor of the shared file in rank 0's process.
struct FilePlace {
  uint32_t process = 0;
  int32_t descriptor = -1;
};

/// Compares what ranks must have in common. The ranks begin without learned times if they have read different ones.
Outcome compare(Assembly &assembly, HostBackendOptions &options, const bundle::BundleFile &file,
                const job::WaitLimits &limits) {
  const Result<std::vector<HostInfo>> infos = assembly.gatherEach(HostInfo::of(options, file), limits);
  if (!infos.ok())
    return infos.outcome();
  if (const std::string difference = disagreement(*infos); !difference.empty())
    return {gc3InvalidUsage, difference};
  const auto isOther = [&](const HostInfo &info) { return info.learned != infos->front().learned; };
  if (std::any_of(infos->begin(), infos->end(), isOther)) {
    core::logOnce("GC3_TUNE_FILE: ranks of a communicator have loaded different contents, and begin without them");
    options.call.earlier.contexts.clear();
    options.call.earlier.rows.clear();
  }
  return {};
}

Outcome checkHosts(std::span<const Identity> identities) {
  for (size_t r = 1; r < identities.size(); ++r)
    if (!job::shareHost(identities[r], identities[0]))
      return {gc3InvalidUsage, "rank " + std::to_string(r) + " (" + job::describe(identities[r]) +
                                   ") can't share memory with rank 0 (" + job::describe(identities[0]) +
                                   "): host communicators of several hosts need UCX, which this gc3 does not support"};
  return {};
}

bool isInThisProcess(const Identity &identity, const Identity &own) {
  return job::shareHost(identity, own) && identity.process == own.process;
}

/// Makes the backend of this process's ranks.
Meeting::Made make(const HostJoin &wanted, const HostBackendOptions &options, const FilePlace &place,
                   Processes::Assemblies ownRanks) {
  Result<host::SharedFile> file = host::SharedFile::open(static_cast<int>(place.process), place.descriptor);
  if (!file.ok())
    return file.outcome();
  const uint32_t ranks = ownRanks[0]->ranks();
  auto processes = std::make_shared<Processes>(std::move(ownRanks), std::move(*file));
  host::Site site(ranks, processes->ownRanks(), processes->memory(), *processes,
                  std::chrono::milliseconds(options.timeoutMs));
  return HostBackend::make(wanted.file, std::move(site), std::move(processes), options);
}

Result<std::shared_ptr<HostBackend>> joinOthers(const HostJoin &wanted, std::unique_ptr<Assembly> own,
                                                const job::WaitLimits &limits) {
  Assembly &assembly = *own;
  HostBackendOptions options = wanted.options;
  if (Outcome outcome = compare(assembly, options, *wanted.file, limits); !outcome.ok())
    return outcome;
  const std::span<const Identity> identities = assembly.identities();
  if (Outcome outcome = checkHosts(identities); !outcome.ok())
    return outcome;
  const Identity &self = identities[assembly.rank()];
  std::optional<host::SharedFile> created; // until all processes have opened it
  FilePlace place;
  if (assembly.rank() == 0) {
    Result<host::SharedFile> file = host::SharedFile::create();
    if (!file.ok()) {
      assembly.report(file.outcome());
      return file.outcome();
    }
    created = std::move(*file);
    place = {self.process, created->descriptor()};
  }
  const Result<std::vector<FilePlace>> places = assembly.gatherEach(place, limits);
  if (!places.ok())
    return places.outcome();
  const auto expected = std::count_if(identities.begin(), identities.end(),
                                      [&](const Identity &identity) { return isInThisProcess(identity, self); });
  const Meeting::Made made = Meeting::of(wanted.communicator)->arrive(
      std::move(own), static_cast<size_t>(expected), [&](Processes::Assemblies ownRanks) {
        return make(wanted, options, places->front(), std::move(ownRanks));
      });
  if (!made.ok())
    return made.outcome();
  if (const Result<Assembly::Gathered> ready = assembly.gather({}, limits); !ready.ok())
    return ready.outcome();
  return *made;
}

Outcome joinOne(const HostJoin &wanted) {
  const job::WaitLimits limits{std::chrono::milliseconds(wanted.options.timeoutMs), nullptr};
  Result<std::unique_ptr<Assembly>> assembly = wanted.assemble(limits);
  if (!assembly.ok())
    return assembly.outcome();
  const uint32_t rank = (*assembly)->rank();
  Result<std::shared_ptr<HostBackend>> backend = joinOthers(wanted, std::move(*assembly), limits);
  if (backend.ok())
    *wanted.handle = new gc3Comm{*backend, rank, {}};
  return backend.outcome();
}

/// Like joinOne(). Threads must not throw.
Outcome tryJoin(const HostJoin &wanted) noexcept {
  try {
    return joinOne(wanted);
  } catch (const std::bad_alloc &) {
    return {gc3SystemError, "out of memory"};
  } catch (const std::exception &error) {
    return {gc3InternalError, error.what()};
  }
}

} // namespace

Outcome join(std::span<const HostJoin> joins) {
  std::vector<Outcome> outcomes(joins.size());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < joins.size(); ++i)
    threads.emplace_back([&, i] { outcomes[i] = tryJoin(joins[i]); });
  if (!joins.empty())
    outcomes[0] = tryJoin(joins[0]);
  for (std::thread &thread : threads)
    thread.join();
  const auto failed = std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome &one) { return !one.ok(); });
  return failed == outcomes.end() ? Outcome{} : *failed;
}

} // namespace gc3::api
