// SPDX-License-Identifier: Apache-2.0
// Memory order: a rank writes the rest of its announcement and enters the prepared call. Only then does it store the
// call's number, with release order. So a thread that loads this number with acquire order can read the announcement
// and the prepared call. timeOut() explains how timeouts are decided.
#include "api/HostBackend.h"

#include "core/Log.h"
#include "core/TunerTimes.h"

#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <thread>

namespace gc3::api {

using core::Outcome;
using core::RankRequest;
using host::Entered;
using host::PreparedCall;
using host::Sharing;

namespace {
/// A rank that waits for its peers first polls without pauses, because the peers usually arrive before a pause would
/// end. Then it polls with pauses. Finally it sleeps, and each sleep is longer than the previous one.
constexpr unsigned pollsBeforePause = 100;
constexpr unsigned pollsBeforeSleep = 4000;
constexpr std::chrono::microseconds shortestSleep{50};
constexpr std::chrono::microseconds longestSleep{10000};
} // namespace

HostBackend::HostBackend(std::shared_ptr<const bundle::BundleFile> bundle, uint32_t count,
                         const HostBackendOptions &chosen)
    : file(std::move(bundle)), options(chosen), rankCount(count), states(new RankState[count]), rest(count),
      table(*file, count, chosen.call) {
  if (options.call.tune.isOnline)
    online.emplace(table, agreement);
}

void HostBackend::release(std::span<const RankRequest> parts) {
  for (const RankRequest &part : parts) {
    if (part.rank == 0)
      inFlight.end();
    states[part.rank].busy.store(false, std::memory_order_release);
  }
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
  for (const RankRequest &part : parts) {
    if (part.rank == 0)
      inFlight.begin();
    announce(part);
  }
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
  PreparedCall *call = findPrepared(state, part, placement);
  // Other ranks may read this cache line, so fields are written only if they change.
  assignIfChanged(announcement.request, static_cast<const core::Request *>(&part.request));
  assignIfChanged(announcement.call, call);
  assignIfChanged(announcement.sharing, call ? call->sharing(part.rank, placement) : Sharing::None);
  if (online) {
    assignIfChanged(announcement.timed, state.timed);
    if (state.isTimed)
      state.timed = {number, std::numeric_limits<float>::quiet_NaN(), placement != core::Placement::Apart, false};
  }
  if (call)
    call->enter(part.rank, number, part.request, placement);
  announcement.number.store(number, std::memory_order_release);
}

/// Returns the prepared call for a request. Returns null if there is none, if it has stopped, or if it lacks memory for
/// the buffers' placement.
PreparedCall *HostBackend::findPrepared(RankState &state, const RankRequest &part, core::Placement &placement) {
  PreparedCall *call = findRecent(state, part.request);
  state.isTimed = false;
  if (!call && online)
    call = decide(state, part.request);
  const bool isUsable = call && !call->stopped() && call->tryPlace(part.rank, part.request, placement) &&
                        call->hasMemoryFor(part.rank, placement);
  return isUsable ? call : nullptr;
}

/// Returns the prepared call for a request if the rank has made it recently and may repeat it, else null.
PreparedCall *HostBackend::findRecent(RankState &state, const core::Request &request) const {
  RecentCalls &recent = state.recent;
  dropRetired(recent);
  for (uint32_t i = 0; i < RecentCalls::size; ++i) {
    const uint32_t at = (recent.next + i) % RecentCalls::size;
    RecentCalls::Entry &entry = recent.calls[at];
    if (!entry.call || entry.uses == 0 || !entry.call->serves(request))
      continue;
    recent.next = at;
    entry.uses -= entry.uses != anyNumber;
    return entry.call;
  }
  return nullptr;
}

/// Returns the prepared call that online selection chooses for the rank's call; null if it is not prepared.
PreparedCall *HostBackend::decide(RankState &state, const core::Request &request) {
  const OnlineCalls::Decision &decision = online->decide(state.number, request, *this);
  if (!decision.site || !decision.site->request.matches(request))
    return nullptr;
  state.isTimed = true;
  if (decision.choice.repeats != 0)
    if (PreparedCall *favourite = online->prepared(*decision.site, decision.choice.favourite))
      addRecent(state, favourite, decision.choice.repeats);
  return online->prepared(*decision.site, decision.choice.arm);
}

/// The time is that of the slowest rank.
OnlineCalls::TimedCall HostBackend::lastTimed(uint64_t number) const {
  OnlineCalls::TimedCall last = states[0].announcements[number % 2].timed;
  for (uint32_t r = 1; r < rankCount; ++r) {
    const OnlineCalls::TimedCall &timed = states[r].announcements[number % 2].timed;
    if (timed.number != last.number)
      return {};
    if (!std::isnan(last.microseconds) && !(timed.microseconds <= last.microseconds))
      last.microseconds = timed.microseconds;
    last.isInPlace |= timed.isInPlace;
    last.isShared |= timed.isShared;
  }
  return last;
}

/// Clears `recent` if the table has dropped prepared calls since the last check. The table drops calls only while all
/// ranks wait for agreement on a call. So none is dropped between this check and the use of `recent`.
void HostBackend::dropRetired(RecentCalls &recent) const {
  if (uint64_t retirements = table.retirements(); recent.retirements != retirements)
    recent = {{}, 0, retirements};
}

void HostBackend::addRecent(RankState &state, PreparedCall *call, uint32_t uses) const {
  RecentCalls &recent = state.recent;
  dropRetired(recent);
  for (RecentCalls::Entry &entry : recent.calls)
    if (entry.call == call)
      entry.uses = 0;
  recent.next = (recent.next + 1) % RecentCalls::size;
  recent.calls[recent.next] = {call, uses};
}

/// Notes a prepared call on which all ranks have agreed. If online selection chooses the program, ranks could have
/// begun the call with different programs. So they forget what they may repeat, and the next call has a decision.
void HostBackend::noteAgreed(RankState &state, uint64_t number, PreparedCall *call) const {
  if (!online || online->isFixed(number))
    return addRecent(state, call, anyNumber);
  for (RecentCalls::Entry &entry : state.recent.calls)
    if (entry.uses != anyNumber)
      entry.uses = 0;
}

/// Returns whether all ranks have arrived in call `number`. Ranks 0 .. `next` - 1 are known to have arrived. Increases
/// `next` if more ranks have.
bool HostBackend::haveAllArrived(uint64_t number, uint32_t &next) const {
  while (next < rankCount && states[next].announcements[number % 2].number.load(std::memory_order_acquire) == number)
    ++next;
  return next == rankCount;
}

/// Waits until all ranks have arrived in call `number`. `own` is the number of ranks that this thread runs. Returns an
/// error if the call has timed out.
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
      deadline = Clock::now() + timeout; // not decided: a rank is still in an earlier call, or about to arrive
  }
}

