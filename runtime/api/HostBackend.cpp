// SPDX-License-Identifier: Apache-2.0
// Memory order: a rank stores its number (release) after the rest of its announcement, and after it has entered the
// prepared call. A thread that loads the number (acquire) can read both. timeOut() explains how timeouts are decided.
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
constexpr unsigned pollsBeforePause = 100;
constexpr unsigned pollsBeforeSleep = 4000;
constexpr std::chrono::microseconds shortestSleep{50};
constexpr std::chrono::microseconds longestSleep{10000};
} // namespace

HostBackend::HostBackend(std::shared_ptr<const bundle::BundleFile> bundle, uint32_t count,
                         const HostBackendOptions &chosen)
    : file(std::move(bundle)), options(chosen), rankCount(count), states(new RankState[count]),
      table(*file, count, chosen.call) {}

void HostBackend::release(std::span<const RankRequest> parts) {
  for (const RankRequest &part : parts)
    states[part.rank].busy.store(false, std::memory_order_release);
}

HostBackend::Arrival HostBackend::arrive(std::span<const RankRequest> parts) {
  Arrival arrival{{}, parts, 0, false};
  for (size_t i = 0; i < parts.size(); ++i)
    if (states[parts[i].rank].busy.exchange(true, std::memory_order_seq_cst)) {
      release(parts.first(i));
      arrival.refused = {gc3InvalidUsage,
                         "rank " + std::to_string(parts[i].rank) + " is already in a call on another thread"};
      return arrival;
    }
  if (timedOut.load(std::memory_order_seq_cst)) {
    std::lock_guard lock(agreement);
    if (!failure.ok()) {
      release(parts);
      arrival.refused = failure;
      return arrival;
    }
  }
  for (const RankRequest &part : parts)
    announce(part);
  waiting.wake();
  arrival.number = states[parts[0].rank].number;
  uint32_t next = 0;
  arrival.last = haveAllArrived(arrival.number, next);
  return arrival;
}

template <typename T>
static void assignIfChanged(T &place, T value) {
  if (place != value)
    place = value;
}

void HostBackend::announce(const RankRequest &part) {
  RankState &state = states[part.rank];
  uint64_t number = ++state.number;
  Announcement &announcement = state.announcements[number % 2];
  core::Placement placement{};
  PreparedCall *call = findRecent(state, part, placement);
  // other ranks may read this line, so it is written as seldom as possible
  assignIfChanged(announcement.request, static_cast<const core::Request *>(&part.request));
  assignIfChanged(announcement.call, call);
  assignIfChanged(announcement.sharing, call ? call->sharing(part.rank, placement) : Sharing::None);
  if (call)
    call->enter(part.rank, number, part.request, placement);
  announcement.number.store(number, std::memory_order_release);
}

/// Returns the prepared call that the rank remembers for its request. Returns null if there is none or it cannot serve
/// these buffers as it is.
PreparedCall *HostBackend::findRecent(RankState &state, const RankRequest &part, core::Placement &placement) {
  RecentCalls &recent = state.recent;
  dropRetired(recent);
  for (uint32_t i = 0; i < RecentCalls::size; ++i) {
    uint32_t at = (recent.next + i) % RecentCalls::size;
    PreparedCall *call = recent.calls[at];
    if (!call || !call->serves(part.request))
      continue;
    recent.next = at;
    bool usable = !call->stopped() && call->tryPlace(part.rank, part.request, placement) &&
                  call->hasMemoryFor(part.rank, placement);
    return usable ? call : nullptr;
  }
  return nullptr;
}

/// Calls are dropped only while all ranks wait for agreement on a call, so a rank sees each retirement between two of
/// its own calls.
void HostBackend::dropRetired(RecentCalls &recent) const {
  if (uint64_t retirements = table.retirements(); recent.retirements != retirements)
    recent = {{}, 0, retirements};
}

void HostBackend::addRecent(std::span<const RankRequest> parts, PreparedCall *call) {
  for (const RankRequest &part : parts) {
    RecentCalls &recent = states[part.rank].recent;
    dropRetired(recent);
    recent.next = (recent.next + 1) % RecentCalls::size;
    recent.calls[recent.next] = call;
  }
}

