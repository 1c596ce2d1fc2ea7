// SPDX-License-Identifier: Apache-2.0
// gc3LoopbackCommInitAll, gc3CommInit, and queries of communicators. HostInit.cpp creates host communicators.
#include "api/Configs.h"
#include "api/Handles.h"
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

static Result<gc3GpuConfig_t> readGpuConfig(const gc3GpuConfig_t *config) {
  return api::readConfig<gc3GpuConfig_t>(config, GC3_GPU_CONFIG_INITIALIZER, "GC3_GPU_CONFIG_INITIALIZER");
}

static Outcome makeLoopback(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle, const gc3GpuConfig_t *config,
                            const Settings &settings) {
  if (Outcome outcome = api::checkGroup(comms, nranks, bundle); !outcome.ok())
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
  options.trace = api::traceFile(chosen->trace, settings);
  const Result<std::shared_ptr<api::Backend>> backend =
      api::LoopbackBackend::make(*cuda, bundle->file, static_cast<uint32_t>(nranks), options);
  if (backend.ok())
    api::handOut(comms, *backend);
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
    options.traceName = api::chosenOr(chosen->trace, Setting::Trace, settings);
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
