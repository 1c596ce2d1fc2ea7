// SPDX-License-Identifier: Apache-2.0
// Groups: what is kept until the outermost end, and what becomes of it there.
#include "nccl/Group.h"

#include "ncclapi/Installed.h"

#include <algorithm>
#include <utility>

namespace gc3::nccl {

/// InProgress says of communicators that do not block that NCCL goes on by itself.
static bool isError(Result result) {
  return result != Result::Success && result != Result::InProgress;
}

/// All that a group has kept.
static constexpr auto any = [](const auto &) { return true; };

Group &Group::ofThisThread() {
  thread_local Group group;
  return group;
}

Result Group::start() {
  Result result = callInstalled<Function::GroupStart>();
  depth += isError(result) ? 0 : 1;
  return result;
}

Result Group::end() {
  if (depth > 0)
    --depth; // whether or not this end fails, as NCCL counts
  Result result = callInstalled<Function::GroupEnd>();
  if (depth > 0)
    return result;
  Group ended = std::exchange(*this, Group()); // nothing is left of it, whatever happens from here on
  const Result finished = isError(result) ? result : ended.finish(result);
  ended.destroyOperations(any);
  return finished;
}

Result Group::finish(Result result) {
  for (Birth &birth : births)
    birth.isDone &= result != Result::InProgress;
  Communicators::table().adopt(births);
  makeReady();
  // Where NCCL goes on with the group, its communicators take no further calls until that is done.
  Result late = kept.empty() || result != Result::InProgress ? Result::Success : settle();
  const Result forwarded = late == Result::Success ? forwardUnserved() : late;
  if (!kept.empty() && forwarded == Result::InProgress)
    late = settle();
  if (late != Result::Success) {
    lose();
    return late;
  }
  std::vector<Work> works;
  for (const Kept &call : kept)
    works.push_back(call.work);
  const Result ran = works.empty() ? Result::Success : Communicators::table().run(works);
  if (isError(ran))
    return ran;
  return isError(failure) ? failure : forwarded == Result::Success ? result : forwarded;
}

/// Calls that others may run.
void Group::lose() {
  for (const Kept &call : kept)
    if (call.work.attachment)
      call.work.attachment->breakDown("its last group was lost here, as NCCL's part of that came too late");
}

/// Where a communicator waits; else programs are loaded one by one when calls are run. What NCCL did in the group has
/// to be done first, which may take a while.
void Group::makeReady() {
  const auto waits = [](const Kept &call) { return call.entry->waits; };
  if (std::none_of(kept.begin(), kept.end(), waits))
    return;
  std::vector<CallsOfOne> all;
  for (Kept &call : kept) {
    const auto isOfIt = [&](const CallsOfOne &calls) { return calls.front()->work.call.comm == call.work.call.comm; };
    auto calls = std::find_if(all.begin(), all.end(), isOfIt);
    if (calls == all.end())
      calls = all.insert(all.end(), CallsOfOne());
    calls->push_back(&call);
  }
  Communicators::table().makeReady(all);
  const auto isAborted = [&](const Kept &call) { return waits(call) && call.entry->own->isAborted(); };
  if (std::erase_if(kept, isAborted) != 0) // by another thread, meanwhile
    failure = Result::InvalidUsage;
}

/// What NCCL has of the group's communicators comes first on all ranks, also where these do not block. RemoteError: it
/// does not come in time; what else they fail with is NCCL's to tell.
Result Group::settle() const {
  std::vector<const OwnComm *> all; // each once
  const auto add = [&](const std::shared_ptr<OwnComm> &own) {
    if (own && std::find(all.begin(), all.end(), own.get()) == all.end())
      all.push_back(own.get());
  };
  for (const Passed &call : passed)
    add(call.own);
  for (const Kept &call : kept)
    add(call.entry->own);
  for (const OwnComm *own : all)
    if (own->settle() == Result::InProgress)
      return Result::RemoteError;
  return Result::Success;
}

/// In a group of their own, behind NCCL's part of this one.
Result Group::forwardUnserved() {
  auto unserved = [](const Kept &call) { return call.work.attachment == nullptr; };
  if (std::none_of(kept.begin(), kept.end(), unserved))
    return Result::Success;
  if (Result opened = callInstalled<Function::GroupStart>(); opened != Result::Success) {
    std::erase_if(kept, unserved);
    return opened;
  }
  for (const Kept &call : kept)
    if (unserved(call))
      passed.push_back({call.work.call.comm, call.entry->own});
  forwardKept(unserved);
  return callInstalled<Function::GroupEnd>();
}

Result Group::simulateEnd(SimInfo *info) {
  if (depth > 0)
    --depth;
  if (depth > 0)
    return callInstalled<Function::GroupSimulateEnd>(info);
  Group ended = std::exchange(*this, Group());
  ended.forwardKept(any);
  Result result = callInstalled<Function::GroupSimulateEnd>(info);
  ended.destroyOperations(any);
  return isError(result) ? result : isError(ended.failure) ? ended.failure : result;
}

void Group::keep(const Work &work, std::shared_ptr<const Entry> entry) {
  kept.push_back({work, std::move(entry)});
}

void Group::pass(const Entry &entry) {
  if (isOpen() && entry.own)
    passed.push_back({entry.member.comm, entry.own});
}

void Group::born(std::span<const Birth> made) {
  if (isOpen())
    births.insert(births.end(), made.begin(), made.end());
  else
    Communicators::table().adopt(made);
}

void Group::handOver(Comm comm) {
  unmake(comm);
  forwardKept([&](const Kept &call) { return call.work.call.comm == comm; });
  destroyOperations([&](const Operation &operation) { return operation.comm == comm; });
}

void Group::drop(Comm comm) {
  unmake(comm);
  std::erase_if(kept, [&](const Kept &call) { return call.work.call.comm == comm; });
  destroyOperations([&](const Operation &operation) { return operation.comm == comm; });
}

bool Group::outlives(RedOp op, Comm comm) {
  const bool isUsed = std::any_of(kept.begin(), kept.end(), [&](const Kept &call) {
    return call.work.call.preMulSum && call.work.call.op == op && call.work.call.comm == comm;
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

/// One made in this very group is gone before anybody takes it on. Children are not there before it ends.
void Group::unmake(Comm comm) {
  std::erase_if(passed, [&](const Passed &call) { return call.comm == comm; });
  std::erase_if(births, [&](const Birth &birth) { return birth.comm == comm; });
}

template <typename Which>
void Group::forwardKept(Which which) {
  for (const Kept &call : kept)
    if (which(call))
      if (Result result = forward(call.work.call); isError(result) && !isError(failure))
        failure = result;
  std::erase_if(kept, which);
}

} // namespace gc3::nccl
