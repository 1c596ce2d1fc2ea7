// SPDX-License-Identifier: Apache-2.0
#include "api/LoopbackBackend.h"

#include "core/LearnedTimes.h"

#include <algorithm>
#include <chrono>
#include <system_error>

namespace gc3::api {

using core::Outcome;

void PeriodicThread::start(uint32_t timeoutMs, std::function<void()> poll) {
  thread = std::thread([this, timeoutMs, poll = std::move(poll)] {
    const std::chrono::milliseconds period(std::max(1u, timeoutMs / 8));
    std::unique_lock lock(ending);
    while (!ended.wait_for(lock, period, [this] { return isEnding; }))
      poll();
  });
}

PeriodicThread::~PeriodicThread() {
  {
    std::lock_guard lock(ending);
    isEnding = true;
  }
  ended.notify_all();
  if (thread.joinable())
    thread.join();
}

core::Result<std::shared_ptr<Backend>> LoopbackBackend::make(const cuda::Cuda &cuda,
                                                             std::shared_ptr<const bundle::BundleFile> file,
                                                             uint32_t rankCount, const cuda::Options &options) {
  std::shared_ptr<LoopbackBackend> made(new LoopbackBackend(std::move(file), rankCount, options.tune));
  const Outcome outcome = cuda::LoopbackWorld::make(cuda, *made->file, rankCount, options).moveTo(made->world);
  if (!outcome.ok())
    return outcome;
  if (options.timeoutMs != 0)
    try {
      made->watcher.start(options.timeoutMs, [world = made->world.get()] { world->watchOnDevice(); });
    } catch (const std::system_error &) {
      return Outcome{gc3SystemError, "no thread for the watchdog"};
    }
  return std::shared_ptr<Backend>(std::move(made));
}

Outcome LoopbackBackend::complete(const Arrival &arrival) {
  if (arrival.parts.size() != rankCount)
    return {gc3InvalidUsage, "a call of " + std::to_string(arrival.parts.size()) + " of " + std::to_string(rankCount) +
                                 " ranks; ranks that share a GPU must call in one group"};
  std::vector<core::Request> requests(rankCount);
  for (const core::RankRequest &part : arrival.parts) {
    if (part.request.stream != arrival.parts[0].request.stream)
      return {gc3InvalidUsage, "the ranks' streams differ; ranks that share a GPU must call on one stream"};
    requests[part.rank] = part.request;
  }
  return world->call(requests, static_cast<cuda::Stream>(arrival.parts[0].request.stream));
}

core::Result<const char *> LoopbackBackend::select(const core::Request &request) {
  return world->select(request);
}

core::OnlineSelection::Counters LoopbackBackend::tuneCounters() {
  return world->isOnline() ? world->tuneCounters() : core::OnlineSelection::Counters{};
}

Outcome LoopbackBackend::saveTuneFile(const char *path) {
  return world->isOnline() ? core::saveLearned(tune, path, world->learned()) : Backend::saveTuneFile(path);
}

void LoopbackBackend::leave(bool aborts) {
  if (!aborts && --rest == 0 && world->isOnline())
    core::saveLearnedAtEnd(tune, [this] { return world->learned(); });
}

Outcome LoopbackBackend::asyncError() {
  return world->watch(cuda::Watchdog::Clock::now());
}

} // namespace gc3::api