/// Returns an error if a thread has decided that call `number` has timed out, else Success. If `due` is true and no
/// thread has decided, tries to decide. A rank is missing if it was in no call after `timedOut` was set. A missing rank
/// will announce no call. It sets `busy` before it reads `timedOut`, and all these accesses are sequentially
/// consistent, so it will see `timedOut`. A rank that is in a call may be about to announce itself, so this function
/// then decides nothing. This function reads `busy` before the number. In the other order, a rank could announce itself
/// and leave the call between the two loads, and would seem to be missing.
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

/// Returns the prepared call if all ranks have announced the same one, else no value.
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

/// Prepares call `number` for all ranks. If another thread has done so, returns its result. All ranks must have
/// arrived. Each rank calls this function before it begins its next call.
core::Result<Entered> HostBackend::agree(uint64_t number) {
  std::lock_guard lock(agreement);
  if (agreedCall.number != number) {
    agreedCall.number = number;
    try {
      agreedCall.result = begin(number);
    } catch (const std::bad_alloc &) {
      agreedCall.result = Outcome{gc3SystemError, "out of memory"};
    } catch (const std::exception &error) {
      agreedCall.result = Outcome{gc3InternalError, error.what()};
    }
  }
  return agreedCall.result;
}

/// Begins call `number` for all ranks in the table of prepared calls.
core::Result<Entered> HostBackend::begin(uint64_t number) {
  std::vector<core::Request> requests;
  std::vector<const PreparedCall *> entered; // entered by some ranks, which may already send
  for (uint32_t r = 0; r < rankCount; ++r) {
    const Announcement &announcement = states[r].announcements[number % 2];
    requests.push_back(*announcement.request);
    if (announcement.call)
      entered.push_back(announcement.call);
  }
  const OnlineCalls::Decision *decision = online ? online->decision(number) : nullptr;
  if (!decision)
    return table.begin(requests, number, entered);
  core::Result<Entered> begun = table.begin(requests, number, entered, OnlineCalls::armOf(*decision));
  if (begun.ok() && begun->call)
    online->note(*decision, begun->call);
  return begun;
}

