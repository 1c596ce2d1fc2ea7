// SPDX-License-Identifier: Apache-2.0
// Groups. The calls that a thread makes in a group are deferred until the group ends. Then calls on NCCL communicators
// run as one comm::CallGroup. Calls of ranks that share a GPU run in the order in which they were made. Calls on CPUs
// run in rounds: in each round, every communicator of a world (backend) that still has calls makes its next one. Worlds
// run on concurrent threads, so other threads and processes can make the calls of different worlds in different orders.
// The time is linear in the number of calls.
#include "api/CallLines.h"
#include "api/Concurrently.h"
#include "api/HostJoin.h"
#include "api/NcclBackend.h"
#include "core/Log.h"

#include <deque>
#include <unordered_map>

namespace gc3::api {

using core::Outcome;
using core::Request;

namespace {

struct DeferredCall {
  Use comm;
  Request request;
  std::string name; ///< copy of request.name, because the caller may free its string before the group ends
};

/// The calls and inits that a thread has deferred since the outermost gc3GroupStart.
struct Group {
  unsigned depth = 0;
  std::vector<NcclBackend::Init> inits;
  std::vector<HostJoin> joins;
  std::deque<DeferredCall> calls; // a deque does not move elements, so request.name stays valid
  Outcome failure;                // error of the first call that was refused when it was made
};

thread_local Group group;

/// The calls of one thread in one world, by round.
struct Rounds {
  Backend *backend;
  std::vector<std::vector<const DeferredCall *>> rounds;
};

/// One round of one world: `world` is an index in Sorted::worlds, and `round` an index in its `rounds`.
struct WorldRound {
  size_t world, round;
};

/// The calls of a group, except calls on NCCL communicators, by world and round. Worlds are in the order of their first
/// calls. The n-th call of a communicator is in the n-th round.
struct Sorted {
  std::vector<Rounds> worlds;
  std::vector<WorldRound> order; ///< rounds of all worlds, in the order of their first calls
};

Sorted sortCalls(std::deque<DeferredCall> &calls) {
  Sorted sorted;
  std::unordered_map<Backend *, size_t> worldOf;
  std::unordered_map<gc3Comm *, size_t> madeBy;
  for (DeferredCall &call : calls) {
    Backend *backend = call.comm->backend.get();
    if (backend->ofNccl())
      continue;
    auto [place, isNew] = worldOf.try_emplace(backend, sorted.worlds.size());
    if (isNew)
      sorted.worlds.push_back({backend, {}});
    Rounds &own = sorted.worlds[place->second];
    size_t round = madeBy[call.comm.get()]++;
    if (own.rounds.size() == round) {
      own.rounds.emplace_back();
      sorted.order.push_back({place->second, round});
    }
    own.rounds[round].push_back(&call);
  }
  return sorted;
}

Outcome complete(Backend &backend, const Backend::Arrival &arrival) {
  if (core::isInfoEnabled())
    logCalls(backend, arrival);
  return backend.complete(arrival);
}

std::vector<core::RankRequest> partsOf(const Rounds &world, size_t round) {
  std::vector<core::RankRequest> parts;
  for (const DeferredCall *call : world.rounds[round])
    parts.push_back({call->comm->rank, call->request});
  return parts;
}

Outcome finish(const Rounds &world, size_t round, const Backend::Arrival &arrival) {
  Outcome outcome = complete(*world.backend, arrival);
  for (const DeferredCall *call : world.rounds[round])
    report(call->comm.get(), outcome);
  return outcome;
}

/// Runs the calls on NCCL communicators. Returns the first error. After an error, still runs the later calls, because
/// other ranks run them.
Outcome runOnNccl(std::deque<DeferredCall> &calls) {
  std::vector<comm::CallGroup::Call> ncclCalls;
  std::vector<gc3Comm *> communicators; // the communicators of `ncclCalls`
  Outcome first;
  const auto note = [&](gc3Comm *comm, const Outcome &outcome) {
    report(comm, outcome);
    if (first.ok())
      first = outcome;
  };
  for (DeferredCall &call : calls) {
    NcclBackend *backend = call.comm->backend->ofNccl();
    if (!backend)
      continue;
    const core::RankRequest part{call.comm->rank, call.request};
    if (core::isInfoEnabled())
      logCalls(*backend, backend->arrive({&part, 1}));
    core::Result<std::optional<comm::CallGroup::Call>> own = backend->callOf(call.request);
    if (!own.ok()) {
      note(call.comm.get(), own.outcome());
    } else if (*own) {
      ncclCalls.push_back(std::move(**own));
      communicators.push_back(call.comm.get());
    }
  }
  comm::CallGroup::run(ncclCalls);
  for (size_t i = 0; i < ncclCalls.size(); ++i)
    note(communicators[i], ncclCalls[i].outcome);
  return first;
}

/// Runs the calls of worlds with streams one by one, in the order of the group. Returns the first error. After an
/// error, still runs the later calls.
Outcome runOnStreams(const Sorted &sorted) {
  Outcome first;
  for (const WorldRound &next : sorted.order) {
    const Rounds &world = sorted.worlds[next.world];
    if (!world.backend->takesStreams())
      continue;
    const std::vector<core::RankRequest> parts = partsOf(world, next.round);
    const Outcome outcome = finish(world, next.round, world.backend->arrive(parts));
    if (first.ok())
      first = outcome;
  }
  return first;
}

/// Runs the rounds of a world without streams until one fails. Returns its error.
Outcome runWorld(const Rounds &world) {
  Outcome outcome;
  for (size_t round = 0; round < world.rounds.size() && outcome.ok(); ++round) {
    const std::vector<core::RankRequest> parts = partsOf(world, round);
    outcome = finish(world, round, world.backend->arrive(parts));
  }
  return outcome;
}

/// Runs the worlds without streams. Returns the first error in the order of their first calls.
Outcome runOnCpus(const Sorted &sorted) {
  std::vector<const Rounds *> worlds;
  for (const Rounds &world : sorted.worlds)
    if (!world.backend->takesStreams())
      worlds.push_back(&world);
  return firstError(concurrently(worlds.size(), [&](size_t i) { return runWorld(*worlds[i]); }));
}

/// Creates the deferred communicators, then runs the deferred calls. Does neither if the group has refused a call.
/// Returns the first error in this order: creation of communicators, calls on NCCL communicators, calls on other
/// streams, worlds on CPUs in the order of their first calls.
gc3Result_t runGroup() {
  std::deque<DeferredCall> calls;
  calls.swap(group.calls);
  const std::vector<NcclBackend::Init> inits = std::exchange(group.inits, {});
  const std::vector<HostJoin> joins = std::exchange(group.joins, {});
  Outcome failure = std::exchange(group.failure, {});
  if (!failure.ok())
    return report(nullptr, failure);
  const Outcome initialised = inits.empty() ? Outcome{} : NcclBackend::join(inits), joined = join(joins);
  for (DeferredCall &call : calls)
    call.request.name = call.name;
  const Outcome onNccl = runOnNccl(calls);
  const Sorted sorted = sortCalls(calls);
  const Outcome onStreams = runOnStreams(sorted), onCpus = runOnCpus(sorted);
  for (const Outcome &outcome : {initialised, joined, onNccl, onStreams, onCpus})
    if (!outcome.ok())
      return report(nullptr, outcome);
  return gc3Success;
}

} // namespace

gc3Result_t refuse(gc3Comm *comm, gc3Result_t code, const char *text) {
  if (group.depth > 0 && group.failure.ok())
    group.failure = {code, text};
  return report(comm, code, text);
}

Outcome enqueue(const NcclBackend::Init &init) {
  if (group.depth == 0)
    return NcclBackend::join({&init, 1});
  group.inits.push_back(init);
  return {};
}

Outcome enqueue(HostJoin wanted) {
  if (group.depth == 0)
    return join({&wanted, 1});
  group.joins.push_back(std::move(wanted));
  return {};
}

gc3Result_t enqueue(gc3Comm *comm, const Request &request) {
  return guarded(comm, [&]() -> Outcome {
    if (!comm)
      return {refuse(nullptr, gc3InvalidArgument, "comm is null"), "comm is null"};
    if (group.depth > 0) {
      group.calls.push_back({Use(comm), request, std::string(request.name)});
      return {};
    }
    const core::RankRequest part{comm->rank, request};
    return complete(*comm->backend, comm->backend->arrive({&part, 1}));
  });
}

} // namespace gc3::api

extern "C" gc3Result_t gc3GroupStart(void) {
  ++gc3::api::group.depth;
  return gc3Success;
}

extern "C" gc3Result_t gc3GroupEnd(void) {
  using namespace gc3::api;
  if (group.depth == 0)
    return report(nullptr, gc3InvalidUsage, "gc3GroupEnd without gc3GroupStart");
  if (--group.depth > 0)
    return gc3Success;
  gc3Result_t result = gc3Success;
  gc3Result_t unexpected = guarded(nullptr, [&]() -> gc3::core::Outcome {
    result = runGroup();
    return {};
  });
  if (unexpected != gc3Success) { // memory ran out, perhaps before the deferred calls left the group
    group.calls.clear();
    group.inits.clear();
    group.joins.clear();
  }
  return result != gc3Success ? result : unexpected;
}
