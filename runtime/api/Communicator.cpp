// SPDX-License-Identifier: Apache-2.0
// gc3HostCommInitAll, gc3LoopbackCommInitAll, gc3CommInit, and queries of communicators.
#include "api/Handles.h"
#include "api/HostBackend.h"
#include "api/Init.h"
#include "api/LoopbackBackend.h"
#include "api/NcclBackend.h"
#include "core/Proofs.h"
#include "trace/TraceFile.h"

#include <cstddef>
#include <memory>
#include <vector>

using namespace gc3;
using core::Outcome;
using core::Result;
using core::Setting;
using core::Settings;

/// The language's limit on ranks. gc3 allocates memory for each rank before it knows any program, so it refuses larger
/// numbers at once.
static constexpr int mostRanks = 65536;

/// Returns `chosen`, or the value of the setting if `chosen` is null.
static std::string chosenOr(const char *chosen, Setting setting, const Settings &settings) {
  return chosen ? chosen : settings.text(setting);
}

/// Returns the trace file of all ranks in this process. Returns null if no file is chosen, or if it cannot be written.
static trace::TraceFile *traceFile(const char *chosen, const Settings &settings) {
  const std::string name = chosenOr(chosen, Setting::Trace, settings);
  return name.empty() ? nullptr : trace::TraceFile::named(name);
}

/// Checks the arguments that gc3HostCommInitAll and gc3LoopbackCommInitAll have in common.
static Outcome checkGroup(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle) {
  if (!comms || !bundle)
    return {gc3InvalidArgument, "comms or bundle is null"};
  if (nranks < 1 || nranks > mostRanks)
    return {gc3InvalidArgument,
            std::to_string(nranks) + " ranks; the number must be 1 to " + std::to_string(mostRanks)};
  return {};
}

// readConfig() distinguishes versions of a struct by their size, so a new member must make the struct larger. If the
// struct ended with padding, a new member could use the padding, and the size would stay the same.
static_assert(offsetof(gc3HostConfig_t, tunerTimes) + sizeof(gc3HostConfig_t::tunerTimes) == sizeof(gc3HostConfig_t));
static_assert(offsetof(gc3GpuConfig_t, tunerTimes) + sizeof(gc3GpuConfig_t::tunerTimes) == sizeof(gc3GpuConfig_t));

/// Returns the config, or `initial` if `config` is null. Refuses a config of another size, because the size is the
/// struct's version.
template <typename Config>
static Result<Config> readConfig(const Config *config, const Config &initial, const char *initializer) {
  if (!config)
    return initial;
  if (config->size != sizeof(Config))
    return Outcome{gc3InvalidArgument, std::string("the config was not initialised with ") + initializer +
                                           " or belongs to another version of gc3"};
  return *config;
}

static Result<gc3GpuConfig_t> readGpuConfig(const gc3GpuConfig_t *config) {
  return readConfig<gc3GpuConfig_t>(config, GC3_GPU_CONFIG_INITIALIZER, "GC3_GPU_CONFIG_INITIALIZER");
}

static void handOut(gc3Comm_t *comms, const std::shared_ptr<api::Backend> &backend) {
  std::vector<std::unique_ptr<gc3Comm>> made;
  for (uint32_t r = 0; r < backend->ranks(); ++r)
    made.emplace_back(new gc3Comm{backend, r, {}});
  for (uint32_t r = 0; r < backend->ranks(); ++r)
    comms[r] = made[r].release();
}

