// SPDX-License-Identifier: Apache-2.0
// A rank begins call n + 2 only after all ranks have begun call n + 1. So two slots are enough for decisions, and the
// rank that makes decision n + 2 can still read decision n.
#include "api/OnlineCalls.h"

#include "select/Digest.h"

#include <algorithm>
#include <limits>
#include <new>
#include <thread>
#include <utility>

namespace gc3::api {

using core::OnlineSelection;
using core::Request;
using host::PreparedCall;

namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

/// Locks a flag. Another thread holds it for less than a microsecond, unless it prepares a new kind of calls.
class Locked {
public:
  explicit Locked(std::atomic_flag &guard) : flag(guard) {
    constexpr unsigned pollsBeforeYield = 1000;
    for (unsigned polls = 0; flag.test_and_set(std::memory_order_acquire); ++polls)
      polls < pollsBeforeYield ? host::pauseSpin() : std::this_thread::yield();
  }
  ~Locked() { flag.clear(std::memory_order_release); }
  Locked(const Locked &) = delete;
  Locked &operator=(const Locked &) = delete;

private:
  std::atomic_flag &flag;
};

} // namespace

const OnlineCalls::Decision &OnlineCalls::decide(uint64_t number, const Request &request, const Reader &reader) {
  Slot &slot = slots[number % 2];
  if (slot.number.load(std::memory_order_acquire) != number) {
    const Locked lock(deciding);
    if (slot.number.load(std::memory_order_relaxed) != number)
      makeDecision(number, request, reader);
  }
  return slot.decision;
}

/// If memory runs out, the arm of the call is fixed. Ranks may then repeat it without asking for a decision.
void OnlineCalls::makeDecision(uint64_t number, const Request &request, const Reader &reader) {
  Slot &slot = slots[number % 2];
  Decision decision;
  try {
    addTimes(number, reader);
    Site *const site = findSite(request, slots[(number + 1) % 2].decision.site);
    if (site)
      decision = {site, selection.choose(site->kind(), site->place)};
  } catch (const std::bad_alloc &) {
    decision = {};
  }
  slot.decision = decision;
  slot.isPending = true;
  slot.number.store(number, std::memory_order_release);
}

/// Adds the times of the calls before `number` - 1.
void OnlineCalls::addTimes(uint64_t number, const Reader &reader) {
  const TimedCall timed = reader.lastTimed(number - 1);
  for (Slot &slot : slots) {
    const uint64_t made = slot.number.load(std::memory_order_relaxed);
    if (!slot.decision.site || !slot.isPending || made + 1 >= number)
      continue;
    slot.isPending = false;
    if (made == timed.number)
      addTime(slot.decision, timed);
    else
      selection.add(slot.decision.choice, unknown);
  }
}

/// Adds the time to the place and the traffic that the call had. The choice may have expected others.
void OnlineCalls::addTime(const Decision &decision, const TimedCall &timed) {
  Site &site = *decision.site;
  site.place = timed.isInPlace ? core::CallPlace::InPlace : core::CallPlace::Apart;
  site.traffic = timed.isShared ? core::Traffic::Shared : core::Traffic::Alone;
  selection.add(decision.choice, timed.microseconds, site.kind(), select::Timing::Cheap);
}

/// Returns the site of a request. Returns null if its arm is fixed, or if the call is an error.
OnlineCalls::Site *OnlineCalls::findSite(const Request &request, const Site *inUse) {
  for (size_t i = 0; i < sites.size(); ++i) {
    const size_t at = (lastSite + i) % sites.size();
    if (sites[at].request.matches(request)) {
      lastSite = at;
      return sites[at].kind().family ? &sites[at] : nullptr;
    }
  }
  return makeSite(request, inUse);
}

/// Keeps `inUse`, because ranks can still read it.
OnlineCalls::Site *OnlineCalls::makeSite(const Request &request, const Site *inUse) {
  std::lock_guard guard(agreement);
  if (isEmpty(request) || !core::checkRequest(request, 0, table.rankCount()).ok())
    return nullptr; // there is nothing to run, or the call reports the error
  const core::Result<OnlineSelection::Kind> kind = selection.find(request);
  if (!kind.ok())
    return nullptr; // the call reports the error
  Site made{std::string(request.name), request, {*kind, *selection.find(request, core::Traffic::Shared)}, {}, 0};
  if (kind->family) {
    made.calls.resize(kind->family->arms.size());
    made.place = selection.usualPlace(*kind);
  }
  if (sites.size() < mostSites) {
    sites.emplace_back();
    lastSite = sites.size() - 1;
  } else {
    if (&sites[oldest] == inUse)
      oldest = (oldest + 1) % mostSites;
    lastSite = std::exchange(oldest, (oldest + 1) % mostSites);
  }
  Site &site = sites[lastSite];
  site = std::move(made);
  site.request.name = site.name;
  return site.kind().family ? &site : nullptr;
}

uint64_t OnlineCalls::hashOf(const Decision &decision) {
  const core::Arm arm = armOf(decision);
  const uint64_t run = select::mix(arm.program, static_cast<uint8_t>(arm.shape.tile));
  return select::mix(run, select::mix(decision.choice.favourite, decision.choice.repeats)) | 1;
}

void OnlineCalls::note(const Decision &decision, PreparedCall *call) {
  Site &site = *decision.site;
  if (site.retirements != table.retirements())
    std::fill(site.calls.begin(), site.calls.end(), nullptr);
  site.retirements = table.retirements();
  site.calls[decision.choice.arm] = call;
}

core::Result<const char *> OnlineCalls::select(const Request &request) {
  const Locked lock(deciding);
  std::lock_guard guard(agreement);
  const core::Result<OnlineSelection::Kind> kind = selection.find(request);
  if (!kind.ok())
    return kind.outcome();
  if (kind->family)
    return selection.nameOf(selection.favourite(*kind, core::CallPlace::Apart).program);
  const core::Result<const core::LoadedProgram *> fixed = table.select(request);
  if (!fixed.ok())
    return fixed.outcome();
  return (*fixed)->program->info().name()->c_str();
}

OnlineSelection::Counters OnlineCalls::counters() {
  const Locked lock(deciding);
  return selection.counters();
}

select::TuneFile OnlineCalls::learned() {
  const Locked lock(deciding);
  return selection.learned();
}

} // namespace gc3::api
