// SPDX-License-Identifier: Apache-2.0
// The functions that application threads call: they post work, wait, and change the phase. Executor.cpp has the
// functions of the executor thread.
#include "comm/Communicator.h"

#include "core/Backoff.h"
#include "core/Log.h"
#include "ncclapi/Installed.h"

#include <system_error>

namespace gc3::comm {

using core::Outcome;
using ncclapi::Result;
using std::chrono::milliseconds;

Communicator::Communicator(std::shared_ptr<const Setup> sharedSetup, ncclapi::Comm parent, const WaitLimits &joinLimits)
    : setup(std::move(sharedSetup)), cuda(setup->drivers.cuda), nccl(setup->drivers.nccl), parent(parent),
      joinLimits(joinLimits), child(cuda, nccl, [this] { return checkInterruption(); }),
      userWindows(cuda, nccl, parent, setup->options), gpu(std::make_unique<GpuRank>(*setup, child, userWindows)) {}

Communicator::~Communicator() = default;

bool Communicator::advance(Phase to) {
  if (!mayFollow(phase, to))
    return false;
  phase = to;
  changed.notify_all();
  return true;
}

Communicator::Status Communicator::status() const {
  std::lock_guard lock(mutex);
  return {phase, error};
}

bool Communicator::isClosed() const {
  std::lock_guard lock(mutex);
  return phase == Phase::Closed;
}

Result Communicator::queryState(Result &state) {
  const ncclapi::NcclCallScope inside;
  std::lock_guard lock(mutex);
  const Result queried = nccl.CommGetAsyncError(parent, &state);
  if (queried != Result::Success || state != Result::Success)
    return queried;
  if (phase == Phase::Failed)
    state = ncclapi::resultOf(error);
  else if (phase == Phase::Draining || phase == Phase::Closing)
    state = Result::InProgress;
  return queried;
}

/// Checks a wait that began at `begun`. If it is longer than `limit.failAfterMs`, fails the communicator with the text
/// `late`, and returns true. Else, if it is longer than `limit.logAfterMs`, logs the text `waiting`.
bool Communicator::checkDeadline(Clock::time_point begun, const WaitLimits &limit, const char *waiting,
                                 const char *late) {
  const auto isPast = [waited = Clock::now() - begun](uint32_t ms) { return ms != 0 && waited > milliseconds(ms); };
  const auto after = [](uint32_t ms) { return "after " + std::to_string(ms) + " ms "; };
  const bool isLate = isPast(limit.failAfterMs);
  if (isLate)
    failNow({gc3Timeout, after(limit.failAfterMs) + late});
  else if (isPast(limit.logAfterMs))
    core::logOnce(after(limit.logAfterMs) + waiting);
  return isLate;
}

/// Returns why the communicator accepts no calls; Success if it accepts calls.
Outcome Communicator::callError() const {
  switch (phase) {
  case Phase::Ready: return {};
  case Phase::Draining:
  case Phase::Closing:
  case Phase::Closed:
    if (error.ok())
      return {gc3InvalidUsage, "the communicator was finalized or destroyed"};
    [[fallthrough]];
  case Phase::Failed:
  case Phase::Aborted:
  case Phase::Releasing: return error;
  case Phase::Unready:
  case Phase::Forming:
  case Phase::Joining: return {gc3InvalidUsage, "the communicator has not joined"};
  }
  __builtin_unreachable();
}

void Communicator::beginJoin() {
  std::lock_guard lock(mutex);
  if (phase != Phase::Unready)
    return;
  advance(Phase::Forming);
  beganToJoin = Clock::now();
  try {
    executor = std::thread([this] { execute(); });
  } catch (const std::system_error &) {
    failNow({gc3SystemError, "no thread for a communicator"});
  }
}

bool Communicator::isJoining() {
  std::lock_guard lock(mutex);
  if (isJoinRunning())
    checkDeadline(beganToJoin, joinLimits,
                  "a rank still waits for other ranks of its communicator; check that every rank loads gc3 with the "
                  "same bundles",
                  "not all ranks have joined; check that every rank loads gc3 with the same bundles");
  return isJoinRunning();
}

Outcome Communicator::awaitJoin() {
  for (core::Backoff backoff; isJoining();)
    backoff.pause();
  std::lock_guard lock(mutex);
  return callError();
}

Outcome Communicator::refusal() const {
  std::lock_guard lock(mutex);
  return ncclReason;
}

int Communicator::rank() const {
  std::lock_guard lock(mutex);
  return identity.rank;
}

int Communicator::ranks() const {
  std::lock_guard lock(mutex);
  return identity.ranks;
}

bool Communicator::mayShareCommunicator(const Communicator &other) const {
  const int otherRanks = other.ranks(), otherRank = other.rank(); // ranks() first: if it is not 0, rank() is valid
  std::lock_guard lock(mutex);
  const bool areIdentified = identity.ranks != 0 && otherRanks != 0;
  if (areIdentified && (identity.ranks != otherRanks || identity.rank == otherRank))
    return false;
  if (phase != Phase::Ready)
    return isBeforeReady(phase);
  return identity.ranks > 1 && gpu->mayShareCommunicator(other.child);
}

std::shared_ptr<ProgramTable> Communicator::programs() const {
  std::lock_guard lock(mutex);
  return table;
}

std::shared_ptr<OnlineRank> Communicator::online() const {
  std::lock_guard lock(mutex);
  return onlineRank;
}

bool Communicator::isAwaitingTimes() {
  const core::Result<bool> mustWait = online()->mustWait();
  std::lock_guard lock(mutex);
  if (!mustWait.ok())
    failNow(mustWait.outcome());
  if (!mustWait.ok() || !*mustWait || phase != Phase::Ready) {
    awaitedSince.reset();
    return false;
  }
  if (!awaitedSince)
    awaitedSince = Clock::now();
  return !checkDeadline(*awaitedSince, {setup->options.joiningMs, setup->options.timeoutMs},
                        "GC3_TUNE: a rank still waits for other ranks, which have made fewer calls",
                        "GC3_TUNE: other ranks have made too few calls");
}

Outcome Communicator::enter() {
  Lock lock(mutex);
  ++callers;
  changed.wait(lock, [this] { return !isCalling || phase != Phase::Ready; });
  Outcome outcome = callError();
  if (outcome.ok()) {
    isCalling = true;
  } else {
    --callers;
    changed.notify_all();
  }
  return outcome;
}

/// Notifies waiting threads only if a caller waits or the phase has changed, because a notification also wakes the
/// executor.
void Communicator::leave() {
  std::lock_guard lock(mutex);
  isCalling = false;
  if (--callers != 0 || phase != Phase::Ready)
    changed.notify_all();
}

void Communicator::beginLoad(uint32_t program, const Outcome &localError) {
  std::lock_guard lock(mutex);
  if (phase != Phase::Ready || states[program].onGpu || !states[program].refusal.ok())
    return;
  request = {program, localError, Clock::now()};
  changed.notify_all();
}

bool Communicator::isLoading() {
  std::lock_guard lock(mutex);
  if (request)
    checkDeadline(request->begun, {setup->options.joiningMs, setup->options.timeoutMs},
                  "a rank still waits for other ranks to load a program", "not all ranks have loaded the program");
  return request && phase == Phase::Ready;
}

const cuda::GpuProgram *Communicator::loaded(uint32_t program, Outcome &refusal) const {
  std::lock_guard lock(mutex);
  refusal = states[program].refusal;
  return states[program].onGpu;
}

Outcome Communicator::plan(const cuda::GpuProgram &program, const core::Shape &shape, const core::Request &call,
                           uint64_t capture, cuda::Runner::Plan &plan) {
  if (Outcome outcome = status().error; !outcome.ok())
    return outcome;
  return gpu->plan(program, shape, call, capture, plan);
}

Outcome Communicator::enqueue(cuda::Runner::Plan &plan, cuda::Stream stream) {
  if (Outcome outcome = status().error; !outcome.ok())
    return outcome;
  return gpu->enqueue(plan, stream);
}

void Communicator::beginTime(uint64_t call, cuda::Stream stream) {
  gpu->beginTime(online()->times(), call, stream);
}

void Communicator::endTime(uint64_t call, cuda::Stream stream) {
  gpu->endTime(online()->times(), call, stream);
}

Outcome Communicator::awaitParent() {
  const ncclapi::NcclCallScope inside;
  constexpr std::chrono::microseconds shortest{2}, longest{100};
  const Clock::time_point begun = Clock::now();
  Lock lock(mutex);
  for (auto pause = shortest;; pause = std::min(2 * pause, longest)) {
    Result state = Result::Success;
    if (isAborted())
      return error;
    if (nccl.CommGetAsyncError(parent, &state) != Result::Success || state != Result::InProgress)
      return {};
    if (checkDeadline(begun, {0, joinLimits.failAfterMs}, "",
                      "NCCL has not enqueued the work that precedes a call; later calls are dropped"))
      return error;
    changed.wait_for(lock, pause);
  }
}

void Communicator::fail(const Outcome &cause) {
  std::lock_guard lock(mutex);
  failNow(cause);
}

/// Lets kernels run on, because other ranks may need their messages. After a timeout, stops them, because they may wait
/// for a missing rank.
void Communicator::failNow(const Outcome &cause) {
  if (!mayFollow(phase, Phase::Failed))
    return;
  error = cause;
  logError();
  gpu->markFailed(cause);
  if (cause.code == gc3Timeout)
    gpu->stop();
  advance(Phase::Failed);
}

/// An application that calls NCCL's functions gets a code, and no text.
void Communicator::logError() const {
  if (setup->options.fallsBack)
    core::logOnce("rank " + std::to_string(identity.rank) + " of " + std::to_string(identity.ranks) + ": " +
                  error.text);
}

bool Communicator::finalize(bool waits) {
  Lock lock(mutex);
  if (isAborted())
    return true; // aborted before this call, not during it
  changed.wait(lock, [this] { return !isJoinRunning(); });
  if (phase == Phase::Unready)
    advance(Phase::Closed);
  else if (phase == Phase::Ready)
    advance(Phase::Draining);
  if (waits)
    changed.wait(lock, [this] { return phase != Phase::Draining && phase != Phase::Closing; });
  if (phase == Phase::Failed && !child.isPending()) {
    abortNow();
    return true;
  }
  return error.ok(); // not ok: another thread has aborted it during this call, or NCCL still creates its child
}

bool Communicator::abort() {
  std::lock_guard lock(mutex);
  abortNow();
  return child.isSplitting();
}

void Communicator::release() {
  std::lock_guard lock(mutex);
  releaseNow();
}

void Communicator::releaseUnlessPending() {
  std::lock_guard lock(mutex);
  if (!child.isPending())
    releaseNow();
}

void Communicator::releaseNow() {
  if (advance(Phase::Releasing) && !executor.joinable())
    advance(Phase::Closed); // no executor has run, so there is nothing to release
}

void Communicator::awaitSplit() {
  const Clock::time_point last = Clock::now() + std::chrono::seconds(5);
  while (child.isSplitting() && Clock::now() < last)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

/// Stops kernels only in the phases in which kernels can run: before Ready there are none. In phase Closing, the
/// executor destroys `gpu`, so this thread must not use it.
void Communicator::abortNow() {
  const bool hasKernels = phase == Phase::Ready || phase == Phase::Draining || phase == Phase::Failed;
  if (!mayFollow(phase, Phase::Aborted))
    return;
  if (error.ok())
    error = {gc3InvalidUsage, "the communicator was aborted"};
  if (hasKernels)
    gpu->stop();
  advance(Phase::Aborted);
}

} // namespace gc3::comm