static Outcome makeHost(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle, const gc3HostConfig_t *config,
                        const Settings &settings) {
  if (Outcome outcome = checkGroup(comms, nranks, bundle); !outcome.ok())
    return outcome;
  const Result<gc3HostConfig_t> given =
      readConfig<gc3HostConfig_t>(config, GC3_HOST_CONFIG_INITIALIZER, "GC3_HOST_CONFIG_INITIALIZER");
  if (!given.ok())
    return given.outcome();
  const gc3HostConfig_t &chosen = *given;
  if (chosen.order != gc3OrderFair && chosen.order != gc3OrderAdversarial)
    return {gc3InvalidArgument, "unknown order " + std::to_string(static_cast<int>(chosen.order))};
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
    if (Outcome outcome = core::checkProofs(*bundle->file, static_cast<uint32_t>(nranks)); !outcome.ok())
      return outcome;
  const core::ChoiceOptions choiceOptions{chosenOr(chosen.programs, Setting::Program, settings), chosen.tuner,
                                          chosen.tunerTimes, chosen.tunerData};
  const bundle::BundleFile *const files[] = {bundle->file.get()};
  if (Outcome outcome = core::checkForms(static_cast<uint32_t>(nranks), files); !outcome.ok())
    return outcome;
  Result<core::Choice> choice = core::Choice::make(choiceOptions, files);
  if (!choice.ok())
    return choice.outcome();
  api::HostBackendOptions options;
  options.call = {{chosen.slots, chosen.slotBytes, chosen.tileElements},
                  chosen.workers,
                  chosen.order == gc3OrderAdversarial,
                  chosen.seed,
                  *allowUnproven,
                  traceFile(chosen.trace, settings),
                  std::move(*choice),
                  *tune,
                  choiceOptions};
  constexpr uint32_t defaultTimeout = 60000;
  options.timeoutMs = *timeoutMs != 0 ? *timeoutMs : defaultTimeout;
  const Result<std::shared_ptr<api::HostBackend>> backend =
      api::HostBackend::make(bundle->file, host::Site(static_cast<uint32_t>(nranks)), nullptr, options);
  if (backend.ok())
    handOut(comms, *backend);
  return backend.outcome();
}

extern "C" gc3Result_t gc3HostCommInitAll(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle,
                                          const gc3HostConfig_t *config) {
  return api::guarded(nullptr, [&] { return makeHost(comms, nranks, bundle, config, core::settings()); });
}

gc3Result_t api::initHost(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle, const gc3HostConfig_t *config,
                          const Settings &settings) {
  return guarded(nullptr, [&] { return makeHost(comms, nranks, bundle, config, settings); });
}

static Outcome makeLoopback(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle, const gc3GpuConfig_t *config,
                            const Settings &settings) {
  if (Outcome outcome = checkGroup(comms, nranks, bundle); !outcome.ok())
    return outcome;
  const Result<gc3GpuConfig_t> chosen = readGpuConfig(config);
  if (!chosen.ok())
    return chosen.outcome();
  const cuda::Cuda *cuda = cuda::linkedCuda();
  if (!cuda)
    return {gc3InvalidUsage, "this gc3 was built without CUDA"};
  cuda::Options options = cuda::optionsOf(*chosen, settings);
  if (!options.problem.ok())
    return options.problem;
  if (!options.allowUnproven)
    if (Outcome outcome = core::checkProofs(*bundle->file, static_cast<uint32_t>(nranks)); !outcome.ok())
      return outcome;
  options.trace = traceFile(chosen->trace, settings);
  const Result<std::shared_ptr<api::Backend>> backend =
      api::LoopbackBackend::make(*cuda, bundle->file, static_cast<uint32_t>(nranks), options);
  if (backend.ok())
    handOut(comms, *backend);
  return backend.outcome();
}

extern "C" gc3Result_t gc3LoopbackCommInitAll(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle,
                                              const gc3GpuConfig_t *config) {
  return api::guarded(nullptr, [&] { return makeLoopback(comms, nranks, bundle, config, core::settings()); });
}

gc3Result_t api::initLoopback(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle, const gc3GpuConfig_t *config,
                              const Settings &settings) {
  return guarded(nullptr, [&] { return makeLoopback(comms, nranks, bundle, config, settings); });
}

extern "C" gc3Result_t gc3CommInit(gc3Comm_t *comm, gc3Bundle_t bundle, void *ncclComm, const gc3GpuConfig_t *config) {
  return api::guarded(nullptr, [&]() -> Outcome {
    if (!comm || !bundle || !ncclComm)
      return {gc3InvalidArgument, "comm, bundle or ncclComm is null"};
    *comm = nullptr;
    const Result<gc3GpuConfig_t> chosen = readGpuConfig(config);
    if (!chosen.ok())
      return chosen.outcome();
    const Settings &settings = core::settingsAfterNccl();
    cuda::Options options = cuda::optionsOf(*chosen, settings);
    options.traceName = chosenOr(chosen->trace, Setting::Trace, settings);
    auto *const parent = static_cast<ncclapi::Comm>(ncclComm);
    const Result<std::shared_ptr<comm::Communicator>> made = api::NcclBackend::create(parent, bundle->file, options);
    return made.ok() ? api::enqueue({comm, parent, *made}) : made.outcome();
  });
}

