// SPDX-License-Identifier: Apache-2.0
#include "nccl/Departures.h"

#include "nccl/Installed.h"

#include <system_error>
#include <utility>

namespace gc3::nccl {

bool Departures::begin(std::shared_ptr<const Entry> entry, const Engine &engine) {
  const Inside inside;
  if (!entry->attached.attachment)
    return true;
  const Comm comm = entry->member.comm;
  abandon(comm); // of a communicator that had this handle, and was never destroyed
  {
    std::lock_guard lock(mutex);
    Departing &departing = all[comm];
    departing.entry = entry;
    if (entry->own)
      try {
        departing.thread = std::thread(engine.elsewhere([this, entry]() mutable {
          const Inside inThread;
          giveBack(entry);
          entry = nullptr;
        }));
        entry = nullptr; // the thread's reference has to be the last one
        return true;
      } catch (const std::system_error &) { // then here
      }
  }
  const bool isGivenBack = giveBack(entry);
  entry = nullptr;
  return isGivenBack;
}

/// But for the reference of who calls.
bool Departures::giveBack(const std::shared_ptr<const Entry> &entry) {
  entry->attached.attachment->drain();
  const Result error = entry->attached.attachment->asyncError();
  std::shared_ptr<const Entry> known;
  std::lock_guard lock(mutex);
  const auto departing = all.find(entry->member.comm);
  if (departing == all.end() || departing->second.entry != entry)
    return false;
  known = std::exchange(departing->second.entry, nullptr);
  departing->second.error = error;
  return true;
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

/// Under the lock: a reference here might be the last one.
Result Departures::state(Comm comm) const {
  std::lock_guard lock(mutex);
  const auto departing = all.find(comm);
  if (departing == all.end())
    return Result::Success;
  const Entry *entry = departing->second.entry.get();
  if (!entry)
    return departing->second.error;
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
  return std::move(departing.mapped().entry);
}

} // namespace gc3::nccl
