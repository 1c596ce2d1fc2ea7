// SPDX-License-Identifier: Apache-2.0
// Functions for calls, for groups, and for set-up calls that all ranks of a communicator make.
#include "FakeNcclState.h"

#include <algorithm>

namespace gc3::test {

using Member = FakeNccl::Member;
using World = FakeNccl::World;

thread_local OpenGroup openGroup;

bool hasOthers(const std::map<std::thread::id, int> &where) {
  return std::any_of(where.begin(), where.end(),
                     [](const auto &thread) { return thread.first != std::this_thread::get_id(); });
}

bool isError(Result result) {
  return result != Result::Success && result != Result::InProgress;
}

Result takePlanned(const std::string &name) {
  const auto node = state().planned.extract(name);
  const Result result = node ? node.mapped() : Result::Success;
  noteInGroup(result);
  return result;
}

void noteInGroup(Result result) {
  if (openGroup.depth > 0 && openGroup.error == Result::Success)
    openGroup.error = result;
}

void recordEvent(const std::string &event) {
  FakeNccl::State &all = state();
  all.events.push_back(event);
  if (const auto hook = all.fake.onEvent) {
    const Monitor::Unlocked unlocked;
    hook(event);
  }
}

/// Returns the member of a handle. Ends the process if the handle is unknown or freed. Callers repeat this after a hook
/// of the test has run, because the hook can free the handle.
static Member &find(const char *name, Comm comm) {
  const auto known = state().members.find(comm);
  if (known == state().members.end())
    Monitor::fail(std::string(name) + " names an unknown communicator");
  if (known->second->isFreed)
    Monitor::fail(std::string(name) + " names a freed communicator, " + state().fake.name(comm));
  return *known->second;
}

NcclCall::NcclCall(By by, const char *name, Comm comm, Kind kind, const std::function<std::string()> &event) {
  if (!comm) {
    end(Result::InvalidArgument);
    return;
  }
  named = &find(name, comm);
  ++state().fake.used;
  record(by, name, event);
  const bool isCounted = by == By::Gc3 || named->isChild;
  const std::string counted = std::string("NCCL ") + name;
  if (isCounted && kind == Kind::Counted && state().cuda.failsOn(named->device, counted)) {
    isLate = state().fake.failsLate;
    end(FakeNccl::failure);
  }
  if (isCounted && kind == Kind::Poll && state().cuda.failsPoll(named->device, counted))
    end(FakeNccl::failure);
  find(name, comm);
  presence.emplace(named->inside);
  outcome = ended ? outcome : takePlanned(name);
  if (isError(outcome))
    ended = true;
  else if (named->isRevoked && kind != Kind::Freeing && kind != Kind::Poll)
    end(Result::InvalidUsage);
}

void NcclCall::record(By by, const char *name, const std::function<std::string()> &event) {
  if (named->isChild)
    return;
  if (event && by == By::Application)
    recordEvent(event());
  else
    state().probes.push_back(name);
}

void NcclCall::end(Result result) {
  ended = true;
  outcome = result;
  if (!isLate)
    noteInGroup(result);
}

void expectNoOtherSetUp(const Member &member, const char *name) {
  auto expect = [&](const Member &other) {
    if (hasOthers(other.settingUp))
      Monitor::fail(std::string(name) + " on " + text(const_cast<Member &>(member).handle()) +
                    " while another thread sets up " + text(const_cast<Member &>(other).handle()));
  };
  expect(member);
  if (member.isChild && member.parent)
    expect(*member.parent);
  for (const auto &[handle, other] : state().members)
    if (other->isChild && other->parent == &member)
      expect(*other);
}

bool await(const std::string &name, const Member &member, const std::function<bool()> &done) {
  bool isDone = false;
  if (!Monitor::wait(name, [&] {
        state().cuda.advance();
        isDone = done();
        return isDone || member.isEnded();
      }))
    Monitor::fail("a rank is stuck in " + name);
  return isDone;
}

Result submit(Operation operation) {
  if (openGroup.depth == 0)
    return run({std::move(operation)});
  const bool blocking = operation.member->blocking;
  if (openGroup.blocks.value_or(blocking) != blocking)
    return openGroup.error = Result::InvalidArgument;
  openGroup.blocks = blocking;
  openGroup.operations.push_back(std::move(operation));
  return Result::Success;
}

Result run(std::vector<Operation> operations) {
  std::deque<Presence> presences;
  std::set<const Member *> busy; // non-blocking members with unfinished operations, which reject further operations
  for (const Operation &operation : operations) {
    Member &member = *operation.member;
    find(operation.name, member.handle());
    presences.emplace_back(member.inside);
    if (!member.pending.empty())
      busy.insert(&member);
    if (!operation.isSetUp)
      continue;
    expectNoOtherSetUp(member, operation.name);
    presences.emplace_back(member.settingUp);
  }
  Result error = Result::Success;
  bool isPending = false;
  auto note = [&](Result result) { error = error == Result::Success ? result : error; };
  std::erase_if(operations, [&](const Operation &operation) {
    const Member &member = *operation.member;
    const Result refusal = member.isRevoked         ? Result::InvalidUsage
                           : busy.contains(&member) ? Result::InvalidArgument
                                                    : Result::Success;
    note(refusal);
    return refusal != Result::Success;
  });
  for (const Operation &operation : operations)
    operation.arrive();
  Monitor::change();
  for (Operation &operation : operations) {
    if (!operation.member->blocking) {
      isPending = true;
      operation.member->pending.push_back(std::move(operation));
      continue;
    }
    const bool isDone = await(std::string("NCCL ") + operation.name, *operation.member, operation.isDone);
    if (!isDone)
      operation.withdraw();
    note(isDone ? operation.finish() : Result::InternalError);
  }
  if (state().fake.inBackground)
    for (const auto &[handle, member] : state().members)
      advance(*member);
  return error == Result::Success && isPending ? Result::InProgress : error;
}

bool World::isComplete(const SetUp &setUp) const {
  for (int rank = 0; rank < ranks; ++rank) {
    const bool exists = members[static_cast<size_t>(rank)] != nullptr || !test::state().fake.completesAlone;
    if (exists && !setUp.offers.contains(rank) && !setUp.excluded.contains(rank))
      return false;
  }
  return true;
}

/// Returns the SetUp of the rank's next set-up call. Creates it if no other rank has made this call. Excluded ranks
/// skip the call.
static SetUp &setUpOf(World &world, int rank, const char *name, const std::set<int> &excluded) {
  const size_t number = world.begun[static_cast<size_t>(rank)]++;
  if (world.setUps.size() == number) {
    world.setUps.push_back({.name = name, .excluded = excluded, .offers = {}, .made = {}});
    for (int other : excluded)
      world.begun.at(static_cast<size_t>(other)) = number + 1;
  }
  SetUp &setUp = world.setUps[number];
  if (setUp.name != name)
    Monitor::fail("rank " + std::to_string(rank) + " calls " + name + " and another rank " + setUp.name);
  return setUp;
}

Operation meetAllRanks(const char *name, const Offer &offer, const std::function<void(World &, SetUp &)> &complete,
                       const std::function<Result(SetUp &)> &finish, const std::set<int> &excluded) {
  const auto met = std::make_shared<SetUp *>(nullptr);
  World &world = *offer.member->world;
  const int rank = offer.member->rank;
  return {.name = name,
          .member = offer.member,
          .arrive =
              [=, &world] {
                SetUp &setUp = setUpOf(world, rank, name, excluded);
                setUp.offers[rank] = offer;
                *met = &setUp;
                if (world.isComplete(setUp)) {
                  setUp.isDone = true;
                  complete(world, setUp);
                }
              },
          .isDone = [met] { return (*met)->isDone; },
          .finish = [met, finish] { return finish(**met); },
          .withdraw = [met, rank] { (*met)->offers.erase(rank); }};
}

static Result groupStart(By by) {
  const Monitor::Lock lock;
  if (by == By::Application)
    recordEvent(eventText("GroupStart"));
  else if (state().cuda.failsOn(FakeCuda::currentDevice, "NCCL GroupStart"))
    return FakeNccl::failure;
  const Result result = takePlanned("GroupStart");
  openGroup.depth += isError(result) ? 0 : 1;
  return result;
}

/// Ends a group. The calls of nested groups run at the outermost end. If a call in the group has failed, the group
/// returns that error and runs no call.
static Result endGroup(By by, const char *name, const std::string &event) {
  const Monitor::Lock lock;
  if (by == By::Application)
    recordEvent(event);
  const bool fails = by == By::Gc3 && state().cuda.failsOn(FakeCuda::currentDevice, std::string("NCCL ") + name);
  const Result result = fails ? FakeNccl::failure : takePlanned(name);
  if (openGroup.depth == 0)
    return Result::InvalidUsage;
  if (--openGroup.depth > 0)
    return result;
  const OpenGroup group = std::exchange(openGroup, {});
  if (isError(result) || isError(group.error))
    return isError(result) ? result : group.error;
  const Result ran = run(group.operations);
  return ran == Result::Success ? group.error : ran;
}

static Result groupEnd(By by) {
  return endGroup(by, "GroupEnd", eventText("GroupEnd"));
}

static Result groupSimulateEnd(By by, ncclapi::SimInfo *info) {
  return endGroup(by, "GroupSimulateEnd", eventText("GroupSimulateEnd", static_cast<const void *>(info)));
}

void addGroups(FunctionTable &table) {
  table["GroupStart"] = PairOf<groupStart>::pair();
  table["GroupEnd"] = PairOf<groupEnd>::pair();
  table["GroupSimulateEnd"] = PairOf<groupSimulateEnd>::pair();
}

} // namespace gc3::test