extern "C" gc3Result_t gc3CommGetAsyncError(gc3Comm_t comm, gc3Result_t *result) {
  return api::guarded(comm, [&]() -> Outcome {
    if (!comm || !result)
      return {gc3InvalidArgument, "comm or result is null"};
    *result = api::report(comm, comm->backend->asyncError());
    return {};
  });
}

/// Returns the windows of a rank of an NCCL communicator, or an error.
static Result<comm::UserWindows *> windowsOf(gc3Comm_t comm) {
  api::NcclBackend *backend = comm ? comm->backend->ofNccl() : nullptr;
  if (!backend)
    return Outcome{gc3InvalidArgument, "comm is null, or not a communicator of gc3CommInit"};
  return &backend->windows();
}

extern "C" gc3Result_t gc3CommAddWindow(gc3Comm_t comm, void *window, const void *buffer, size_t bytes) {
  return api::guarded(comm, [&]() -> Outcome {
    const Result<comm::UserWindows *> windows = windowsOf(comm);
    if (!windows.ok())
      return windows.outcome();
    if (!buffer)
      return {gc3InvalidArgument, "buffer is null"};
    (*windows)->add(static_cast<ncclapi::Window>(window), buffer, bytes);
    return {};
  });
}

extern "C" gc3Result_t gc3CommRemoveWindow(gc3Comm_t comm, void *window) {
  return api::guarded(comm, [&]() -> Outcome {
    const Result<comm::UserWindows *> windows = windowsOf(comm);
    if (!windows.ok())
      return windows.outcome();
    if (!window)
      return {gc3InvalidArgument, "window is null"};
    (*windows)->remove(static_cast<ncclapi::Window>(window));
    return {};
  });
}

/// Destroys or aborts a rank, and frees its handle.
static gc3Result_t leave(gc3Comm_t comm, bool aborts) {
  const gc3Result_t result = api::guarded(nullptr, [&] {
    if (comm)
      comm->backend->leave(aborts);
    return Outcome{};
  });
  api::Use::end(comm);
  return result;
}

extern "C" gc3Result_t gc3CommDestroy(gc3Comm_t comm) {
  return leave(comm, false);
}

extern "C" gc3Result_t gc3CommAbort(gc3Comm_t comm) {
  return leave(comm, true);
}

extern "C" gc3Result_t gc3CommCount(gc3Comm_t comm, int *count) {
  if (!comm || !count)
    return api::report(comm, gc3InvalidArgument, "comm or count is null");
  *count = static_cast<int>(comm->backend->ranks());
  return gc3Success;
}

extern "C" gc3Result_t gc3CommUserRank(gc3Comm_t comm, int *rank) {
  if (!comm || !rank)
    return api::report(comm, gc3InvalidArgument, "comm or rank is null");
  *rank = static_cast<int>(comm->rank);
  return gc3Success;
}

extern "C" gc3Result_t gc3CommGetTuneCounters(gc3Comm_t comm, gc3TuneCounters_t *counters) {
  if (!comm || !counters)
    return api::report(comm, gc3InvalidArgument, "comm or counters is null");
  if (counters->size != sizeof(gc3TuneCounters_t))
    return api::report(comm, gc3InvalidArgument, "counters.size is not sizeof(gc3TuneCounters_t)");
  const core::OnlineSelection::Counters now = comm->backend->tuneCounters();
  *counters = {sizeof(gc3TuneCounters_t),  now.calls, now.explored, now.changes, now.microseconds,
               now.explorationMicroseconds};
  return gc3Success;
}

extern "C" gc3Result_t gc3CommSaveTuneFile(gc3Comm_t comm, const char *path) {
  return api::guarded(comm, [&] {
    return comm ? comm->backend->saveTuneFile(path) : Outcome{gc3InvalidArgument, "comm is null"};
  });
}
