// SPDX-License-Identifier: Apache-2.0
// The functions of a communicator's executor thread, one for each phase.
#include "comm/Communicator.h"

#include "core/Log.h"
#include "ncclapi/Installed.h"

namespace gc3::comm {

using core::Outcome;
using ncclapi::outcomeOf;
using ncclapi::Result;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds pollPeriod{100}; ///< interval of kernel checks without a timeout: kernels can also fail

void logFallback(const GpuRank::Identity &identity, const std::string &reason) {
  if (core::isInfoEnabled())
    core::log((identity.ranks != 0
                   ? "rank " + std::to_string(identity.rank) + " of " + std::to_string(identity.ranks) + ": "
                   : "") +
              "NCCL runs all calls on a communicator: " + reason);
}

} // namespace

/// The loop of the executor thread. Waits until the phase changes or a caller posts work, and does the work. Checks
/// kernels periodically.
void Communicator::execute() {
  const ncclapi::NcclCallScope inside;
  const uint32_t timeoutMs = setup->options.timeoutMs;
  const milliseconds period = timeoutMs != 0 ? milliseconds(std::max(1u, timeoutMs / 8)) : pollPeriod;
  Lock lock(mutex);
  while (phase != Phase::Closed) {
    const bool hasWork = phase == Phase::Forming || phase == Phase::Draining || phase == Phase::Releasing ||
                         (phase == Phase::Ready && request);
    if (!hasWork && (!table || phase == Phase::Aborted)) { // there are no kernels to check
      changed.wait(lock);
      continue;
    }
    if (!hasWork && changed.wait_for(lock, period) == std::cv_status::no_timeout)
      continue;
    const Phase now = phase;
    lock.unlock();
    runPhase(now);
    lock.lock();
  }
}

void Communicator::runPhase(Phase now) {
  try {
    switch (now) {
    case Phase::Forming: return join();
    case Phase::Ready: return load();
    case Phase::Draining: return drain();
    case Phase::Failed: return checkErrors();
    case Phase::Releasing: return closeAborted();
    case Phase::Unready:
    case Phase::Joining:
    case Phase::Closing:
    case Phase::Closed:
    case Phase::Aborted: return;
    }
  } catch (const std::exception &exception) { // memory has run out
    fail({gc3SystemError, exception.what()});
  }
}

/// Returns the error with which waits of the executor must end; Success while they may continue.
Outcome Communicator::checkInterruption() {
  {
    std::lock_guard lock(mutex);
    if (!error.ok())
      return error;
    if (phase != Phase::Ready)
      return {};
  }
  if (setup->options.timeoutMs != 0) // a gather waits for earlier kernels, which may hang
    checkErrors();
  return {};
}

void Communicator::checkErrors() {
  Outcome outcome = gpu->checkKernels();
  if (outcome.ok())
    outcome = child.asyncError();
  if (outcome.ok())
    return;
  if (outcome.code == gc3Timeout)
    if (const std::string difference = awaitComparison(); !difference.empty())
      outcome.text += "; first difference: " + difference;
  std::lock_guard lock(mutex);
  if (phase != Phase::Failed)
    return failNow(outcome);
  error = outcome; // the same error, to which checkKernels() may have added what stopped kernels waited for
  logError();
}

/// Returns which ranks have made different choices; empty if no difference is known. The ranks compare their choices
/// after the first timeout. Waits for them once, at most a second, or until an abort.
std::string Communicator::awaitComparison() {
  constexpr std::chrono::seconds longest{1};
  const std::shared_ptr<OnlineRank> choosing = online();
  if (!choosing)
    return {};
  choosing->beginComparison();
  if (!comparedUntil)
    comparedUntil = Clock::now() + longest;
  std::optional<std::string> difference;
  Lock lock(mutex);
  while (!(difference = choosing->comparison()) && !isAborted() && Clock::now() < *comparedUntil)
    changed.wait_for(lock, milliseconds(1));
  return difference.value_or("");
}

/// Makes a call on the application's communicator. After an abort, does not make the call and returns InvalidUsage.
Result Communicator::callOnParent(const std::function<Result()> &call) {
  std::lock_guard lock(mutex);
  return phase == Phase::Aborted || phase == Phase::Releasing ? Result::InvalidUsage : call();
}

/// Queries the rank, the number of ranks and the device, and makes the device current.
Outcome Communicator::identify() {
  const auto query = [this](auto *function, int *value, const char *doing) {
    return outcomeOf(callOnParent([&] { return function(parent, value); }), doing);
  };
  Outcome outcome = query(nccl.CommUserRank, &identity.rank, "querying the rank");
  if (outcome.ok()) // sets the rank first: if ranks() is not 0, rank() is valid
    outcome = query(nccl.CommCount, &identity.ranks, "querying the ranks");
  if (outcome.ok())
    outcome = query(nccl.CommCuDevice, &identity.device, "querying the device");
  return outcome.ok() ? cuda::outcomeOf(cuda, cuda.setDevice(identity.device),
                                        "switching to device " + std::to_string(identity.device))
                      : outcome;
}

