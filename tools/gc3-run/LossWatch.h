// SPDX-License-Identifier: Apache-2.0
// Ends this process if another process of the job is lost while this one waits for it inside CUDA or NCCL, which do not
// learn of the loss.
#pragma once

#include "Job.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace gc3::run {

class LossWatch {
public:
  /// After a loss, this process has `time` to end by itself. Then the watch prints the loss on stderr, and
  /// ends the process with status 1. No thread runs if no process can be lost.
  LossWatch(const Job &job, std::chrono::milliseconds time);
  ~LossWatch();
  LossWatch(const LossWatch &) = delete;
  LossWatch &operator=(const LossWatch &) = delete;

private:
  bool hasEnded();
  void watch(std::chrono::milliseconds time);

  const Job::AwaitLoss awaitLoss;
  const std::string name; ///< of this process
  std::mutex mutex;
  std::condition_variable changed;
  bool isEnding = false; ///< guarded by the mutex
  std::thread thread;
};

} // namespace gc3::run
