// SPDX-License-Identifier: Apache-2.0
#include "shim/Group.h"

#include "core/Log.h"
#include "ncclapi/Installed.h"

#include <algorithm>
#include <utility>

namespace gc3::shim {

using core::Outcome;

namespace {

/// InProgress says that NCCL completes a call on a communicator that does not block later.
bool isError(Result result) {
  return result != Result::Success && result != Result::InProgress;
}

constexpr auto any = [](const auto &) { return true; };

/// Logs an error, since NCCL's code says little.
Result report(const comm::CallGroup::Call &call) {
  if (!call.outcome.ok())
    core::tellOnce("rank " + std::to_string(call.comm->rank()) + ": " + call.outcome.text);
  return resultOf(call.outcome);
}

/// Has NCCL run calls in a group of their own, and waits until NCCL has enqueued them.
Outcome forwardTogether(const std::vector<const CollectiveCall *> &calls,
                        const std::vector<std::shared_ptr<Communicator>> &communicators) {
  Result result = callInstalled<Function::GroupStart>();
  if (isError(result))
    return outcomeOf(result, "opening a group");
  for (const CollectiveCall *call : calls)
    if (const Result forwarded = forward(*call); isError(forwarded) && !isError(result))
      result = forwarded;
  const Result ended = callInstalled<Function::GroupEnd>();
  if (isError(result) || isError(ended))
    return outcomeOf(isError(result) ? result : ended, "a call that NCCL runs");
  for (const std::shared_ptr<Communicator> &each : communicators)
    if (Outcome outcome = each->awaitParent(); !outcome.ok())
      return outcome;
  return {};
}

} // namespace

Group &Group::ofThisThread() {
  thread_local Group group;
  return group;
}

Result Group::start() {
  const Result result = callInstalled<Function::GroupStart>();
  depth += isError(result) ? 0 : 1;
  return result;
}

Result Group::end() {
  if (depth > 0)
    --depth; // also if this end fails, as NCCL counts
  const Result result = callInstalled<Function::GroupEnd>();
  if (depth > 0)
    return result;
  Group ended = std::exchange(*this, Group()); // nothing is left of it, whatever happens
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
  const comm::Phase phase = made.communicator->status().phase;
  const bool hasJoined = phase > comm::Phase::Joining;
  if (hasJoined) {
    made.program = Interposer::ofProcess().decide(*made.communicator, call).program;
    made.isDecided = true;
  }
  if (isOpen() && hasJoined && !made.program) {
    forwardedTo.push_back(std::move(made.communicator));
    return shim::forward(call);
  }
  if (isOpen()) {
    deferred.push_back(std::move(made));
    return Result::Success;
  }
  Group single; // without a group of NCCL's around it
  single.deferred.push_back(std::move(made));
  single.joinAndDecide();
  return single.deferred.empty()           ? Result::InvalidUsage
         : single.deferred.front().program ? single.runPrograms()
                                           : shim::forward(call);
}

/// NCCL's part of the group comes first on all ranks, also where its communicators do not block.
Result Group::finish(Result ofNccl) {
  joinAndDecide();
  Outcome late;
  if (ofNccl == Result::InProgress && !deferred.empty())
    late = awaitNccl();
  const Result forwarded = late.ok() ? forwardUnserved() : resultOf(late);
  if (forwarded == Result::InProgress && !deferred.empty())
    late = awaitNccl();
  if (!late.ok()) {
    failAll({gc3Timeout, "its last group was lost here, as NCCL's part of it came too late"});
    return resultOf(late);
  }
  const Result ran = runPrograms();
  for (const Result result : {ran, failure, forwarded})
    if (isError(result))
      return result;
  return forwarded == Result::Success ? ofNccl : forwarded;
}

/// After NCCL's part, which can include set-up calls on the same communicators.
void Group::joinAndDecide() {
  std::vector<std::shared_ptr<Communicator>> joining, captured; // each once
  const auto add = [](auto &list, const auto &communicator) {
    if (std::find(list.begin(), list.end(), communicator) == list.end())
      list.push_back(communicator);
  };
  for (const Deferred &each : deferred)
    if (!each.isDecided)
      add(Interposer::ofProcess().isCaptured(each.call.stream) ? captured : joining, each.communicator);
  std::erase_if(joining,
                [&](const auto &each) { return std::find(captured.begin(), captured.end(), each) != captured.end(); });
  comm::joinAll(joining);
  const size_t before = deferred.size();
  for (const auto &each : joining)
    decide(each, false);
  for (const auto &each : captured)
    decide(each, true);
  if (deferred.size() != before) // another thread has aborted them
    failure = Result::InvalidUsage;
}

/// Nothing can be created while a stream is captured: NCCL runs the calls until another one has been made.
void Group::decide(const std::shared_ptr<Communicator> &communicator, bool isCaptured) {
  Interposer &interposer = Interposer::ofProcess();
  const bool isAborted = communicator->status().phase == comm::Phase::Aborted;
  std::erase_if(deferred, [&](Deferred &each) {
    if (each.communicator != communicator || each.isDecided)
      return false;
    each.isDecided = true;
    if (isCaptured)
      Interposer::logNccl(*communicator, each.call, "captured before another call has been made");
    else
      each.program = interposer.decide(*communicator, each.call).program;
    return isAborted;
  });
}

/// In a group of their own, after NCCL's part of this one.
Result Group::forwardUnserved() {
  const auto isUnserved = [](const Deferred &each) { return !each.program; };
  if (std::none_of(deferred.begin(), deferred.end(), isUnserved))
    return Result::Success;
  if (const Result opened = callInstalled<Function::GroupStart>(); opened != Result::Success) {
    std::erase_if(deferred, isUnserved);
    return opened;
  }
  for (const Deferred &each : deferred)
    if (isUnserved(each))
      forwardedTo.push_back(each.communicator);
  forward(isUnserved);
  return callInstalled<Function::GroupEnd>();
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

/// Other ranks can run the calls.
void Group::failAll(const Outcome &why) const {
  for (const Deferred &each : deferred)
    if (each.program)
      each.communicator->fail(why);
}

Result Group::runPrograms() const {
  std::vector<comm::CallGroup::Call> calls;
  std::vector<const CollectiveCall *> made; // by the application, for each of these
  for (const Deferred &each : deferred)
    if (each.program) {
      calls.push_back({each.communicator, *each.program, requestOf(each.call), {}});
      made.push_back(&each.call);
    }
  if (calls.empty())
    return Result::Success;
  const auto runByNccl = [&](std::span<comm::CallGroup::Call *const> declined) {
    std::vector<const CollectiveCall *> forNccl;
    std::vector<std::shared_ptr<Communicator>> communicators;
    for (const comm::CallGroup::Call *each : declined) {
      forNccl.push_back(made[static_cast<size_t>(each - calls.data())]);
      communicators.push_back(each->comm);
    }
    return forwardTogether(forNccl, communicators);
  };
  comm::CallGroup::run(calls, runByNccl);
  Result first = Result::Success;
  for (const comm::CallGroup::Call &each : calls)
    if (const Result result = report(each); first == Result::Success)
      first = result;
  return first;
}

void Group::forwardCallsOn(Comm comm) {
  forward([&](const Deferred &each) { return each.call.comm == comm; });
  dropCallsOn(comm);
}

void Group::dropCallsOn(Comm comm) {
  const auto isOnIt = [&](const Deferred &each) { return each.call.comm == comm; };
  if (const auto found = std::find_if(deferred.begin(), deferred.end(), isOnIt); found != deferred.end())
    std::erase(forwardedTo, found->communicator);
  std::erase_if(deferred, isOnIt);
  destroyOperations([&](const Operation &operation) { return operation.comm == comm; });
}

bool Group::outlives(RedOp op, Comm comm) {
  const bool isUsed = std::any_of(deferred.begin(), deferred.end(), [&](const Deferred &each) {
    return each.call.preMulSum && each.call.op == op && each.call.comm == comm;
  });
  if (isUsed)
    operations.push_back({op, comm});
  return isUsed;
}

template <typename Which>
void Group::destroyOperations(Which which) {
  for (const Operation &operation : operations)
    if (which(operation))
      callInstalled<Function::RedOpDestroy>(operation.op, operation.comm);
  std::erase_if(operations, which);
}

template <typename Which>
void Group::forward(Which which) {
  for (const Deferred &each : deferred)
    if (which(each))
      if (const Result result = shim::forward(each.call); isError(result) && !isError(failure))
        failure = result;
  std::erase_if(deferred, which);
}

} // namespace gc3::shim