GpuRank::JoinResult Communicator::form() {
  const auto queryParent = [this](Result &state) {
    return callOnParent([&] { return nccl.CommGetAsyncError(parent, &state); });
  };
  if (Outcome outcome = child.awaitParent(queryParent); !outcome.ok())
    return {{}, outcome}; // a refusal: NCCL runs the call, and reports its own error
  if (Outcome outcome = identify(); !outcome.ok())
    return {outcome, {}};
  if (identity.ranks == 1)
    return {{}, {gc3InvalidUsage, "one rank"}};
  if (Outcome outcome = child.create(parent, identity.rank, queryParent); !outcome.ok())
    return {{}, {outcome.code, "it could not be split: " + outcome.text}};
  return {};
}

/// Makes NCCL run all calls on this communicator. All ranks must call this function together.
void Communicator::fallBackToNccl(const Outcome &reason) {
  logFallback(identity, reason.text);
  {
    std::lock_guard lock(mutex);
    ncclReason = reason;
    if (!advance(Phase::Ready))
      return;
  }
  gpu->releaseNccl();
  child.destroy();
}

void Communicator::join() {
  const GpuRank::JoinResult formed = form();
  if (!formed.failure.ok())
    return fail(formed.failure);
  if (!formed.refusal.ok())
    return fallBackToNccl(formed.refusal);
  {
    std::lock_guard lock(mutex);
    if (!advance(Phase::Joining))
      return;
  }
  const GpuRank::JoinResult joined = gpu->join(identity);
  if (!joined.failure.ok())
    return fail(joined.failure);
  if (!joined.refusal.ok()) {
    if (setup->options.fallsBack)
      core::logOnce("NCCL runs all calls on the communicators: " + joined.refusal.text);
    return fallBackToNccl(joined.refusal);
  }
  std::lock_guard lock(mutex);
  table = gpu->programs();
  states.resize(table->size());
  onlineRank = gpu->takeOnline();
  advance(Phase::Ready);
}

/// Loads the program that a caller has requested. If there is no request, checks kernels instead.
void Communicator::load() {
  Lock lock(mutex);
  if (!request)
    return lock.unlock(), checkErrors();
  const LoadRequest now = *request;
  lock.unlock();
  const GpuRank::LoadResult result = gpu->load(now.program, now.localError);
  if (!result.failure.ok())
    fail(result.failure);
  lock.lock();
  states[now.program] = {result.program, result.refusal};
  request.reset();
  changed.notify_all();
}

void Communicator::drain() {
  {
    Lock lock(mutex);
    changed.wait(lock, [this] { return callers == 0 || phase != Phase::Draining; });
  }
  for (;;) { // continues after a failure, and after an abort, which stops the kernels
    const core::Result<bool> idle = gpu->isIdle();
    if (!idle.ok())
      return fail(idle.outcome());
    if (*idle)
      break;
    checkErrors();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  {
    std::lock_guard lock(mutex);
    if (!advance(Phase::Closing))
      return;
  }
  close();
}

/// Ends online selection. No call is running. The exchanges end without the mutex, because their thread can be inside
/// a CUDA call. The caller keeps the result until no kernel runs.
std::shared_ptr<OnlineRank> Communicator::endOnline() {
  std::shared_ptr<OnlineRank> ending;
  {
    std::lock_guard lock(mutex);
    ending.swap(onlineRank);
  }
  if (ending)
    ending->stop();
  return ending;
}

void Communicator::close() {
  if (const std::shared_ptr<OnlineRank> ending = online())
    ending->saveAtEnd();
  endOnline();
  gpu->releaseNccl();
  child.destroy();
  gpu.reset();
  std::lock_guard lock(mutex);
  if (phase == Phase::Closing) // otherwise there was an abort, and closeAborted() continues
    advance(Phase::Closed);
}

void Communicator::joinExecutor() {
  if (executor.joinable())
    executor.join();
}

void Communicator::closeAborted() {
  {
    Lock lock(mutex);
    changed.wait(lock, [this] { return callers == 0; });
  }
  std::shared_ptr<OnlineRank> ended = endOnline();
  if (gpu)
    gpu->awaitIdle(); // because child.abort() unmaps the windows that kernels access
  ended.reset();
  child.abort();
  if (gpu)
    gpu->forgetNccl(); // after child.abort(), because until then NCCL can write window handles
  gpu.reset();
  std::lock_guard lock(mutex);
  advance(Phase::Closed);
}

} // namespace gc3::comm