/// Measures the time of a call for online selection. The first call of a prepared call has no time, because it touches
/// new memory.
class HostBackend::Stopwatch {
public:
  explicit Stopwatch(bool runs) : isRunning(runs) {
    if (isRunning)
      begin = Clock::now();
  }
  float microseconds() const {
    using Microseconds = std::chrono::duration<float, std::micro>;
    return isRunning ? Microseconds(Clock::now() - begin).count() : std::numeric_limits<float>::quiet_NaN();
  }

private:
  using Clock = std::chrono::steady_clock;
  const bool isRunning;
  Clock::time_point begin;
};

Outcome HostBackend::run(const Arrival &arrival) {
  if (Outcome outcome = await(arrival.number, arrival.parts.size()); !outcome.ok())
    return outcome;
  std::optional<Entered> entered = findAgreed(arrival.number);
  RankState &first = states[arrival.parts[0].rank];
  if (first.isTimed && inFlight.areOthers())
    for (const RankRequest &part : arrival.parts)
      states[part.rank].timed.isShared = true;
  const bool isReported = core::wantsTime(options.call.reports, arrival.parts[0].request);
  const Stopwatch stopwatch(entered && (first.isTimed || isReported));
  if (!entered) {
    const core::Result<Entered> agreed = agree(arrival.number);
    if (!agreed.ok() || !agreed->call)
      return agreed.outcome();
    entered = *agreed;
    for (const RankRequest &part : arrival.parts)
      noteAgreed(states[part.rank], arrival.number, entered->call);
  }
  PreparedCall &call = *entered->call;
  uint32_t helpers = arrival.parts.size() == rankCount ? table.helpers(call) : 0;
  workOn(call, arrival.number, entered->sharing, arrival.parts, pool, helpers);
  for (const RankRequest &part : arrival.parts)
    if (!call.finished(part.rank, arrival.number))
      return {gc3Deadlock, call.deadlock()};
  for (const RankRequest &part : arrival.parts)
    call.leave(part.rank);
  if (first.isTimed)
    for (const RankRequest &part : arrival.parts)
      states[part.rank].timed.microseconds = stopwatch.microseconds();
  if (isReported)
    for (const RankRequest &part : arrival.parts)
      core::reportTime(options.call.reports,
                       {part.request, call.loadedProgram().program.get(), rankCount, static_cast<int>(part.rank)},
                       stopwatch.microseconds());
  return {};
}

Outcome HostBackend::saveTuneFile(const char *path) {
  if (!online)
    return Backend::saveTuneFile(path);
  return core::saveLearned(options.call.tune, path, online->learned());
}

void HostBackend::leave(bool aborts) {
  if (!aborts && --rest == 0 && online)
    core::saveLearnedAtEnd(options.call.tune, online->learned());
}

Outcome HostBackend::complete(const Arrival &arrival) {
  if (!arrival.refused.ok())
    return arrival.refused;
  struct Releaser { // on each return path, since other ranks would wait for a busy rank
    HostBackend &world;
    std::span<const RankRequest> parts;
    ~Releaser() { world.release(parts); }
  } releaser{*this, arrival.parts};
  return run(arrival);
}

core::Result<const char *> HostBackend::select(const core::Request &request) {
  if (online)
    return online->select(request);
  std::lock_guard lock(agreement);
  const core::Result<const core::LoadedProgram *> chosen = table.select(request);
  if (!chosen.ok())
    return chosen.outcome();
  return (*chosen)->program->info().name()->c_str();
}

} // namespace gc3::api
