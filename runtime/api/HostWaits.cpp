// SPDX-License-Identifier: Apache-2.0
// How ranks of a host communicator wait for each other, and how their calls end by a timeout or a failure.
#include "api/HostBackend.h"

#include "api/RemoteAnnouncement.h"
#include "host/BusyMachine.h"

#include <chrono>
#include <thread>

namespace gc3::api {

using core::Outcome;
using core::RankRequest;

namespace {
/// A rank that waits for its peers first polls without pauses, because the peers usually arrive before a pause would
/// end. Then it polls with pauses, or yields its processor if threads share processors. Finally it sleeps, and each
/// sleep is longer than the previous one.
constexpr unsigned pollsBeforePause = 100;
constexpr unsigned pollsBeforeSleep = 4000;
constexpr unsigned pollsOfHosts = 2; ///< each of these is a system call, so it is no slower to yield in addition
constexpr std::chrono::milliseconds longestYields{1};
constexpr std::chrono::microseconds shortestSleep{50};
constexpr std::chrono::microseconds longestSleep{10000};
constexpr std::chrono::microseconds longestSleepForHosts{500};
constexpr std::chrono::milliseconds untilAnnouncedToRest{20};

/// Returns the error of later calls. `how` says how the call with this error has ended.
Outcome afterCall(const std::string &how, const Outcome &error) {
  return {error.code,
          "an earlier call " + how + "; destroy the communicators and create new ones. Its error: " + error.text};
}

} // namespace

/// Returns whether all ranks have arrived, like Board::haveAllArrived, after it has received what other hosts have
/// sent.
bool HostBackend::haveAllArrived(uint64_t number, uint32_t &next) const {
  if (board.haveAllArrived(number, next))
    return true;
  return transport() && transport()->progress() && board.haveAllArrived(number, next);
}

/// Sleeps until another rank may have arrived, or until the deadline.
template <typename Over>
void HostBackend::sleepUntil(host::Parking::Clock::time_point deadline, Over over) {
  const auto soon = host::Parking::Clock::now() + longestSleepForHosts; // ranks of this host do not wake this thread
  if (!transport() || !transport()->sleepUntil(std::min(deadline, soon)))
    board.waiting().sleepUntil(deadline, over);
}

/// Polls for a short time. Returns whether all ranks have arrived, like Board::haveAllArrived.
bool HostBackend::pollForAll(uint64_t number, uint32_t &next, bool isCrowded) const {
  const unsigned most = transport() ? pollsOfHosts : isCrowded ? pollsBeforePause : pollsBeforeSleep;
  for (unsigned polls = 0; polls < most; ++polls) {
    if (haveAllArrived(number, next))
      return true;
    if (host::isMachineBusy())
      return false;
    if (polls > pollsBeforePause)
      host::pauseSpin();
  }
  if (!isCrowded && !transport())
    return false;
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + longestYields;
  while (Clock::now() < end && host::yieldProcessor())
    if (haveAllArrived(number, next))
      return true;
  return false;
}

/// Sends announcements to the processes of other hosts that get them from another process of their host otherwise. That
/// process may be in no call, and the others report which ranks are missing.
void HostBackend::announceToRest(const Arrival &arrival) {
  if (!transport())
    return;
  for (const RankRequest &part : arrival.parts)
    transport()->announceToRest(part.rank, arrival.number,
                                writeAnnouncement(board.announcement(part.rank, arrival.number)));
}

/// Waits until all ranks have arrived in a call. Returns an error if the call has timed out.
Outcome HostBackend::await(const Arrival &arrival) {
  using Clock = std::chrono::steady_clock;
  const uint64_t number = arrival.number;
  uint32_t next = 0;
  if (pollForAll(number, next, host::crowded(site.ranksOnHost(), arrival.parts.size())))
    return {};
  const auto timeout = std::chrono::milliseconds(options.timeoutMs);
  auto deadline = Clock::now() + timeout;
  auto over = [&] {
    return board.haveAllArrived(number, next) ||
           board.timeoutState().load(std::memory_order_acquire) != TimeoutState::None;
  };
  auto repeatAt = Clock::now() + untilAnnouncedToRest;
  for (auto sleep = shortestSleep;; sleep = std::min(2 * sleep, longestSleep)) {
    if (Clock::now() >= repeatAt) {
      announceToRest(arrival);
      repeatAt = Clock::time_point::max();
    }
    sleepUntil(std::min(deadline, Clock::now() + sleep), over);
    if (haveAllArrived(number, next))
      return {};
    if (Outcome outcome = findLoss(number); !outcome.ok())
      return outcome;
    if (Outcome outcome = awaitDecision(); !outcome.ok())
      return outcome;
    if (Outcome outcome = timeOut(number, Clock::now() >= deadline); !outcome.ok())
      return outcome;
    if (Clock::now() >= deadline)
      deadline = Clock::now() + timeout; // not decided: a rank is still in an earlier call, or about to arrive
  }
}

/// Returns an error if the calls have ended by a timeout or a failure, else Success. If `due` is true, tries to end
/// them by a timeout.
Outcome HostBackend::timeOut(uint64_t number, bool due) {
  std::lock_guard lock(agreement);
  if (!failure.ok())
    return agreedCall.number == number ? agreedCall.result.outcome() : failure;
  const bool isDecided = board.timeoutState().load(std::memory_order_acquire) == TimeoutState::TimedOut;
  return isDecided || (due && decideTimeout(number)) ? endByTimeout(number) : Outcome{};
}

/// Decides whether call `number` has timed out. A rank is missing if it was in no call after the state was Deciding. A
/// missing rank will announce no call. It sets `busy` before it reads the state, and all these accesses are
/// sequentially consistent, so it will see the state. A rank that is in a call may be about to announce itself, so this
/// function then decides nothing. This function reads `busy` before the number. In the other order, a rank could
/// announce itself and leave the call between the two loads, and would seem to be missing.
bool HostBackend::decideTimeout(uint64_t number) {
  std::atomic<TimeoutState> &state = board.timeoutState();
  TimeoutState expected = TimeoutState::None;
  if (!state.compare_exchange_strong(expected, TimeoutState::Deciding, std::memory_order_seq_cst))
    return false; // another process decides
  bool isUndecided = false, isMissing = false;
  for (uint32_t r = 0; r < site.ranks(); ++r) {
    const bool busy = board.busy(r).load(std::memory_order_seq_cst);
    if (board.hasArrived(r, number))
      continue;
    (busy && (site.isWhole() || !others->isStopped(r)) ? isUndecided : isMissing) = true;
  }
  const bool hasTimedOut = isMissing && !isUndecided;
  state.store(hasTimedOut ? TimeoutState::TimedOut : TimeoutState::None, std::memory_order_seq_cst);
  return hasTimedOut;
}

/// Ends call `number` and all later calls of this process. All ranks in the call have the same error.
Outcome HostBackend::endByTimeout(uint64_t number) {
  Outcome outcome{gc3Timeout, "after " + std::to_string(options.timeoutMs) + " ms, " + listMissing(number)};
  agreedCall = {number, outcome};
  failure = afterCall("timed out", outcome);
  hasFailed.store(true, std::memory_order_release);
  if (!site.isWhole()) {
    board.hasEnded().store(true, std::memory_order_seq_cst);
    others->reportFailure(outcome);
  }
  board.waiting().wake();
  return outcome;
}

/// No rank may announce a call.
std::string HostBackend::listMissing(uint64_t number) const {
  constexpr uint32_t mostListed = 16;
  std::string missing;
  uint32_t count = 0;
  for (uint32_t r = 0; r < site.ranks(); ++r)
    if (!board.hasArrived(r, number) && ++count <= mostListed)
      missing +=
          (count == 1 ? " " : ", ") + std::to_string(r) + (site.isWhole() ? "" : " (" + others->describe(r) + ")");
  if (count > mostListed)
    missing += " and " + std::to_string(count - mostListed) + " more";
  return std::to_string(site.ranks() - count) + " of " + std::to_string(site.ranks()) +
         " ranks wait in a call that these ranks have not made:" + missing;
}

/// Returns an error if a rank of another process has been lost while this process waits in call `number`.
Outcome HostBackend::findLoss(uint64_t number) {
  if (site.isWhole())
    return {};
  Outcome loss = site.findLoss();
  for (uint32_t r = 0; r < site.ranks() && loss.ok(); ++r)
    if (!board.hasArrived(r, number))
      loss = others->findLoss(r);
  if (loss.ok())
    return loss;
  (void)fail(loss); // other ranks add what they wait for
  return {loss.code, loss.text + "; " + listMissing(number)};
}

/// Waits while another thread decides whether calls have timed out. Returns an error if its process does not continue.
Outcome HostBackend::awaitDecision() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(options.timeoutMs);
  for (; board.timeoutState().load(std::memory_order_seq_cst) == TimeoutState::Deciding; std::this_thread::yield()) {
    if (site.isWhole())
      continue;
    if (Outcome loss = site.findLoss(); !loss.ok())
      return fail(loss);
    if (std::chrono::steady_clock::now() >= deadline)
      return fail({gc3Timeout, "a process that decides on a timeout has not continued within " +
                                   std::to_string(options.timeoutMs) + " ms; is it stopped?"});
  }
  return {};
}

/// Returns the error after which no call can run.
Outcome HostBackend::findFailure() {
  if (Outcome outcome = awaitDecision(); !outcome.ok())
    return outcome;
  const bool hasTimedOut = board.timeoutState().load(std::memory_order_seq_cst) == TimeoutState::TimedOut;
  if (!hasTimedOut && !hasFailed.load(std::memory_order_acquire))
    return {};
  std::lock_guard lock(agreement);
  if (failure.ok())
    failure = {gc3Timeout, "other processes have waited for this one for " + std::to_string(options.timeoutMs) +
                               " ms, and their call has timed out; destroy the communicators and create new ones"};
  return failure;
}

/// Ends all later calls, in other processes, too. Returns the error.
Outcome HostBackend::fail(const Outcome &outcome) {
  {
    std::lock_guard lock(agreement);
    if (!failure.ok())
      return outcome;
    failure = afterCall("failed", outcome);
    hasFailed.store(true, std::memory_order_release);
  }
  board.hasEnded().store(true, std::memory_order_seq_cst);
  others->reportFailure(outcome);
  board.waiting().wake();
  return outcome;
}

} // namespace gc3::api
