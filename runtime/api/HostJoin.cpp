// SPDX-License-Identifier: Apache-2.0
#include "api/HostJoin.h"

#include "api/Concurrently.h"
#include "api/HostInfo.h"
#include "api/Meeting.h"
#include "api/Processes.h"
#include "core/Log.h"
#include "host/RemoteMemory.h"
#include "host/Transport.h"
#include "trace/RankFiles.h"
#include "ucx/Wire.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <sys/prctl.h>

namespace gc3::api {

using core::Outcome;
using core::Result;
using job::Assembly;
using job::Identity;

namespace {

/// The descriptor of the shared file in the process of a host's lowest rank.
struct FilePlace {
  uint32_t process = 0;
  int32_t descriptor = -1;
};

/// Compares what ranks must have in common. The ranks begin without learned times if they have read different ones.
/// Returns the data of rank 0.
Result<HostInfo> compare(Assembly &assembly, HostBackendOptions &options, const bundle::BundleFile &file,
                         const job::Wait &wait) {
  const Result<std::vector<HostInfo>> infos = assembly.gatherEach(HostInfo::of(options, file), wait);
  if (!infos.ok())
    return infos.outcome();
  if (const std::string difference = disagreement(*infos); !difference.empty())
    return Outcome{gc3InvalidUsage, difference};
  const auto isOther = [&](const HostInfo &info) { return info.learned != infos->front().learned; };
  if (std::any_of(infos->begin(), infos->end(), isOther))
    core::ignoreLearned(options.call.earlier);
  return infos->front();
}

/// Opens the trace file of this process's ranks. Returns null if none is wanted, or if it cannot be written. `joined`
/// is the moment at which rank 0 joined.
trace::TraceFile *openTrace(const std::string &name, const Assembly &lowest, uint64_t joined) {
  return name.empty() ? nullptr : trace::fileOfGpu(name, trace::noGpu, {lowest.rank(), lowest.ranks(), joined});
}

/// Returns the wiring of the ranks, unless the application has stated it.
core::Wiring wiringOf(std::span<const Identity> identities, const HostBackendOptions &options) {
  if (options.call.reports.nodes != 0)
    return options.call.wiring;
  std::vector<uint64_t> hosts;
  for (const Identity &identity : identities)
    hosts.push_back(identity.host);
  core::Wiring wiring = core::Wiring::of(hosts);
  return options.call.allowUnproven ? withoutPlaces(std::move(wiring)) : wiring;
}

/// The system must say which ranks share a host.
Outcome checkHosts(std::span<const Identity> identities) {
  for (size_t r = 0; r < identities.size(); ++r)
    if (identities[r].host == 0)
      return {gc3SystemError, "rank " + std::to_string(r) + " (" + job::describe(identities[r]) +
                                  ") can't find out which processes share its host; it needs /proc"};
  return {};
}

bool areOnOneHost(std::span<const Identity> identities) {
  return std::all_of(identities.begin(), identities.end(),
                     [&](const Identity &identity) { return job::shareHost(identity, identities[0]); });
}

/// Returns the lowest rank of the host of `self`.
size_t lowestOnHost(std::span<const Identity> identities, const Identity &self) {
  const auto isHere = [&](const Identity &identity) { return job::shareHost(identity, self); };
  return static_cast<size_t>(std::find_if(identities.begin(), identities.end(), isHere) - identities.begin());
}

bool isInThisProcess(const Identity &identity, const Identity &own) {
  return job::shareHost(identity, own) && identity.process == own.process;
}

/// Returns for each rank of another host the lowest rank of its process, and Transport::none for the others.
std::vector<uint32_t> processesElsewhere(std::span<const Identity> identities, const Identity &self) {
  std::vector<uint32_t> processes;
  for (const Identity &identity : identities) {
    const auto lowest = std::find_if(identities.begin(), identities.end(),
                                     [&](const Identity &other) { return isInThisProcess(other, identity); });
    processes.push_back(job::shareHost(identity, self) ? host::Transport::none
                                                       : static_cast<uint32_t>(lowest - identities.begin()));
  }
  return processes;
}

/// Returns the lowest ranks of the processes of a host, ascending.
std::vector<uint32_t> processesOnHost(std::span<const Identity> identities, const Identity &ofHost) {
  std::vector<uint32_t> lowest;
  for (uint32_t r = 0; r < identities.size(); ++r) {
    const auto isSame = [&](uint32_t other) { return isInThisProcess(identities[other], identities[r]); };
    if (job::shareHost(identities[r], ofHost) && std::none_of(lowest.begin(), lowest.end(), isSame))
      lowest.push_back(r);
  }
  return lowest;
}

/// Returns a process of each other host: if possible, the one that has the same place on its host as the process of
/// `rank` has. Programs often send messages between such processes, so announcements travel with them.
std::vector<uint32_t> listeners(std::span<const Identity> identities, uint32_t rank) {
  const std::vector<uint32_t> here = processesOnHost(identities, identities[rank]);
  const auto own = std::find_if(here.begin(), here.end(), [&](uint32_t process) {
    return isInThisProcess(identities[process], identities[rank]);
  });
  std::vector<uint32_t> chosen;
  for (uint32_t r = 0; r < identities.size(); ++r)
    if (r == lowestOnHost(identities, identities[r]) && !job::shareHost(identities[r], identities[rank])) {
      const std::vector<uint32_t> there = processesOnHost(identities, identities[r]);
      chosen.push_back(there[static_cast<size_t>(own - here.begin()) % there.size()]);
    }
  return chosen;
}

/// What all ranks have found out.
struct Findings {
  FilePlace file;
  bool canAccessMemory = false; ///< each process can access the memory of all others
};

/// Returns the ids of the host's processes by rank; 0 for the ranks of this process and of other hosts.
std::vector<int> otherProcesses(std::span<const Identity> identities, const Identity &self) {
  std::vector<int> ids;
  for (const Identity &identity : identities)
    ids.push_back(
        isInThisProcess(identity, self) || !job::shareHost(identity, self) ? 0 : static_cast<int>(identity.process));
  return ids;
}

/// Tries to read and write a number in the memory of each other process of the host. Containers and Yama can restrict
/// this.
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

/// Creates the shared memory of the host, and finds out whether its processes can access each other's memory.
Result<Findings> explore(Assembly &assembly, std::optional<host::SharedFile> &created, const job::Wait &wait) {
  struct Offer {
    FilePlace file;
    std::byte *number = nullptr; ///< a number that others may write
  } offer;
  static std::atomic<uint64_t> target{0}; // all others write the value that it has
  offer.number = reinterpret_cast<std::byte *>(&target);
  const std::span<const Identity> identities = assembly.identities();
  const Identity &self = identities[assembly.rank()];
  const size_t lowest = lowestOnHost(identities, self);
  if (assembly.rank() == lowest) {
    Result<host::SharedFile> file = host::SharedFile::create();
    if (!file.ok()) {
      assembly.report(file.outcome());
      return file.outcome();
    }
    created = std::move(*file);
    offer.file = {self.process, created->descriptor()};
  }
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); // lets processes of this user access memory despite Yama
  const Result<std::vector<Offer>> offers = assembly.gatherEach(offer, wait);
  if (!offers.ok())
    return offers.outcome();
  std::vector<std::byte *> addresses;
  for (const Offer &one : *offers)
    addresses.push_back(one.number);
  const auto canAccess = static_cast<uint32_t>(canAccessAll(identities, self, addresses));
  const Result<std::vector<uint32_t>> all = assembly.gatherEach(canAccess, wait);
  if (!all.ok())
    return all.outcome();
  const bool canAccessMemory = std::all_of(all->begin(), all->end(), [](uint32_t can) { return can != 0; });
  if (!canAccessMemory)
    core::logOnce("processes can't access each other's memory (process_vm_readv), so large messages are copied twice");
  return Findings{(*offers)[lowest].file, canAccessMemory};
}

std::vector<uint32_t> ranksOf(const Processes::Assemblies &assemblies) {
  std::vector<uint32_t> ranks;
  for (const auto &assembly : assemblies)
    ranks.push_back(assembly->rank());
  return ranks;
}

/// Opens what reaches other hosts.
Result<std::unique_ptr<host::Transport>> openTransport(const Assembly &own, std::span<const uint32_t> ownRanks) {
  const std::span<const Identity> identities = own.identities();
  std::vector<uint32_t> processes = processesElsewhere(identities, identities[own.rank()]);
  Result<std::unique_ptr<host::Wire>> wire = ucx::openWire();
  if (!wire.ok()) {
    const auto isOther = [](uint32_t process) { return process != host::Transport::none; };
    const auto other = std::find_if(processes.begin(), processes.end(), isOther);
    return Outcome{wire.outcome().code, "rank " + std::to_string(own.rank()) + " (" +
                                            job::describe(identities[own.rank()]) + ") and rank " +
                                            std::to_string(*other) + " (" + job::describe(identities[*other]) +
                                            ") are on different hosts, which need UCX: " + wire.outcome().text};
  }
  host::Transport::Reach reach{std::move(processes), listeners(identities, own.rank())};
  const auto describe = [all = std::vector<Identity>(identities.begin(), identities.end())](uint32_t rank) {
    return job::describe(all[rank]);
  };
  return std::make_unique<host::Transport>(std::move(*wire), std::move(reach), ownRanks, describe);
}

/// Makes the backend of this process's ranks.
Meeting::Made make(const HostJoin &wanted, const HostBackendOptions &options, const Findings &found,
                   Processes::Assemblies ownRanks) {
  Result<host::SharedFile> file = host::SharedFile::open(static_cast<int>(found.file.process), found.file.descriptor);
  if (!file.ok()) {
    const Outcome outcome{file.outcome().code,
                          "the lowest rank of this host, or its process, is lost: " + file.outcome().text};
    ownRanks[0]->report(outcome);
    return outcome;
  }
  const uint32_t ranks = ownRanks[0]->ranks();
  const std::span<const Identity> identities = ownRanks[0]->identities();
  std::unique_ptr<host::Transport> transport;
  if (!areOnOneHost(identities))
    if (Outcome outcome = openTransport(*ownRanks[0], ranksOf(ownRanks)).moveTo(transport); !outcome.ok()) {
      ownRanks[0]->report(outcome);
      return outcome;
    }
  std::vector<int> others = otherProcesses(identities, identities[ownRanks[0]->rank()]);
  auto processes = std::make_shared<Processes>(std::move(ownRanks), std::move(*file), std::move(transport));
  host::Site site(ranks, processes->ownRanks(), processes->memory(), *processes,
                  std::chrono::milliseconds(options.timeoutMs));
  if (processes->transport())
    site.connectHosts(*processes->transport(), processes->areRemote());
  else if (found.canAccessMemory)
    site.allowAccess(std::move(others));
  Meeting::Made made = HostBackend::make(wanted.file, std::move(site), processes, options);
  if (!made.ok())
    processes->reportFailure(made.outcome());
  return made;
}

/// Connects the processes of different hosts. The lowest rank of each process does so.
Outcome connectHosts(Assembly &assembly, HostBackend &backend, const job::Wait &wait) {
  host::Transport *const transport = backend.transport();
  if (!transport)
    return {};
  const Result<Assembly::Gathered> addresses = assembly.gather(transport->address(), wait);
  if (!addresses.ok())
    return addresses.outcome();
  if (transport->lowestRank() != assembly.rank())
    return {};
  Outcome outcome = transport->connect(*addresses, wait.deadline, [&]() -> Outcome {
    const job::Loss *const loss = assembly.loss();
    return loss ? Outcome{gc3RemoteError, job::describe(*loss)} : Outcome{};
  });
  if (outcome.code == gc3Timeout)
    outcome.text = "after " + std::to_string(wait.limits.timeout.count()) + " ms, " + outcome.text;
  if (!outcome.ok())
    assembly.report(outcome);
  return outcome;
}

Result<std::shared_ptr<HostBackend>> joinOthers(const HostJoin &wanted, std::unique_ptr<Assembly> own,
                                                const job::Wait &wait) {
  Assembly &assembly = *own;
  HostBackendOptions options = wanted.options;
  const Result<HostInfo> first = compare(assembly, options, *wanted.file, wait);
  if (!first.ok())
    return first.outcome();
  const std::span<const Identity> identities = assembly.identities();
  if (Outcome outcome = checkHosts(identities); !outcome.ok())
    return outcome;
  options.call.wiring = wiringOf(identities, options);
  const Identity &self = identities[assembly.rank()];
  std::optional<host::SharedFile> created; // until all processes have opened it
  const Result<Findings> found = explore(assembly, created, wait);
  if (!found.ok())
    return found.outcome();
  const auto expected = std::count_if(identities.begin(), identities.end(),
                                      [&](const Identity &identity) { return isInThisProcess(identity, self); });
  const Meeting::Made made =
      Meeting::of(wanted.communicator)
          ->arrive(std::move(own), static_cast<size_t>(expected), [&](Processes::Assemblies ownRanks) {
            options.call.trace = openTrace(wanted.traceName, *ownRanks[0], first->joined);
            return make(wanted, options, *found, std::move(ownRanks));
          });
  if (!made.ok())
    return made.outcome();
  if (Outcome outcome = connectHosts(assembly, **made, wait); !outcome.ok())
    return outcome;
  if (const Result<Assembly::Gathered> ready = assembly.gather({}, wait); !ready.ok())
    return ready.outcome();
  return *made;
}

Outcome joinOne(const HostJoin &wanted) {
  const job::Wait wait = job::WaitLimits{std::chrono::milliseconds(wanted.options.timeoutMs), nullptr};
  Result<std::unique_ptr<Assembly>> assembly = wanted.assemble(wait);
  if (!assembly.ok())
    return assembly.outcome();
  const uint32_t rank = (*assembly)->rank();
  Result<std::shared_ptr<HostBackend>> backend = joinOthers(wanted, std::move(*assembly), wait);
  if (!backend.ok())
    return backend.outcome();
  *wanted.handle = new gc3Comm{*backend, rank, {}};
  if (wanted.onJoined)
    wanted.onJoined();
  return {};
}

} // namespace

Outcome join(std::span<const HostJoin> joins) {
  return firstError(concurrently(joins.size(), [&](size_t i) { return joinOne(joins[i]); }));
}

} // namespace gc3::api
