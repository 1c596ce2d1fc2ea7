// SPDX-License-Identifier: Apache-2.0
// Memory order: a rank writes the rest of its announcement and enters the prepared call. Only then does it store the
// call's number, with release order. So a thread that loads this number with acquire order can read the announcement
// and the prepared call.
#include "api/HostBackend.h"

#include "api/RemoteAnnouncement.h"
#include "core/Log.h"
#include "core/TunerTimes.h"

#include <chrono>
#include <cmath>
#include <limits>

namespace gc3::api {

using core::Outcome;
using core::RankRequest;
using host::Entered;
using host::PreparedCall;
using host::Sharing;

core::Result<std::shared_ptr<HostBackend>> HostBackend::make(std::shared_ptr<const bundle::BundleFile> bundle,
                                                             host::Site site, std::shared_ptr<host::Neighbours> keeper,
                                                             const HostBackendOptions &chosen) {
  const bundle::BundleFile *const files[] = {bundle.get()};
  core::logWiring(files, site.ranks(), chosen.call.wiring, chosen.call.reports.name);
  host::SiteMemory memory;
  if (Outcome outcome = memory.reserve(site, Board::bytes(site.ranks())); !outcome.ok())
    return outcome;
  return std::shared_ptr<HostBackend>(
      new HostBackend(std::move(bundle), std::move(site), std::move(keeper), std::move(memory), chosen));
}

HostBackend::HostBackend(std::shared_ptr<const bundle::BundleFile> bundle, host::Site ranks,
                         std::shared_ptr<host::Neighbours> keeper, host::SiteMemory memory,
                         const HostBackendOptions &chosen)
    : file(std::move(bundle)), options(chosen), others(std::move(keeper)), site(std::move(ranks)),
      boardMemory(std::move(memory)), board(boardMemory.data(), site.ranks()), states(new RankState[site.ranks()]),
      rest(static_cast<uint32_t>(site.ownRanks().size())), views(site.ranks()), table(*file, site, chosen.call) {
  if (!site.isWhole())
    site.watchEnd(board.hasEnded());
  if (transport())
    transport()->setAnnouncements(*this);
  if (options.call.tune.isOnline)
    online.emplace(table, agreement);
}

HostBackend::~HostBackend() {
  if (transport())
    transport()->close(!board.hasEnded().load(std::memory_order_seq_cst));
}

void HostBackend::release(std::span<const RankRequest> parts) {
  for (const RankRequest &part : parts) {
    if (part.rank == site.ownRanks()[0])
      inFlight.end();
    board.busy(part.rank).store(false, std::memory_order_release);
  }
}

HostBackend::Arrival HostBackend::arrive(std::span<const RankRequest> parts) {
  Arrival arrival{{}, parts, 0};
  for (const RankRequest &part : parts)
    if (!site.isWhole() && !RequestRecord::fits(part.request)) {
      arrival.refused = {gc3InvalidArgument, "between processes, the text of a collective has at most " +
                                                 std::to_string(RequestRecord::mostNameBytes) + " bytes"};
      return arrival;
    }
  for (size_t i = 0; i < parts.size(); ++i)
    if (board.busy(parts[i].rank).exchange(true, std::memory_order_seq_cst)) {
      release(parts.first(i));
      arrival.refused = {gc3InvalidUsage,
                         "rank " + std::to_string(parts[i].rank) + " is already in a call on another thread"};
      return arrival;
    }
  arrival.refused = findFailure();
  if (!arrival.refused.ok()) {
    release(parts);
    return arrival;
  }
  for (const RankRequest &part : parts) {
    if (part.rank == site.ownRanks()[0])
      inFlight.begin();
    announce(part);
  }
  board.waiting().wake();
  arrival.number = states[parts[0].rank].number;
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
  Announcement &announcement = board.announcement(part.rank, number);
  core::Placement placement{};
  PreparedCall *const call = state.call = findPrepared(state, part, placement);
  state.request = &part.request;
  // Other ranks may read this cache line, so fields are written only if they change.
  assignIfChanged(announcement.call, call ? call->id() : 0);
  assignIfChanged(announcement.sharing, call ? call->sharing(part.rank, placement) : Sharing::None);
  if (online) {
    assignIfChanged(announcement.timed, state.timed);
    if (state.isTimed)
      state.timed = {number, std::numeric_limits<float>::quiet_NaN(), placement != core::Placement::Apart, false};
  }
  if (!site.isWhole())
    describe(part, placement, announcement);
  if (call)
    call->enter(part.rank, number, part.request, placement);
  if (transport())
    transport()->announce(part.rank, number, writeAnnouncement(announcement));
  announcement.number.store(number, std::memory_order_release);
}

/// Stores the announcement of a rank of another host, unless a process of this host has claimed it. The thread that
/// stores it wakes the others.
bool HostBackend::receive(uint32_t rank, uint64_t number, std::span<const std::byte> data) {
  const Board::Claim claim = board.claim(rank, number);
  if (claim != Board::Claim::Own)
    return claim == Board::Claim::Known;
  Announcement &announcement = board.announcement(rank, number);
  if (!readAnnouncement(data, announcement))
    return false;
  announcement.number.store(number, std::memory_order_release);
  board.waiting().wake();
  return true;
}

/// Announces what other processes must know of a rank's call.
void HostBackend::describe(const RankRequest &part, core::Placement placement, Announcement &announcement) const {
  const OnlineCalls::Decision *const decision = online ? online->decision(states[part.rank].number) : nullptr;
  assignIfChanged(announcement.choice, decision ? OnlineCalls::hashOf(*decision) : 0);
  assignIfChanged(announcement.send, part.request.send);
  assignIfChanged(announcement.recv, part.request.recv);
  assignIfChanged(announcement.arena, host::arena::place());
  assignIfChanged(announcement.placement, placement);
  if (!states[part.rank].call)
    announcement.request.write(part.request);
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
  OnlineCalls::TimedCall last = board.announcement(0, number).timed;
  for (uint32_t r = 1; r < site.ranks(); ++r) {
    const OnlineCalls::TimedCall &timed = board.announcement(r, number).timed;
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
  if (Outcome outcome = await(arrival); !outcome.ok())
    return outcome;
  std::optional<Entered> entered = findAgreed(arrival);
  RankState &first = states[arrival.parts[0].rank];
  if (first.isTimed && inFlight.areOthers())
    for (const RankRequest &part : arrival.parts)
      states[part.rank].timed.isShared = true;
  const bool isReported = core::wantsTime(options.call.reports, arrival.parts[0].request);
  const Stopwatch stopwatch(entered && (first.isTimed || isReported));
  if (!entered) {
    const core::Result<Entered> agreed = agree(arrival.number);
    if (!agreed.ok())
      return endsAll(agreed.outcome().code) ? fail(agreed.outcome()) : agreed.outcome();
    if (!agreed->call)
      return {};
    entered = *agreed;
    for (const RankRequest &part : arrival.parts)
      noteAgreed(states[part.rank], arrival.number, entered->call);
  }
  PreparedCall &call = *entered->call;
  if (!site.isWhole() && entered->sharing != Sharing::None)
    meetOthers(call, arrival.number, entered->sharing);
  uint32_t helpers = arrival.parts.size() == site.ownRanks().size() ? table.helpers(call) : 0;
  workOn(call, arrival.number, entered->sharing, arrival.parts, pool, helpers);
  for (const RankRequest &part : arrival.parts)
    if (!call.finished(part.rank, arrival.number))
      return site.isWhole() ? call.failure() : fail(call.failure());
  for (const RankRequest &part : arrival.parts)
    call.leave(part.rank);
  if (first.isTimed)
    for (const RankRequest &part : arrival.parts)
      states[part.rank].timed.microseconds = stopwatch.microseconds();
  if (isReported)
    for (const RankRequest &part : arrival.parts)
      core::reportTime(options.call.reports,
                       {part.request, call.loadedProgram().program.get(), site.ranks(), static_cast<int>(part.rank)},
                       stopwatch.microseconds());
  return {};
}

Outcome HostBackend::saveTuneFile(const char *path) {
  if (!online)
    return Backend::saveTuneFile(path);
  return core::saveLearned(options.call.tune, path, online->learned());
}

void HostBackend::leave(bool aborts) {
  if (aborts && others) {
    board.hasEnded().store(true, std::memory_order_seq_cst);
    others->reportFailure({gc3InvalidUsage, "the rank was aborted"});
  }
  if (!aborts && --rest == 0 && online && site.owns(0))
    core::saveLearnedAtEnd(options.call.tune, [this] { return online->learned(); });
}

Outcome HostBackend::complete(const Arrival &arrival) {
  if (!arrival.refused.ok())
    return arrival.refused;
  struct Releaser { // on each return path, since other ranks would wait for a busy rank
    HostBackend &world;
    std::span<const RankRequest> parts;
    ~Releaser() { world.release(parts); }
  } releaser{*this, arrival.parts};
  const Outcome outcome = run(arrival);
  const Outcome drained = drain();
  return outcome.ok() ? drained : outcome;
}

/// Hands over to the system what other hosts wait for, because this process may make no progress until its next call.
Outcome HostBackend::drain() {
  if (!transport() || hasFailed.load(std::memory_order_acquire))
    return {};
  const Outcome drained = transport()->drain(std::chrono::milliseconds(options.timeoutMs));
  return drained.ok() ? drained : fail(drained);
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
