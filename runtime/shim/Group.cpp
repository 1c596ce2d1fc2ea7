// SPDX-License-Identifier: Apache-2.0
#include "shim/Group.h"

#include "core/Log.h"
#include "ncclapi/Installed.h"

#include <algorithm>
#include <future>
#include <utility>

namespace gc3::shim {

using core::Outcome;

namespace {

/// Returns true for errors. InProgress is no error: NCCL completes a call on a non-blocking communicator later.
bool isError(Result result) {
  return result != Result::Success && result != Result::InProgress;
}

constexpr auto any = [](const auto &) { return true; };

/// Logs the call's error, if there is one, because an NCCL result code has no details. Returns the result code.
Result report(const comm::CallGroup::Call &call) {
  if (!call.outcome.ok())
    core::logOnce("rank " + std::to_string(call.comm->rank()) + ": " + call.outcome.text);
  return resultOf(call.outcome);
}

/// Lets NCCL run those deferred calls of a group that no program runs.
class NcclFallback final : public comm::CallGroup::Fallback {
public:
  using Call = comm::CallGroup::Call;
  /// `made[i]` is the application's call for `calls[i]`, a call of the group.
  NcclFallback(std::span<const CollectiveCall *const> made, std::span<const Call> calls) : made(made), calls(calls) {}

  comm::CallChoice choose(const Call &call) override { return Interposer::choose(*call.comm, applicationCall(call)); }
  /// Forwards the calls to NCCL. If there are several, forwards them in one NCCL group. Waits until NCCL has enqueued
  /// them.
  Outcome run(std::span<Call *const> ncclCalls) override {
    const Result result =
        ncclCalls.size() == 1 ? forward(applicationCall(*ncclCalls.front())) : forwardTogether(ncclCalls);
    if (isError(result))
      return outcomeOf(result, "a call that NCCL runs");
    for (const Call *call : ncclCalls)
      if (result == Result::InProgress)
        if (Outcome outcome = call->comm->awaitParent(); !outcome.ok())
          return outcome;
    return {};
  }

private:
  Result forwardTogether(std::span<Call *const> ncclCalls) const {
    Result first = callInstalled<Function::GroupStart>();
    if (isError(first))
      return first;
    for (const Call *call : ncclCalls)
      if (const Result forwarded = forward(applicationCall(*call)); isError(forwarded) && !isError(first))
        first = forwarded;
    const Result ended = callInstalled<Function::GroupEnd>();
    return isError(first) ? first : ended;
  }
  const CollectiveCall &applicationCall(const Call &call) const {
    return *made[static_cast<size_t>(&call - calls.data())];
  }

