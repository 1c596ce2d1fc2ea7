// SPDX-License-Identifier: Apache-2.0
// gc3HostCommInitAll, gc3GetUniqueId, gc3HostCommInitRank, gc3HostCommInitEnv.
#include "api/Configs.h"
#include "api/HostJoin.h"
#include "api/Init.h"
#include "core/LearnedTimes.h"
#include "core/Proofs.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unistd.h>

namespace gc3::api {

using core::Outcome;
using core::Result;
using core::Setting;
using core::Settings;

namespace {

Result<HostBackendOptions> readOptions(int nranks, const bundle::BundleFile &file, const gc3HostConfig_t *config,
                                       const Settings &settings) {
  const Result<gc3HostConfig_t> given =
      readConfig<gc3HostConfig_t>(config, GC3_HOST_CONFIG_INITIALIZER, "GC3_HOST_CONFIG_INITIALIZER");
  if (!given.ok())
    return given.outcome();
  const gc3HostConfig_t &chosen = *given;
  if (chosen.order != gc3OrderFair && chosen.order != gc3OrderAdversarial)
    return Outcome{gc3InvalidArgument, "unknown order " + std::to_string(static_cast<int>(chosen.order))};
  const Result<bool> allowUnproven = core::allowUnproven(settings, chosen.allowUnproven != 0);
  if (!allowUnproven.ok())
    return allowUnproven.outcome();
  const Result<uint32_t> timeoutMs = core::timeoutMs(settings, chosen.timeoutMs);
  if (!timeoutMs.ok())
    return timeoutMs.outcome();
  const Result<core::TuneOptions> tune = core::tuneOptions(settings, chosen.tune, chosen.tuneBudget, chosen.tuneFile);
  if (!tune.ok())
    return tune.outcome();
  if (!*allowUnproven)
    if (Outcome outcome = core::checkProofs(file, static_cast<uint32_t>(nranks)); !outcome.ok())
      return outcome;
  if (Outcome outcome = core::checkNodes(chosen.nodes, static_cast<uint32_t>(nranks)); !outcome.ok())
    return outcome;
  const core::ChoiceOptions choiceOptions{chosenOr(chosen.programs, Setting::Program, settings),
                                          chosen.name ? chosen.name : "",
                                          chosen.nodes,
                                          chosen.tuner,
                                          chosen.tunerTimes,
                                          chosen.tunerData};
  const bundle::BundleFile *const files[] = {&file};
  if (Outcome outcome = core::checkForms(static_cast<uint32_t>(nranks), files); !outcome.ok())
    return outcome;
  Result<core::Choice> choice = core::Choice::make(choiceOptions, files);
  if (!choice.ok())
    return choice.outcome();
  HostBackendOptions options;
  options.call.layout = {chosen.slots, chosen.slotBytes, chosen.tileElements};
  options.call.workers = chosen.workers;
  options.call.adversarial = chosen.order == gc3OrderAdversarial;
  options.call.seed = chosen.seed;
  options.call.allowUnproven = *allowUnproven;
  options.call.choice = std::move(*choice);
  options.call.tune = *tune;
  options.call.reports = choiceOptions;
  options.call.wiring =
      core::Wiring::ofBlocks(static_cast<uint32_t>(nranks), std::max(1U, static_cast<uint32_t>(chosen.nodes)));
  if (tune->isOnline)
    options.call.earlier = core::loadLearned(tune->file, core::hostMachine(), file.digest());
  constexpr uint32_t defaultTimeout = 60000;
  options.timeoutMs = *timeoutMs != 0 ? *timeoutMs : defaultTimeout;
  return options;
}

Outcome makeHost(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle, const gc3HostConfig_t *config,
                 const Settings &settings) {
  if (Outcome outcome = checkGroup(comms, nranks, bundle); !outcome.ok())
    return outcome;
  Result<HostBackendOptions> options = readOptions(nranks, *bundle->file, config, settings);
  if (!options.ok())
    return options.outcome();
  options->call.trace = traceFile(config ? config->trace : nullptr, settings);
  const Result<std::shared_ptr<HostBackend>> backend =
      HostBackend::make(bundle->file, host::Site(static_cast<uint32_t>(nranks)), nullptr, *options);
  if (backend.ok())
    handOut(comms, *backend);
  return backend.outcome();
}

/// The open ports of unique ids whose rank 0 has not joined.
class Listeners {
public:
  static Listeners &instance() {
    static auto &listeners = *new Listeners; // never destroyed: threads can outlive main
    return listeners;
  }
  void add(const job::UniqueId &id, std::unique_ptr<job::Listener> listener) {
    std::lock_guard lock(mutex);
    byId[id] = std::move(listener);
  }
  /// Returns null if there is none.
  std::unique_ptr<job::Listener> take(const job::UniqueId &id) {
    std::lock_guard lock(mutex);
    auto node = byId.extract(id);
    return node.empty() ? nullptr : std::move(node.mapped());
  }

private:
  std::mutex mutex;
  std::map<job::UniqueId, std::unique_ptr<job::Listener>> byId;
};

static_assert(sizeof(gc3UniqueId_t) == job::uniqueIdBytes);

job::UniqueId bytesOf(const gc3UniqueId_t &id) {
  job::UniqueId bytes;
  std::copy_n(id.internal, bytes.size(), bytes.begin());
  return bytes;
}

Outcome getUniqueId(gc3UniqueId_t *id) {
  if (!id)
    return {gc3InvalidArgument, "id is null"};
  Result<std::unique_ptr<job::Listener>> listener = job::Listener::open(core::settings().text(Setting::NcclInterfaces));
  if (!listener.ok())
    return listener.outcome();
  const job::UniqueId bytes = (*listener)->uniqueId();
  Listeners::instance().add(bytes, std::move(*listener));
  std::copy(bytes.begin(), bytes.end(), id->internal);
  return {};
}

/// Prepares the options of a rank that joins others.
Result<HostJoin> prepareJoin(gc3Comm_t *comm, int nranks, gc3Bundle_t bundle, const gc3HostConfig_t *config) {
  if (Outcome outcome = checkGroup(comm, nranks, bundle); !outcome.ok())
    return outcome;
  *comm = nullptr;
  Result<HostBackendOptions> options = readOptions(nranks, *bundle->file, config, core::settings());
  if (!options.ok())
    return options.outcome();
  std::string trace = chosenOr(config ? config->trace : nullptr, Setting::Trace, core::settings());
  return HostJoin{comm, bundle->file, std::move(*options), std::move(trace), {}, {}, {}};
}

Result<job::Member> memberOf(uint32_t rank, int nranks) {
  Result<std::string> secret = core::secret(core::settings());
  if (!secret.ok())
    return secret.outcome();
  job::Member member;
  member.rank = rank;
  member.ranks = static_cast<uint32_t>(nranks);
  member.secret = std::move(*secret);
  return member;
}

Outcome initRank(gc3Comm_t *comm, int nranks, const gc3UniqueId_t &id, int rank, gc3Bundle_t bundle,
                 const gc3HostConfig_t *config) {
  if (rank < 0 || rank >= nranks)
    return {gc3InvalidArgument,
            "rank " + std::to_string(rank) + " is out of range; there are " + std::to_string(nranks) + " ranks"};
  const job::UniqueId bytes = bytesOf(id);
  const Result<net::Endpoint> endpoint = job::readUniqueId(bytes);
  if (!endpoint.ok())
    return endpoint.outcome();
  const auto number = static_cast<uint32_t>(rank);
  Result<HostJoin> wanted = prepareJoin(comm, nranks, bundle, config);
  if (!wanted.ok())
    return wanted.outcome();
  const Result<job::Member> self = memberOf(number, nranks);
  if (!self.ok())
    return self.outcome();
  wanted->communicator.assign(bytes.begin(), bytes.end());
  wanted->assemble = [bytes, rank0 = *endpoint,
                      member = *self](const job::Wait &wait) -> Result<std::unique_ptr<job::Assembly>> {
    if (member.rank != 0)
      return job::Assembly::join(rank0, member, wait);
    std::unique_ptr<job::Listener> listener = Listeners::instance().take(bytes);
    if (!listener)
      return Outcome{gc3InvalidUsage, "rank 0 must join once, in the process that has called gc3GetUniqueId"};
    return job::Assembly::lead(std::move(listener), member, wait);
  };
  return enqueue(std::move(*wanted));
}

/// The place of a join among those of this process. Each communicator of a job has its own place, and so its own key:
/// all processes create them in the same order. A join that fails frees its place.
class Place {
public:
  Place() {
    const std::lock_guard lock(mutex);
    place = joined + joining++;
  }
  ~Place() {
    const std::lock_guard lock(mutex);
    joining -= isKept ? 0 : 1;
  }
  Place(const Place &) = delete;
  Place &operator=(const Place &) = delete;

