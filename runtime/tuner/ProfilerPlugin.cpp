// SPDX-License-Identifier: Apache-2.0
// The profiler plugin that NCCL opens: one table of functions for each version of the interface. It measures calls for
// the tuner. No function returns an error.
#include "core/Settings.h"
#include "tuner/TimesFile.h"

#include <exception>
#include <memory>

namespace gc3::tuner {

namespace {

constexpr const char *profilerName = "gc3";

/// Runs `body`. If memory runs out, the call is not measured.
template <typename Body>
abi::Result guarded(const Body &body) {
  try {
    body();
  } catch (const std::exception &) {
  }
  return abi::Result::Success;
}

abi::Result initialise(void **context, uint64_t communicator, int *mask, int nodes, int ranks, int rank,
                       abi::Logger logger) {
  return guarded([&] {
    const core::Settings &settings = core::settings();
    const Shape shape{static_cast<uint32_t>(ranks), static_cast<uint32_t>(nodes), static_cast<uint32_t>(rank)};
    auto file = std::make_unique<TimesFile>(settings.text(core::Setting::TunerTimes),
                                            settings.text(core::Setting::TunerTable), communicator, shape, logger);
    if (!file->isOpen())
      return;
    *mask |= abi::GroupEvent | abi::CollEvent | abi::KernelEvent;
    *context = file.release();
  });
}

abi::Result initProfilerV4(void **context, int *mask, const char *, uint64_t communicator, int nodes, int ranks,
                           int rank, abi::Logger logger) {
  return initialise(context, communicator, mask, nodes, ranks, rank, logger);
}

abi::Result initProfilerV5(void **context, uint64_t communicator, int *mask, const char *, int nodes, int ranks,
                           int rank, abi::Logger logger) {
  return initialise(context, communicator, mask, nodes, ranks, rank, logger);
}

template <typename Kind>
abi::Result startEvent(void *context, void **event, const abi::EventDescription<Kind> *description) {
  *event = nullptr;
  if (!context)
    return abi::Result::Success;
  return guarded([&] {
    Recorder &recorder = static_cast<TimesFile *>(context)->recorder();
    const uint64_t kind = description->kind;
    if (kind == abi::GroupEvent)
      *event = recorder.beginGroup();
    else if (kind == abi::CollEvent)
      *event = recorder.beginCall(description->coll);
    else if (kind == abi::P2pEvent)
      recorder.beginMessage();
    else if (kind == abi::KernelEvent && description->parent) {
      auto *call = static_cast<Event *>(*event = description->parent);
      recorder.beginKernel(*call->call, description->kernel.start);
    }
  });
}

/// NCCL stops a call when it has launched it, so only the end of a group counts here.
abi::Result stopEvent(void *event) {
  return guarded([event] {
    const auto *stopped = static_cast<Event *>(event);
    if (stopped && !stopped->call)
      stopped->recorder->endGroup();
  });
}

abi::Result recordState(void *event, int state, const abi::StateArguments *arguments) {
  return guarded([=] {
    const auto *kernel = static_cast<Event *>(event);
    if (kernel && kernel->call && state == abi::kernelStopped)
      kernel->recorder->endKernel(*kernel->call, arguments->stop);
  });
}

abi::Result finalizeProfiler(void *context) {
  return guarded([context] {
    const std::unique_ptr<TimesFile> file(static_cast<TimesFile *>(context));
    if (file)
      file->write();
  });
}

} // namespace

} // namespace gc3::tuner

// NOLINTBEGIN(readability-identifier-naming): these are NCCL's names
extern "C" {
extern const gc3::tuner::abi::ProfilerV4 ncclProfiler_v4;
extern const gc3::tuner::abi::ProfilerV5 ncclProfiler_v5;
extern const gc3::tuner::abi::ProfilerV5 ncclProfiler_v6;
const gc3::tuner::abi::ProfilerV4 ncclProfiler_v4 = {gc3::tuner::profilerName,        gc3::tuner::initProfilerV4,
                                                     gc3::tuner::startEvent<uint8_t>, gc3::tuner::stopEvent,
                                                     gc3::tuner::recordState,         gc3::tuner::finalizeProfiler};
const gc3::tuner::abi::ProfilerV5 ncclProfiler_v5 = {gc3::tuner::profilerName,         gc3::tuner::initProfilerV5,
                                                     gc3::tuner::startEvent<uint64_t>, gc3::tuner::stopEvent,
                                                     gc3::tuner::recordState,          gc3::tuner::finalizeProfiler};
const gc3::tuner::abi::ProfilerV5 ncclProfiler_v6 = {gc3::tuner::profilerName,         gc3::tuner::initProfilerV5,
                                                     gc3::tuner::startEvent<uint64_t>, gc3::tuner::stopEvent,
                                                     gc3::tuner::recordState,          gc3::tuner::finalizeProfiler};
}
// NOLINTEND(readability-identifier-naming)
