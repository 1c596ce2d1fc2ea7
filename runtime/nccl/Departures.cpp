// SPDX-License-Identifier: Apache-2.0
#include "nccl/Departures.h"

#include "ncclapi/Installed.h"
#include "shim/Guarded.h"

#include <exception>
#include <thread>
#include <utility>

namespace gc3::nccl {

std::shared_ptr<const Entry> Departures::note(std::shared_ptr<const Entry> entry) {
  const Comm comm = entry->member.comm;
  std::shared_ptr<const Entry> stale = abandon(comm);
  auto departing = std::make_shared<Departing>();
  departing->own = entry->own;
  departing->isAborted = entry->abortFlag();
  departing->blocks = !entry->own || entry->blocking.surely;
  departing->entry = std::move(entry);
  std::lock_guard lock(mutex);
  all[comm] = std::move(departing);
  return stale;
}

std::shared_ptr<Departures::Departing> Departures::find(Comm comm) const {
  std::lock_guard lock(mutex);
  const auto departing = all.find(comm);
  return departing == all.end() ? nullptr : departing->second;
}

bool Departures::begin(Comm comm, const Engine &engine, bool awaits) {
  const std::shared_ptr<Departing> departing = find(comm);
  if (!departing)
    return false;
  bool isElsewhere = false;
  if (departing->own)
    try {
      std::thread(engine.elsewhere([this, departing] {
        const Inside inThread;
        giveBack(*departing);
      })).detach();
      isElsewhere = true;
    } catch (const std::exception &) { // then here
    }
  const Inside inside;
  if (!isElsewhere)
    giveBack(*departing);
  return isElsewhere && !departing->blocks && !awaits ? true : await(*departing);
}

void Departures::giveBack(Departing &departing) {
  const Result result = guarded([&] {
    tryToGiveBack(departing);
    return Result::Success;
  });
  std::shared_ptr<const Entry> left; // only where that failed
  std::lock_guard lock(mutex);
  if (departing.isAbandoned)
    return;
  left = std::move(departing.entry);
  if (result != Result::Success)
    departing.error = result;
  departing.isAsked = false;
  departing.hasEnded = true;
  changed.notify_all();
}

/// An abort may come at any time; what is left is its own to end then. And whoever has asked for the state may still be
/// doing so.
void Departures::tryToGiveBack(Departing &departing) {
  std::shared_ptr<const Entry> entry;
  std::unique_lock lock(mutex);
  entry = departing.entry;
  if (departing.isAbandoned)
    return;
  lock.unlock();
  Attachment &attachment = *entry->attached.attachment;
  attachment.drain();
  const Result error = attachment.asyncError();
  lock.lock();
  if (departing.isAbandoned)
    return;
  departing.error = error;
  departing.isAsked = false;
  lock.unlock();
  entry->asked.awaitEnd();
  attachment.giveBack();
  lock.lock();
  if (departing.isAbandoned)
    return;
  departing.entry = nullptr;
  lock.unlock();
  entry = nullptr;
  if (departing.own)
    departing.own->leave();
}

bool Departures::await(const Departing &departing) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return departing.hasEnded || departing.isAbandoned; });
  return !departing.isAbandoned;
}

bool Departures::await(Comm comm) {
  const std::shared_ptr<Departing> departing = find(comm);
  if (!departing)
    return true;
  if (!await(*departing))
    return false;
  std::lock_guard lock(mutex);
  all.erase(comm);
  return true;
}

Result Departures::state(Comm comm) const {
  Asking<const Entry> entry;
  bool blocks = false;
  {
    std::lock_guard lock(mutex);
    const auto found = all.find(comm);
    if (found == all.end())
      return Result::Success;
    const Departing &departing = *found->second;
    blocks = departing.blocks;
    if (!departing.isAsked)
      return departing.error == Result::Success && !blocks && !departing.hasEnded ? Result::InProgress
                                                                                  : departing.error;
    entry = Asking(departing.entry, departing.entry->asked);
  }
  const Result error = entry->attached.attachment->asyncError();
  return error == Result::Success && !blocks ? Result::InProgress : error;
}

std::shared_ptr<const Entry> Departures::abandon(Comm comm) {
  std::lock_guard lock(mutex);
  const auto found = all.extract(comm);
  if (!found)
    return nullptr;
  Departing &departing = *found.mapped();
  departing.isAbandoned = true;
  changed.notify_all();
  if (!departing.entry) { // the attachment is going, but looks at its flag; what waits in NCCL ends
    *departing.isAborted = true;
    if (departing.own)
      departing.own->abort();
  }
  return std::move(departing.entry);
}

} // namespace gc3::nccl
