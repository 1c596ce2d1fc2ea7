// SPDX-License-Identifier: Apache-2.0
// Joining costs one short critical section per thread. Waiting spins briefly, helping with the call as soon as it is
// open, then sleeps until the call ends or, if it has not begun by then, the timeout.
#include "api/World.h"

#include <chrono>
#include <exception>
#include <new>
#include <thread>

namespace gc3::api {

using host::Outcome;

namespace {
constexpr unsigned spinsBeforeSleep = 4000;
}

World::World(std::shared_ptr<const bundle::BundleFile> bundle, uint32_t rankCount, const WorldOptions &chosen)
    : file(std::move(bundle)), options(chosen), caller(*file, rankCount, chosen.caller), slots(rankCount),
      requests(rankCount) {}

World::Arrival World::arrive(const Entry *entries, size_t count) {
  Arrival arrival;
  arrival.rank = entries[0].rank;
  std::lock_guard lock(gate);
  arrival.refused = broken;
  for (size_t i = 0; i < count && arrival.refused.ok(); ++i)
    if (slots[entries[i].rank].joined)
      arrival.refused = {gc3InvalidUsage,
                         "rank " + std::to_string(entries[i].rank) + " is already in a call on another thread"};
  if (!arrival.refused.ok())
    return arrival;
  for (size_t i = 0; i < count; ++i) {
    slots[entries[i].rank].request = entries[i].request;
    slots[entries[i].rank].joined = true;
  }
  arrived += static_cast<uint32_t>(count);
  arrival.last = arrived == slots.size();
  arrival.before = generation.load(std::memory_order_relaxed);
  return arrival;
}

Outcome World::complete(const Arrival &arrival) {
  if (!arrival.refused.ok())
    return arrival.refused;
  if (arrival.last)
    runCall();
  else
    wait(arrival.before);
  return slots[arrival.rank].outcome;
}

void World::runCall() {
  for (size_t r = 0; r < slots.size(); ++r)
    requests[r] = slots[r].request;
  Outcome outcome;
  {
    std::lock_guard lock(callerMutex);
    try {
      outcome = caller.call(requests);
    } catch (const std::bad_alloc &) {
      outcome = {gc3SystemError, "out of memory"};
    } catch (const std::exception &error) {
      outcome = {gc3InternalError, error.what()};
    }
  }
  std::lock_guard lock(gate);
  finish(outcome);
}

/// Under the gate: every joined rank gets the outcome and leaves.
void World::finish(const Outcome &outcome) {
  for (Slot &slot : slots)
    if (slot.joined) {
      slot.outcome = outcome;
      slot.joined = false;
    }
  arrived = 0;
  generation.fetch_add(1, std::memory_order_seq_cst); // against `sleepers`: either we see the sleeper or it sees this
  if (sleepers.load(std::memory_order_seq_cst) != 0) {
    std::lock_guard lock(sleepMutex);
    ended.notify_all();
  }
}

void World::wait(uint64_t before) {
  auto over = [&] { return generation.load(std::memory_order_seq_cst) != before; };
  caller.workers().beginHelping();
  for (unsigned spins = 0; spins < spinsBeforeSleep && !over(); ++spins)
    if (caller.workers().help())
      spins = 0;
    else
      host::pauseSpin();
  caller.workers().endHelping();
  if (over())
    return;
  auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(options.timeoutMs);
  bool bounded = true;
  std::unique_lock lock(sleepMutex);
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  while (!over()) {
    if (!bounded)
      ended.wait(lock);
    else if (ended.wait_until(lock, deadline) == std::cv_status::timeout) {
      lock.unlock();
      bounded = giveUp(before);
      lock.lock();
    }
  }
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

/// At the deadline: ends a call that has not begun. False when it has, so that waiting for it is safe.
bool World::giveUp(uint64_t before) {
  std::lock_guard lock(gate);
  if (generation.load(std::memory_order_relaxed) != before)
    return true;
  if (arrived == slots.size())
    return false;
  std::string missing;
  uint32_t listed = 0;
  for (size_t r = 0; r < slots.size(); ++r)
    if (!slots[r].joined && ++listed <= 16)
      missing += (listed == 1 ? " " : ", ") + std::to_string(r);
  if (listed > 16)
    missing += " and " + std::to_string(listed - 16) + " more";
  std::string text = "after " + std::to_string(options.timeoutMs) + " ms these ranks have not made the call that " +
                     std::to_string(arrived) + " of " + std::to_string(slots.size()) + " ranks wait in:";
  finish({gc3Timeout, text + missing});
  broken = {gc3Timeout, "an earlier call has timed out: destroy the communicators and make new ones"};
  return true;
}

Outcome World::select(const host::Request &request, const char *&program) {
  std::lock_guard lock(callerMutex);
  host::LoadedProgram *chosen = nullptr;
  Outcome outcome = caller.select(request, chosen);
  if (outcome.ok())
    program = chosen->program->info().name()->c_str();
  return outcome;
}

} // namespace gc3::api
