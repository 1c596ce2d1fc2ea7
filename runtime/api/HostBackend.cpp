// SPDX-License-Identifier: Apache-2.0
// Memory order: a rank stores its number (release) after the rest of its notice, and after it has entered the prepared
// call. A thread that loads the number (acquire) can read both. timeOut() explains how timeouts are decided.
#include "api/HostBackend.h"

#include <chrono>
#include <exception>
#include <new>
#include <thread>

namespace gc3::api {

using core::Outcome;
using core::RankRequest;
using host::Entered;
using host::PreparedCall;
using host::Sharing;

namespace {
/// A rank first polls for its peers without pauses, since they usually arrive soon and a pause can take longer than
/// that. Then it polls with pauses. Then it sleeps, each time for longer.
constexpr unsigned looksBeforePause = 100;
constexpr unsigned looksBeforeSleep = 4000;
constexpr std::chrono::microseconds shortestSleep{50};
constexpr std::chrono::microseconds longestSleep{10000};
} // namespace

HostBackend::HostBackend(std::shared_ptr<const bundle::BundleFile> bundle, uint32_t count,
                         const HostBackendOptions &chosen)
    : file(std::move(bundle)), options(chosen), rankCount(count), seats(new Seat[count]),
      table(*file, count, chosen.call) {}

void HostBackend::giveBack(std::span<const RankRequest> parts) {
  for (const RankRequest &part : parts)
    seats[part.rank].busy.store(false, std::memory_order_release);
}

HostBackend::Arrival HostBackend::arrive(std::span<const RankRequest> parts) {
  Arrival arrival{{}, parts, 0, false};
  for (size_t i = 0; i < parts.size(); ++i)
    if (seats[parts[i].rank].busy.exchange(true, std::memory_order_seq_cst)) {
      giveBack(parts.first(i));
      arrival.refused = {gc3InvalidUsage,
                         "rank " + std::to_string(parts[i].rank) + " is already in a call on another thread"};
      return arrival;
    }
  if (timedOut.load(std::memory_order_seq_cst)) {
    std::lock_guard lock(agreement);
    if (!broken.ok()) {
      giveBack(parts);
      arrival.refused = broken;
      return arrival;
    }
  }
  for (const RankRequest &part : parts)
    announce(part);
  waiting.wake();
  arrival.number = seats[parts[0].rank].number;
  uint32_t next = 0;
  arrival.last = allHere(arrival.number, next);
  return arrival;
}

template <typename T>
static void change(T &place, T value) {
  if (place != value)
    place = value;
}

void HostBackend::announce(const RankRequest &part) {
  Seat &seat = seats[part.rank];
  uint64_t number = ++seat.number;
  Notice &notice = seat.notices[number % 2];
  core::Placement placement{};
  PreparedCall *call = recall(seat, part, placement);
  // other ranks may read this line, so it is written as seldom as possible
  change(notice.request, static_cast<const core::Request *>(&part.request));
  change(notice.call, call);
  change(notice.sharing, call ? call->sharing(part.rank, placement) : Sharing::None);
  if (call)
    call->enter(part.rank, number, part.request, placement);
  notice.number.store(number, std::memory_order_release);
}

/// Returns the prepared call that the rank remembers for its request. Returns null if there is none or it cannot serve
/// these buffers as it is.
PreparedCall *HostBackend::recall(Seat &seat, const RankRequest &part, core::Placement &placement) {
  Lately &lately = seat.lately;
  forgetRetired(lately);
  for (uint32_t i = 0; i < Lately::size; ++i) {
    uint32_t at = (lately.next + i) % Lately::size;
    PreparedCall *call = lately.calls[at];
    if (!call || !call->serves(part.request))
      continue;
    lately.next = at;
    bool usable = !call->stopped() && call->places(part.rank, part.request, placement) &&
                  call->hasMemoryFor(part.rank, placement);
    return usable ? call : nullptr;
  }
  return nullptr;
}

/// Calls are dropped only while all ranks wait for agreement on a call, so a rank sees each retirement between two of
/// its own calls.
void HostBackend::forgetRetired(Lately &lately) const {
  if (uint64_t retirements = table.retirements(); lately.retirements != retirements)
    lately = {{}, 0, retirements};
}

void HostBackend::remember(std::span<const RankRequest> parts, PreparedCall *call) {
  for (const RankRequest &part : parts) {
    Lately &lately = seats[part.rank].lately;
    forgetRetired(lately);
    lately.next = (lately.next + 1) % Lately::size;
    lately.calls[lately.next] = call;
  }
}

/// Returns whether all ranks are in the call. The first `next` of them are known to be.
bool HostBackend::allHere(uint64_t number, uint32_t &next) const {
  while (next < rankCount && seats[next].notices[number % 2].number.load(std::memory_order_acquire) == number)
    ++next;
  return next == rankCount;
}

/// Waits for all ranks; this thread has brought `own` of them. Returns an error if the call has timed out.
Outcome HostBackend::await(uint64_t number, size_t own) {
  uint32_t next = 0;
  const bool crowded = host::crowded(rankCount, own);
  for (unsigned looks = 0; looks < looksBeforeSleep; ++looks) {
    if (allHere(number, next))
      return {};
    if (looks > looksBeforePause)
      crowded ? std::this_thread::yield() : host::pauseSpin();
  }
  using Clock = std::chrono::steady_clock;
  const auto timeout = std::chrono::milliseconds(options.timeoutMs);
  auto deadline = Clock::now() + timeout;
  auto over = [&] { return allHere(number, next) || timedOut.load(std::memory_order_acquire); };
  for (auto sleep = shortestSleep;; sleep = std::min(2 * sleep, longestSleep)) {
    waiting.sleepUntil(std::min(deadline, Clock::now() + sleep), over);
    if (allHere(number, next))
      return {};
    Outcome outcome = timeOut(number, Clock::now() >= deadline);
    if (!outcome.ok())
      return outcome;
    if (Clock::now() >= deadline)
      deadline = Clock::now() + timeout; // a rank is still in an earlier call
  }
}

/// Returns the error of a call that not all ranks make, or success if that is undecided. `due` requests a decision. A
/// rank is missing if it is in no call after `timedOut` was set. Such a rank will announce no call: it sets `busy`
/// before it reads `timedOut`, and all these accesses are sequentially consistent, so it will see `timedOut`. A rank
/// that is in a call may be about to announce itself; then nothing is decided. `busy` is read before the number, or a
/// rank could announce itself and leave between the two loads.
Outcome HostBackend::timeOut(uint64_t number, bool due) {
  std::lock_guard lock(agreement);
  if (!broken.ok())
    return verdict.number == number ? verdict.result.outcome() : broken;
  if (!due)
    return {};
  timedOut.store(true, std::memory_order_seq_cst);
  std::string missing;
  uint32_t listed = 0, here = 0;
  bool undecided = false;
  for (uint32_t r = 0; r < rankCount; ++r) {
    bool busy = seats[r].busy.load(std::memory_order_seq_cst);
    if (seats[r].notices[number % 2].number.load(std::memory_order_acquire) == number)
      ++here;
    else if (busy)
      undecided = true;
    else if (++listed <= 16)
      missing += (listed == 1 ? " " : ", ") + std::to_string(r);
  }
  if (undecided || here == rankCount) {
    timedOut.store(false, std::memory_order_seq_cst);
    return {};
  }
  if (listed > 16)
    missing += " and " + std::to_string(listed - 16) + " more";
  std::string text = "after " + std::to_string(options.timeoutMs) + " ms, " + std::to_string(here) + " of " +
                     std::to_string(rankCount) + " ranks wait in a call that these ranks have not made:";
  Outcome outcome{gc3Timeout, text + missing};
  verdict = {number, outcome};
  broken = {gc3Timeout, "an earlier call timed out; destroy the communicators and create new ones"};
  waiting.wake();
  return outcome;
}

/// Returns the prepared call if all ranks have announced the same one.
std::optional<Entered> HostBackend::findAgreed(uint64_t number) const {
  PreparedCall *const call = seats[0].notices[number % 2].call;
  if (!call)
    return std::nullopt;
  Sharing sharing = Sharing::Either;
  for (uint32_t r = 0; r < rankCount; ++r) {
    const Notice &notice = seats[r].notices[number % 2];
    if (notice.call != call)
      return std::nullopt;
    sharing = sharing & notice.sharing;
  }
  return Entered{call, sharing};
}

/// Prepares the call for all ranks, or returns the result of the thread that has done so. All ranks have arrived, and
/// none begins its next call before it has called this function.
core::Result<Entered> HostBackend::agree(uint64_t number) {
  std::lock_guard lock(agreement);
  if (verdict.number != number) {
    verdict.number = number;
    try {
      std::vector<core::Request> requests;
      std::vector<const PreparedCall *> entered; // by some ranks, which may be sending ahead at this moment
      for (uint32_t r = 0; r < rankCount; ++r) {
        const Notice &notice = seats[r].notices[number % 2];
        requests.push_back(*notice.request);
        if (notice.call)
          entered.push_back(notice.call);
      }
      verdict.result = table.begin(requests, number, entered);
    } catch (const std::bad_alloc &) {
      verdict.result = Outcome{gc3SystemError, "out of memory"};
    } catch (const std::exception &error) {
      verdict.result = Outcome{gc3InternalError, error.what()};
    }
  }
  return verdict.result;
}

Outcome HostBackend::run(const Arrival &arrival) {
  if (Outcome outcome = await(arrival.number, arrival.parts.size()); !outcome.ok())
    return outcome;
  std::optional<Entered> entered = findAgreed(arrival.number);
  if (!entered) {
    const core::Result<Entered> agreed = agree(arrival.number);
    if (!agreed.ok() || !agreed->call)
      return agreed.outcome();
    entered = *agreed;
    remember(arrival.parts, entered->call);
  }
  PreparedCall &call = *entered->call;
  uint32_t helpers = arrival.parts.size() == rankCount ? table.helpers(call) : 0;
  workOn(call, arrival.number, entered->sharing, arrival.parts, pool, helpers);
  for (const RankRequest &part : arrival.parts)
    if (!call.finished(part.rank, arrival.number))
      return {gc3Deadlock, call.deadlock()};
  for (const RankRequest &part : arrival.parts)
    call.leave(part.rank);
  return {};
}

Outcome HostBackend::complete(const Arrival &arrival) {
  if (!arrival.refused.ok())
    return arrival.refused;
  struct Leaving { // in every case, or other ranks would wait for a rank that seems about to arrive
    HostBackend &world;
    std::span<const RankRequest> parts;
    ~Leaving() { world.giveBack(parts); }
  } leaving{*this, arrival.parts};
  return run(arrival);
}

core::Result<const char *> HostBackend::select(const core::Request &request) {
  std::lock_guard lock(agreement);
  const core::Result<const core::LoadedProgram *> chosen = table.select(request);
  if (!chosen.ok())
    return chosen.outcome();
  return (*chosen)->program->info().name()->c_str();
}

} // namespace gc3::api
