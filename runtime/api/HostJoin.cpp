// SPDX-License-Identifier: Apache-2.0
#include "api/HostJoin.h"

#include "api/HostInfo.h"
#include "api/Meeting.h"
#include "api/Processes.h"
#include "core/Log.h"
#include "host/RemoteMemory.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <sys/prctl.h>
#include <system_error>
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
  if (std::any_of(infos->begin(), infos->end(), isOther))
    core::ignoreLearned(options.call.earlier);
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

/// What all ranks have found out.
struct Findings {
  FilePlace file;
  bool canAccessMemory = false; ///< each process can access the memory of all others
};

/// Returns the ids of the processes by rank; 0 for the ranks of this process.
std::vector<int> otherProcesses(std::span<const Identity> identities, const Identity &self) {
  std::vector<int> ids;
  for (const Identity &identity : identities)
    ids.push_back(isInThisProcess(identity, self) ? 0 : static_cast<int>(identity.process));
  return ids;
}

/// Tries to read and write a number in the memory of each other process. Containers and Yama can restrict this.
bool canAccessAll(std::span<const Identity> identities, const Identity &self, std::span<std::byte *const> addresses) {
  const std::vector<int> processes = otherProcesses(identities, self);
  for (size_t r = 0; r < processes.size(); ++r) {
    std::byte number[sizeof(uint64_t)];
    std::byte *const theirs = addresses[r];
    if (processes[r] != 0 && (!host::readFrom(processes[r], number, theirs, sizeof number) ||
                              !host::writeTo(processes[r], theirs, number, sizeof number)))
      return false;
  }
  return true;
}

/// Creates the shared memory, and finds out whether processes can access each other's memory.
Result<Findings> explore(Assembly &assembly, std::optional<host::SharedFile> &created, const job::WaitLimits &limits) {
  struct Offer {
    FilePlace file;
    std::byte *number = nullptr; ///< a number that others may write
  } offer;
  static std::atomic<uint64_t> target{0}; // all others write the value that it has
  offer.number = reinterpret_cast<std::byte *>(&target);
  const std::span<const Identity> identities = assembly.identities();
  const Identity &self = identities[assembly.rank()];
  if (assembly.rank() == 0) {
    Result<host::SharedFile> file = host::SharedFile::create();
    if (!file.ok()) {
      assembly.report(file.outcome());
      return file.outcome();
    }
    created = std::move(*file);
    offer.file = {self.process, created->descriptor()};
  }
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); // lets processes of this user access memory despite Yama
  const Result<std::vector<Offer>> offers = assembly.gatherEach(offer, limits);
  if (!offers.ok())
    return offers.outcome();
  std::vector<std::byte *> addresses;
  for (const Offer &one : *offers)
    addresses.push_back(one.number);
  const auto canAccess = static_cast<uint32_t>(canAccessAll(identities, self, addresses));
  const Result<std::vector<uint32_t>> all = assembly.gatherEach(canAccess, limits);
  if (!all.ok())
    return all.outcome();
  const bool canAccessMemory = std::all_of(all->begin(), all->end(), [](uint32_t can) { return can != 0; });
  if (!canAccessMemory)
    core::logOnce("processes can't access each other's memory (process_vm_readv), so large messages are copied twice");
  return Findings{offers->front().file, canAccessMemory};
}

/// Makes the backend of this process's ranks.
Meeting::Made make(const HostJoin &wanted, const HostBackendOptions &options, const Findings &found,
                   Processes::Assemblies ownRanks) {
  Result<host::SharedFile> file = host::SharedFile::open(static_cast<int>(found.file.process), found.file.descriptor);
  if (!file.ok()) {
    const Outcome outcome{file.outcome().code, "rank 0, or its process, is lost: " + file.outcome().text};
    ownRanks[0]->report(outcome);
    return outcome;
  }
  const uint32_t ranks = ownRanks[0]->ranks();
  const std::span<const Identity> identities = ownRanks[0]->identities();
  std::vector<int> others = otherProcesses(identities, identities[ownRanks[0]->rank()]);
  auto processes = std::make_shared<Processes>(std::move(ownRanks), std::move(*file));
  host::Site site(ranks, processes->ownRanks(), processes->memory(), *processes,
                  std::chrono::milliseconds(options.timeoutMs));
  if (found.canAccessMemory)
    site.allowAccess(std::move(others));
  Meeting::Made made = HostBackend::make(wanted.file, std::move(site), processes, options);
  if (!made.ok())
    processes->reportFailure(made.outcome());
  return made;
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
  const Result<Findings> found = explore(assembly, created, limits);
  if (!found.ok())
    return found.outcome();
  const auto expected = std::count_if(identities.begin(), identities.end(),
                                      [&](const Identity &identity) { return isInThisProcess(identity, self); });
  const Meeting::Made made =
      Meeting::of(wanted.communicator)
          ->arrive(std::move(own), static_cast<size_t>(expected),
                   [&](Processes::Assemblies ownRanks) { return make(wanted, options, *found, std::move(ownRanks)); });
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
  threads.reserve(joins.size());
  for (size_t i = 1; i < joins.size(); ++i)
    try {
      threads.emplace_back([&, i] { outcomes[i] = tryJoin(joins[i]); });
    } catch (const std::system_error &error) {
      outcomes[i] = {gc3SystemError, std::string("can't create a thread to join: ") + error.what()};
    }
  if (!joins.empty())
    outcomes[0] = tryJoin(joins[0]);
  for (std::thread &thread : threads)
    thread.join();
  const auto failed = std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome &one) { return !one.ok(); });
  return failed == outcomes.end() ? Outcome{} : *failed;
}

} // namespace gc3::api