/// Returns whether all ranks have arrived in the call. The first `next` are known to have arrived.
bool HostBackend::haveAllArrived(uint64_t number, uint32_t &next) const {
  while (next < rankCount && states[next].announcements[number % 2].number.load(std::memory_order_acquire) == number)
    ++next;
  return next == rankCount;
}

/// Waits for all ranks; this thread runs `own` of them. Returns an error if the call has timed out.
Outcome HostBackend::await(uint64_t number, size_t own) {
  uint32_t next = 0;
  const bool crowded = host::crowded(rankCount, own);
  for (unsigned polls = 0; polls < pollsBeforeSleep; ++polls) {
    if (haveAllArrived(number, next))
      return {};
    if (polls > pollsBeforePause)
      crowded ? std::this_thread::yield() : host::pauseSpin();
  }
  using Clock = std::chrono::steady_clock;
  const auto timeout = std::chrono::milliseconds(options.timeoutMs);
  auto deadline = Clock::now() + timeout;
  auto over = [&] { return haveAllArrived(number, next) || timedOut.load(std::memory_order_acquire); };
  for (auto sleep = shortestSleep;; sleep = std::min(2 * sleep, longestSleep)) {
    waiting.sleepUntil(std::min(deadline, Clock::now() + sleep), over);
    if (haveAllArrived(number, next))
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
  if (!failure.ok())
    return agreedCall.number == number ? agreedCall.result.outcome() : failure;
  if (!due)
    return {};
  timedOut.store(true, std::memory_order_seq_cst);
  std::string missing;
  uint32_t listed = 0, here = 0;
  bool undecided = false;
  for (uint32_t r = 0; r < rankCount; ++r) {
    bool busy = states[r].busy.load(std::memory_order_seq_cst);
    if (states[r].announcements[number % 2].number.load(std::memory_order_acquire) == number)
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
  agreedCall = {number, outcome};
  failure = {gc3Timeout, "an earlier call timed out; destroy the communicators and create new ones"};
  waiting.wake();
  return outcome;
}

/// Returns the prepared call if all ranks have announced the same one.
std::optional<Entered> HostBackend::findAgreed(uint64_t number) const {
  PreparedCall *const call = states[0].announcements[number % 2].call;
  if (!call)
    return std::nullopt;
  Sharing sharing = Sharing::Either;
  for (uint32_t r = 0; r < rankCount; ++r) {
    const Announcement &announcement = states[r].announcements[number % 2];
    if (announcement.call != call)
      return std::nullopt;
    sharing = sharing & announcement.sharing;
  }
  return Entered{call, sharing};
}

/// Prepares the call for all ranks, or returns the result of the thread that has done so. All ranks have arrived, and
/// none begins its next call before it has called this function.
core::Result<Entered> HostBackend::agree(uint64_t number) {
  std::lock_guard lock(agreement);
  if (agreedCall.number != number) {
    agreedCall.number = number;
    try {
      std::vector<core::Request> requests;
      std::vector<const PreparedCall *> entered; // by some ranks, which may be sending ahead at this moment
      for (uint32_t r = 0; r < rankCount; ++r) {
        const Announcement &announcement = states[r].announcements[number % 2];
        requests.push_back(*announcement.request);
        if (announcement.call)
          entered.push_back(announcement.call);
      }
      agreedCall.result = table.begin(requests, number, entered);
    } catch (const std::bad_alloc &) {
      agreedCall.result = Outcome{gc3SystemError, "out of memory"};
    } catch (const std::exception &error) {
      agreedCall.result = Outcome{gc3InternalError, error.what()};
    }
  }
  return agreedCall.result;
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
    addRecent(arrival.parts, entered->call);
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
  struct Releaser { // in every case, or other ranks would wait for a rank that seems about to arrive
    HostBackend &world;
    std::span<const RankRequest> parts;
    ~Releaser() { world.release(parts); }
  } releaser{*this, arrival.parts};
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
