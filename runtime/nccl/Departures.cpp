// SPDX-License-Identifier: Apache-2.0
#include "nccl/Departures.h"

#include "nccl/Installed.h"

#include <exception>
#include <utility>

namespace gc3::nccl {

std::shared_ptr<const Entry> Departures::note(const std::shared_ptr<const Entry> &entry) {
  std::shared_ptr<const Entry> stale = abandon(entry->member.comm);
  std::lock_guard lock(mutex);
  Departing &departing = all[entry->member.comm];
  departing.entry = entry;
  departing.isAborted = entry->abortFlag();
  departing.own = entry->own;
  return stale;
}

bool Departures::begin(std::shared_ptr<const Entry> entry, const Engine &engine) {
  const Inside inside;
  if (entry->own)
    try {
      auto work = engine.elsewhere([this, entry]() mutable {
        const Inside inThread;
        giveBack(std::move(entry));
      });
      std::lock_guard lock(mutex);
      const auto departing = all.find(entry->member.comm);
      if (departing == all.end() || departing->second.entry != entry)
        return false;
      departing->second.thread = std::thread(std::move(work));
      entry = nullptr; // the thread's reference has to be the last one
      return true;
    } catch (const std::exception &) { // then here
    }
  return giveBack(std::move(entry));
}

/// An abort may come at any time.
bool Departures::giveBack(std::shared_ptr<const Entry> entry) {
  entry->attached.attachment->drain();
  const Result error = entry->attached.attachment->asyncError();
  const AbortFlag isAborted = entry->abortFlag();
  std::shared_ptr<const Entry> known;
  {
    std::lock_guard lock(mutex);
    const auto departing = all.find(entry->member.comm);
    if (departing == all.end() || departing->second.entry != entry)
      return false;
    known = std::exchange(departing->second.entry, nullptr);
    departing->second.error = error;
  }
  entry->asked.awaitEnd();
  known = nullptr;
  entry = nullptr;
  return !*isAborted;
}

bool Departures::await(Comm comm) {
  std::thread thread;
  {
    std::lock_guard lock(mutex);
    if (const auto departing = all.find(comm); departing != all.end())
      thread = std::move(departing->second.thread);
  }
  const bool isAwaited = thread.joinable();
  if (isAwaited)
    thread.join();
  std::lock_guard lock(mutex);
  return all.erase(comm) != 0 || !isAwaited;
}

Result Departures::state(Comm comm) const {
  Asking<const Entry> entry;
  {
    std::lock_guard lock(mutex);
    const auto departing = all.find(comm);
    if (departing == all.end())
      return Result::Success;
    if (!departing->second.entry)
      return departing->second.error;
    entry = Asking(departing->second.entry, departing->second.entry->asked);
  }
  const Result error = entry->attached.attachment->asyncError();
  return error == Result::Success && entry->own ? Result::InProgress : error;
}

std::shared_ptr<const Entry> Departures::abandon(Comm comm) {
  std::lock_guard lock(mutex);
  auto departing = all.extract(comm);
  if (!departing)
    return nullptr;
  if (departing.mapped().thread.joinable())
    departing.mapped().thread.detach();
  if (!departing.mapped().entry) { // the attachment is going, but looks at its flag; what waits in NCCL ends
    *departing.mapped().isAborted = true;
    if (const std::shared_ptr<OwnComm> own = departing.mapped().own.lock())
      own->abort();
  }
  return std::move(departing.mapped().entry);
}

} // namespace gc3::nccl
