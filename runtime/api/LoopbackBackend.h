// SPDX-License-Identifier: Apache-2.0
// Communicators whose ranks share one GPU. For each call, one thread makes the calls of all ranks in a group.
#pragma once

#include "api/Backend.h"
#include "cuda/LoopbackWorld.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace gc3::api {

/// A thread that calls a function periodically.
class PeriodicThread {
public:
  PeriodicThread() = default;
  ~PeriodicThread();
  PeriodicThread(const PeriodicThread &) = delete;
  PeriodicThread &operator=(const PeriodicThread &) = delete;

  /// Calls `poll` every `timeoutMs` / 8 milliseconds, so `poll` detects a timeout at most one such period late. Call
  /// this function once. Throws std::system_error if no thread can be created.
  void start(uint32_t timeoutMs, std::function<void()> poll);

private:
  std::mutex ending;
  std::condition_variable ended;
  bool isEnding = false; ///< guarded by `ending`
  std::thread thread;
};

class LoopbackBackend final : public Backend {
public:
  static core::Result<std::shared_ptr<Backend>> make(const cuda::Cuda &cuda,
                                                     std::shared_ptr<const bundle::BundleFile> file, uint32_t rankCount,
                                                     const cuda::Options &options);

  uint32_t ranks() const override { return rankCount; }
  bool takesStreams() const override { return true; }
  Arrival arrive(std::span<const core::RankRequest> parts) override { return {{}, parts, 0}; }
  core::Outcome complete(const Arrival &arrival) override;
  core::Result<const char *> select(const core::Request &request) override;
  core::Outcome asyncError() override;
  core::OnlineSelection::Counters tuneCounters() override;
  core::Outcome saveTuneFile(const char *path) override;
  /// After the last rank has left, saves what online selection has learned. Not if a rank was aborted.
  void leave(bool aborts) override;

private:
  LoopbackBackend(std::shared_ptr<const bundle::BundleFile> bundle, uint32_t count, const core::TuneOptions &options)
      : file(std::move(bundle)), rankCount(count), tune(options), rest(count) {}

  const std::shared_ptr<const bundle::BundleFile> file;
  const uint32_t rankCount;
  const core::TuneOptions tune;
  std::atomic<uint32_t> rest; ///< ranks that are not destroyed; aborted ranks count
  std::unique_ptr<cuda::LoopbackWorld> world;
  PeriodicThread watcher; ///< runs only if there is a timeout; declared last, so that it ends first
};

} // namespace gc3::api
