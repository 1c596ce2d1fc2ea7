// SPDX-License-Identifier: Apache-2.0
// An engine that runs nothing: what it is asked to do are events, `run AllReduce 8 B float sum on c0`. It serves even
// counts, and refuses communicators of three ranks.
#pragma once

#include "nccl/Engine.h"

#include <atomic>
#include <functional>

namespace gc3::nccl::test {

struct FakeEngineControl {
  std::atomic<void (*)(const char *event)> sink; ///< at first, to stdout
  std::atomic<Result> runResult{Result::Success};
  std::atomic<Result> asyncError{Result::Success};
  std::atomic<bool> hasMemory{true};  ///< else attach, run and giveBack throw
  std::atomic<bool> runs{false};      ///< what has been enqueued
  std::atomic<bool> holds{false};     ///< what NCCL waits with to give back
  std::atomic<bool> revokes{false};   ///< has revoked what is aborted
  std::atomic<bool> talks{false};     ///< calls NCCL when it attaches and runs, as engines do
  Patience patience{};                ///< of communicators that are made from now on
  std::string refusal{};              ///< of those
  std::function<void()> whileAsked{}; ///< for an error, the next time
  bool captures = false;              ///< every stream, but for the default one
  bool hasAside = false;              ///< else what is to be done aside is done at once
  bool hasThreads = true;             ///< else none can be started
};
FakeEngineControl &fakeEngine();

} // namespace gc3::nccl::test
