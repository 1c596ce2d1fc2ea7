// SPDX-License-Identifier: Apache-2.0
// How ranks of a host communicator agree on a call: each process finds or prepares it from the requests of all ranks.
#include "api/HostBackend.h"

#include "core/Log.h"

#include <exception>
#include <new>
#include <stdexcept>

namespace gc3::api {

using core::Outcome;
using host::Entered;
using host::PreparedCall;
using host::Sharing;

/// Returns the prepared call if all ranks have announced the same one, else no value.
std::optional<Entered> HostBackend::findAgreed(const Arrival &arrival) const {
  PreparedCall *const call = states[arrival.parts[0].rank].call;
  if (!call)
    return std::nullopt;
  Sharing sharing = Sharing::Either;
  bool isMapped = !site.isWhole();
  for (uint32_t r = 0; r < site.ranks(); ++r) {
    const Announcement &announcement = board.announcement(r, arrival.number);
    if (announcement.call != call->id())
      return std::nullopt;
    sharing = sharing & announcement.sharing;
    isMapped = isMapped && announcement.isMapped();
  }
  return Entered{call, sharing != Sharing::None && isMapped ? sharing | Sharing::Mapped : sharing};
}

/// Returns whether no call can follow an error with which a call did not begin. Processes compute most of these errors
/// alike, because they follow from the requests and the bundle. But with online selection, processes have chosen by
/// their own requests, and these can differ.
bool HostBackend::endsAll(gc3Result_t code) const {
  const bool isCommon = code != gc3SystemError && code != gc3InternalError && code != gc3Timeout && code != gc3Deadlock;
  return !site.isWhole() && (!isCommon || online);
}

/// Returns the mapped arena of a rank of another process; null if the system refuses it.
const host::ArenaView *HostBackend::viewOf(uint32_t rank, const host::ArenaPlace &place) {
  View &view = views[rank];
  if (view.place != place) {
    view = {place, {}};
    core::Result<host::ArenaView> opened = host::ArenaView::open(site.otherProcesses()[rank], place);
    if (opened.ok())
      view.arena = std::move(*opened);
    else
      core::logOnce("buffers of another process can't be mapped: " + opened.outcome().text);
  }
  return view.arena ? &*view.arena : nullptr;
}

/// Passes the addresses of other processes' buffers to a prepared call that all ranks have announced.
void HostBackend::meetOthers(PreparedCall &call, uint64_t number, Sharing sharing) {
  std::lock_guard lock(meeting);
  if (std::exchange(metNumber, number) == number)
    return;
  for (uint32_t r = 0; r < site.ranks(); ++r) {
    if (site.owns(r))
      continue;
    const Announcement &announcement = board.announcement(r, number);
    core::Request request = call.request();
    request.send = announcement.send, request.recv = announcement.recv;
    int process = site.otherProcesses()[r];
    if (announcement.isMapped())
      if (const host::ArenaView *view = viewOf(r, announcement.arena)) {
        request.send = view->at(announcement.send), request.recv = view->at(announcement.recv);
        process = 0;
      }
    call.meet(r, announcement.placement, request, process, sharing);
  }
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

/// Returns an error if online selection has chosen differently on ranks of other processes.
Outcome HostBackend::compareChoices(uint64_t number) const {
  const uint64_t own = board.announcement(site.ownRanks()[0], number).choice;
  std::string different;
  for (uint32_t r = 0; r < site.ranks(); ++r)
    if (board.announcement(r, number).choice != own)
      different += (different.empty() ? "" : ", ") + std::to_string(r);
  if (different.empty())
    return {};
  return {gc3InternalError, "online selection has chosen differently on rank " + std::to_string(site.ownRanks()[0]) +
                                " and on these ranks: " + different};
}

/// Returns the prepared call with this id. All processes have prepared the same calls.
const PreparedCall &HostBackend::announcedCall(uint64_t id) const {
  if (const PreparedCall *known = table.withId(id))
    return *known;
  throw std::logic_error("a rank announces a call that this process has not prepared");
}

/// Returns the announced request of a rank. Requests of other processes have no scalars.
core::Request HostBackend::requestOf(uint32_t rank, uint64_t number) const {
  if (site.owns(rank))
    return *states[rank].request;
  const Announcement &announcement = board.announcement(rank, number);
  core::Request request =
      announcement.call != 0 ? announcedCall(announcement.call).request() : announcement.request.read();
  request.send = announcement.send, request.recv = announcement.recv;
  return request;
}

/// Begins call `number` for the ranks of this process in the table of prepared calls.
core::Result<Entered> HostBackend::begin(uint64_t number) {
  std::vector<core::Request> requests;
  std::vector<const PreparedCall *> entered; // entered by some ranks, which may already send
  bool isMapped = !site.isWhole();
  for (uint32_t r = 0; r < site.ranks(); ++r) {
    const Announcement &announcement = board.announcement(r, number);
    requests.push_back(requestOf(r, number));
    if (announcement.call != 0)
      entered.push_back(&announcedCall(announcement.call));
    isMapped = isMapped && announcement.isMapped();
  }
  if (!site.isWhole() && core::checkRequests(requests).ok()) // else the error of the requests is clearer
    if (Outcome outcome = compareChoices(number); !outcome.ok())
      return outcome;
  const OnlineCalls::Decision *decision = online ? online->decision(number) : nullptr;
  const std::optional<core::Arm> arm = decision ? std::optional(OnlineCalls::armOf(*decision)) : std::nullopt;
  core::Result<Entered> begun = table.begin(requests, number, entered, arm, isMapped);
  if (decision && begun.ok() && begun->call)
    online->note(*decision, begun->call);
  return begun;
}

} // namespace gc3::api
