// SPDX-License-Identifier: Apache-2.0
// Groups: calls noted per thread, then run in rounds. In a round each group of ranks takes the next call of each of its
// communicators that this thread has noted, so that a thread may hold any subset of the ranks.
#include "api/Handles.h"

#include <algorithm>
#include <deque>

namespace gc3::api {

using host::Outcome;
using host::Request;

namespace {

struct Noted {
  gc3Comm *comm;
  Request request;
  std::string name; ///< what request.name views once the caller's string is gone
};

/// What a thread has noted since the outermost gc3GroupStart.
struct Group {
  unsigned depth = 0;
  std::deque<Noted> calls; // elements do not move, so that request.name stays valid
};

thread_local Group group;

/// The first call of each communicator of the first call's world; taken out of `calls`, which keeps its order.
std::vector<Noted> takeRound(std::deque<Noted> &calls) {
  World *world = calls.front().comm->world.get();
  std::vector<Noted> round;
  std::deque<Noted> rest;
  for (Noted &call : calls) {
    bool taken = std::any_of(round.begin(), round.end(), [&](const Noted &other) { return other.comm == call.comm; });
    if (call.comm->world.get() == world && !taken)
      round.push_back(std::move(call));
    else
      rest.push_back(std::move(call));
  }
  calls.swap(rest);
  return round;
}

gc3Result_t runRound(std::vector<Noted> &round) {
  std::vector<World::Entry> entries;
  for (Noted &call : round) {
    call.request.name = call.name;
    entries.push_back({call.comm->rank, call.request});
  }
  Outcome outcome = round[0].comm->world->join(entries.data(), entries.size());
  gc3Result_t result = gc3Success;
  for (const Noted &call : round)
    result = report(call.comm, outcome);
  return result;
}

} // namespace

gc3Result_t enqueue(gc3Comm *comm, const Request &request) {
  return guarded(comm, [&]() -> Outcome {
    if (!comm)
      return {gc3InvalidArgument, "comm is null"};
    if (group.depth > 0) {
      group.calls.push_back({comm, request, std::string(request.name)});
      return {};
    }
    World::Entry entry{comm->rank, request};
    return comm->world->join(&entry, 1);
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
  gc3Result_t guardResult = guarded(nullptr, [&]() -> gc3::host::Outcome {
    std::deque<Noted> calls;
    calls.swap(group.calls);
    while (!calls.empty() && result == gc3Success) {
      std::vector<Noted> round = takeRound(calls);
      result = runRound(round);
    }
    return {};
  });
  return result != gc3Success ? result : guardResult;
}