  uint64_t number() const { return place; }
  /// Keeps the place forever.
  void keep() {
    const std::lock_guard lock(mutex);
    isKept = true;
    --joining;
    ++joined;
  }

private:
  static inline std::mutex mutex;
  static inline uint64_t joined = 0, joining = 0;
  uint64_t place = 0;
  bool isKept = false;
};

Outcome initEnv(gc3Comm_t *comm, gc3Bundle_t bundle, const gc3HostConfig_t *config) {
  const Result<std::optional<job::Launch>> launch = job::readLaunch(core::environment());
  if (!launch.ok())
    return launch.outcome();
  if (!*launch)
    return {gc3InvalidUsage, "no launcher has started this process: torchrun, mpirun and srun set the number of ranks; "
                             "else set GC3_RANK, GC3_RANKS and GC3_ROOT=HOST:PORT"};
  job::Launch own = **launch;
  Result<HostJoin> wanted = prepareJoin(comm, static_cast<int>(own.ranks), bundle, config);
  if (!wanted.ok())
    return wanted.outcome();
  const auto place = std::make_shared<Place>();
  own.key = wanted->communicator = own.key + "/" + std::to_string(place->number());
  wanted->onJoined = [place] { place->keep(); };
  const Result<job::Member> self = memberOf(own.rank, static_cast<int>(own.ranks));
  if (!self.ok())
    return self.outcome();
  wanted->assemble = [own, member = *self](const job::Wait &wait) { return job::Assembly::join(own, member, wait); };
  return enqueue(std::move(*wanted));
}

} // namespace

gc3Result_t initHost(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle, const gc3HostConfig_t *config,
                     const Settings &settings) {
  return guarded(nullptr, [&] { return makeHost(comms, nranks, bundle, config, settings); });
}

} // namespace gc3::api

using namespace gc3;

extern "C" gc3Result_t gc3HostCommInitAll(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle,
                                          const gc3HostConfig_t *config) {
  return api::initHost(comms, nranks, bundle, config, core::settings());
}

extern "C" gc3Result_t gc3GetUniqueId(gc3UniqueId_t *id) {
  return api::guarded(nullptr, [&] { return api::getUniqueId(id); });
}

extern "C" gc3Result_t gc3HostCommInitRank(gc3Comm_t *comm, int nranks, gc3UniqueId_t id, int rank, gc3Bundle_t bundle,
                                           const gc3HostConfig_t *config) {
  return api::guarded(nullptr, [&] { return api::initRank(comm, nranks, id, rank, bundle, config); });
}

extern "C" gc3Result_t gc3HostCommInitEnv(gc3Comm_t *comm, gc3Bundle_t bundle, const gc3HostConfig_t *config) {
  return api::guarded(nullptr, [&] { return api::initEnv(comm, bundle, config); });
}