  const std::span<const CollectiveCall *const> made;
  const std::span<const Call> calls;
};

} // namespace

/// Creates a second group if the thread's own group is already destroyed: PyTorch destroys communicators in destructors
/// of static objects, which run after those of thread-local objects.
Group &Group::ofThisThread() {
  thread_local constinit Group *current = nullptr;
  struct Owner {
    Owner() { current = group.get(); }
    ~Owner() { current = nullptr; }
    const std::unique_ptr<Group> group = std::make_unique<Group>();
  };
  thread_local const Owner owner;
  if (!current)
    current = new Group; // lives until the process exits
  return *current;
}

Result Group::start() {
  const Result result = callInstalled<Function::GroupStart>();
  depth += isError(result) ? 0 : 1;
  return result;
}

Result Group::end() {
  if (depth > 0)
    --depth; // even if this end fails, because NCCL counts a failed end, too
  const Result result = callInstalled<Function::GroupEnd>();
  if (depth > 0)
    return result;
  Group ended = std::exchange(*this, Group()); // so the thread's group is empty even after an exception
  ended.addWindows(result);
  const Result finished = isError(result) ? result : ended.finish(result);
  ended.destroyOperations(any);
  return finished;
}

Result Group::simulateEnd(SimInfo *info) {
  if (depth > 0)
    --depth;
  if (depth > 0)
    return callInstalled<Function::GroupSimulateEnd>(info);
  Group ended = std::exchange(*this, Group());
  ended.forward(any);
  const Result result = callInstalled<Function::GroupSimulateEnd>(info);
  ended.destroyOperations(any);
  return isError(result) ? result : isError(ended.failure) ? ended.failure : result;
}

Result Group::call(const CollectiveCall &call, std::shared_ptr<Communicator> communicator) {
  Deferred made{call, std::move(communicator)};
  const Communicator::Status status = made.communicator->status();
  if (!isBeforeReady(status.phase) && status.error.ok()) {
    made.choice = Interposer::choose(*made.communicator, call);
    if (!made.choice->program && !made.choice->kind.family) {
      if (isOpen())
        forwardedTo.push_back(std::move(made.communicator));
      return ncclapi::forward(call);
    }
  }
  if (isOpen()) {
    deferred.push_back(std::move(made));
    return Result::Success;
  }
  Group single; // for this call alone, because no NCCL group is open
  single.deferred.push_back(std::move(made));
  return single.runDeferred();
}

/// Runs the deferred calls after NCCL's part of the group. If communicators are non-blocking, first waits until NCCL
/// has enqueued its part, so that the order is the same on all ranks.
Result Group::finish(Result ncclResult) {
  if (ncclResult == Result::InProgress && !deferred.empty())
    if (const Outcome late = awaitNccl(); !late.ok()) {
      for (const Deferred &each : deferred) // fails them, because other ranks may run the calls
        each.communicator->fail(
            {gc3Timeout, "its last group was dropped on this rank: NCCL's part of the group reached the timeout"});
      return resultOf(late);
    }
  const Result ran = runDeferred();
  return isError(ran) ? ran : isError(failure) ? failure : ncclResult;
}

Outcome Group::awaitNccl() const {
  std::vector<Communicator *> all;
  for (const auto &each : forwardedTo)
    all.push_back(each.get());
  for (const Deferred &each : deferred)
    all.push_back(each.communicator.get());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (Communicator *each : all)
    if (Outcome outcome = each->awaitParent(); !outcome.ok())
      return outcome;
  return {};
}

Result Group::runDeferred() const {
  std::vector<comm::CallGroup::Call> calls;
  std::vector<const CollectiveCall *> made; // the application's call for each of `calls`
  for (const Deferred &each : deferred) {
    calls.push_back({each.communicator, requestOf(each.call)});
    if (each.choice)
      calls.back().set(*each.choice);
    made.push_back(&each.call);
  }
  NcclFallback fallback(made, calls);
  comm::CallGroup::run(calls, &fallback);
  Result first = Result::Success;
  for (const comm::CallGroup::Call &each : calls)
    if (const Result result = report(each); first == Result::Success)
      first = result;
  return first;
}

void Group::addWindow(Registration registration, Result result) {
  registrations.push_back(std::move(registration));
  if (!isOpen())
    addWindows(result);
}

/// The handles are known only if `ncclResult`, the result of the registrations, is Success. Adds the windows of several
/// ranks concurrently, because a rank can wait for the others (UserWindows::add). Adds those of one rank in the order
/// of their registrations, because their numbers must be identical on all ranks.
void Group::addWindows(Result ncclResult) {
  const auto byCommunicator = [](const Registration &a, const Registration &b) {
    return a.communicator < b.communicator;
  };
  std::stable_sort(registrations.begin(), registrations.end(), byCommunicator);
  std::vector<std::future<void>> added;
  for (auto from = registrations.begin(), to = from; from != registrations.end(); from = to) {
    to = std::upper_bound(from, registrations.end(), *from, byCommunicator);
    const bool isAlone = static_cast<size_t>(to - from) == registrations.size();
    added.push_back(std::async(isAlone ? std::launch::deferred : std::launch::async, [=] {
      for (auto each = from; each != to; ++each)
        each->communicator->windows().add(ncclResult == Result::Success ? *each->window : nullptr, each->memory,
                                          each->bytes);
    }));
  }
  for (std::future<void> &each : added)
    each.get();
  registrations.clear();
}

void Group::forwardCallsOn(Comm comm) {
  forward([&](const Deferred &each) { return each.call.comm == comm; });
  dropCallsOn(comm);
}

void Group::dropCallsOn(Comm comm) {
  const std::shared_ptr<Communicator> communicator = Interposer::ofProcess().find(comm);
  std::erase(forwardedTo, communicator);
  std::erase_if(registrations, [&](const Registration &each) { return each.communicator == communicator; });
  std::erase_if(deferred, [&](const Deferred &each) { return each.call.comm == comm; });
  destroyOperations([&](const Operation &operation) { return operation.comm == comm; });
}

bool Group::deferDestruction(RedOp op, Comm comm) {
  const auto user = std::find_if(deferred.begin(), deferred.end(), [&](const Deferred &each) {
    return each.call.preMulSum && each.call.op == op && each.call.comm == comm;
  });
  if (user == deferred.end())
    return false;
  operations.push_back({op, comm, user->communicator});
  return true;
}

/// Makes NCCL destroy the operations for which `which` returns true. Skips operations of aborted communicators, because
/// NCCL has freed them.
template <typename Which>
void Group::destroyOperations(Which which) {
  for (const Operation &operation : operations)
    if (which(operation) && !operation.communicator->status().isAborted())
      callInstalled<Function::RedOpDestroy>(operation.op, operation.comm);
  std::erase_if(operations, which);
}

/// Forwards to NCCL the deferred calls for which `which` returns true, and removes them from the group. Does not
/// forward calls on a communicator that another thread has aborted.
template <typename Which>
void Group::forward(Which which) {
  for (const Deferred &each : deferred)
    if (which(each) && !each.communicator->status().isAborted())
      if (const Result result = ncclapi::forward(each.call); isError(result) && !isError(failure))
        failure = result;
  std::erase_if(deferred, which);
}

} // namespace gc3::shim
