// SPDX-License-Identifier: Apache-2.0
// The ranks of one group of communicators meeting for a call: each thread brings the requests of its ranks; who
// completes the set runs the call for all, the others help it or sleep.
#pragma once

#include "gc3.h"
#include "host/Caller.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace gc3::api {

struct WorldOptions {
  host::CallerOptions caller;
  uint32_t timeoutMs = 60000;
};

class World {
public:
  World(std::shared_ptr<const bundle::BundleFile> bundle, uint32_t rankCount, const WorldOptions &chosen);

  uint32_t ranks() const { return static_cast<uint32_t>(slots.size()); }

  struct Entry {
    uint32_t rank;
    host::Request request;
  };

  /// A thread's part in a call.
  struct Arrival {
    host::Outcome refused; ///< not ok: there is nothing to complete
    uint32_t rank = 0;     ///< one of those that arrived
    bool last = false;     ///< nobody else is missing
    uint64_t before = 0;
  };

  /// Joins with some ranks, no two alike, without waiting for others: so a thread can arrive in several worlds before
  /// it waits in any.
  Arrival arrive(const Entry *entries, size_t count);

  /// Returns when the call of all ranks has ended; its outcome is the same for all of them. After a call that timed out
  /// the ranks no longer agree on which call is which, so every later one fails at once.
  host::Outcome complete(const Arrival &arrival);

  /// Which program a request would run; waits for no other rank.
  host::Outcome select(const host::Request &request, const char *&program);

private:
  struct Slot {
    host::Request request;
    host::Outcome outcome;
    bool joined = false;
  };
  /// Held for a few instructions only, hence no mutex.
  class SpinLock {
  public:
    void lock() {
      for (unsigned spins = 0; taken.exchange(true, std::memory_order_acquire); ++spins)
        spins < 100 ? host::pauseSpin() : std::this_thread::yield();
    }
    void unlock() { taken.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> taken{false};
  };

  void runCall();
  void finish(const host::Outcome &outcome);
  void wait(uint64_t before);
  bool giveUp(uint64_t before);

  const std::shared_ptr<const bundle::BundleFile> file;
  const WorldOptions options;
  std::mutex callerMutex; ///< a query may come while a call runs
  host::Caller caller;
  SpinLock gate; ///< guards slots and arrived
  std::vector<Slot> slots;
  uint32_t arrived = 0;
  host::Outcome broken;                ///< not ok: a call has timed out
  std::vector<host::Request> requests; ///< of the running call, by rank
  std::atomic<uint64_t> generation{0}; ///< calls that have ended
  std::atomic<uint32_t> sleepers{0};
  std::mutex sleepMutex;
  std::condition_variable ended;
};

} // namespace gc3::api
