// SPDX-License-Identifier: Apache-2.0
#include "api/Meeting.h"

#include "api/HostBackend.h"

#include <chrono>
#include <exception>
#include <new>

namespace gc3::api {

using core::Outcome;

std::shared_ptr<Meeting> Meeting::of(const std::string &communicator) {
  static std::mutex mutex;
  static auto &meetings =
      *new std::map<std::string, std::weak_ptr<Meeting>>; // never destroyed: threads can outlive main
  std::lock_guard lock(mutex);
  std::erase_if(meetings, [](const auto &entry) { return entry.second.expired(); });
  std::shared_ptr<Meeting> meeting = meetings[communicator].lock();
  if (!meeting)
    meetings[communicator] = meeting = std::make_shared<Meeting>();
  return meeting;
}

Meeting::Made Meeting::arrive(std::unique_ptr<job::Assembly> own, size_t expected, const Make &make) {
  constexpr std::chrono::milliseconds interval{20}; // between checks for losses
  const uint32_t rank = own->rank();
  std::unique_lock lock(mutex);
  const job::Assembly &assembly = *(arrived[rank] = std::move(own));
  if (arrived.size() == expected) {
    std::vector<std::unique_ptr<job::Assembly>> ownRanks;
    for (auto &[number, connection] : arrived)
      ownRanks.push_back(std::move(connection));
    arrived.clear();
    try {
      made = make(std::move(ownRanks));
    } catch (const std::bad_alloc &) {
      made = Outcome{gc3SystemError, "out of memory"};
    } catch (const std::exception &error) {
      made = Outcome{gc3InternalError, error.what()};
    }
    changed.notify_all();
    return *made;
  }
  while (!changed.wait_for(lock, interval, [&] { return made.has_value(); }))
    if (const job::Loss *loss = assembly.loss()) {
      const Outcome outcome{gc3RemoteError, job::describe(*loss)};
      arrived.erase(rank);
      return outcome;
    }
  return *made;
}

} // namespace gc3::api
