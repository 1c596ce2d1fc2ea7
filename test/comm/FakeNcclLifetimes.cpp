// SPDX-License-Identifier: Apache-2.0
// Functions that query the state of communicators, and end communicators.
#include "FakeNcclState.h"

#include <algorithm>

namespace gc3::test {

using Member = FakeNccl::Member;

/// Ends a pending operation. If no rank is missing, finishes it, as NCCL does; otherwise withdraws it. Keeps an error
/// for CommGetAsyncError.
static void end(Member &member, const Operation &operation) {
  Result result = Result::InternalError;
  if (operation.isDone())
    result = operation.finish();
  else
    operation.withdraw();
  member.error = isError(result) ? result : member.error;
}

void advance(Member &member) {
  state().cuda.advance();
  while (!member.pending.empty()) {
    const Operation &first = member.pending.front();
    if (!first.isDone() && !member.isEnded())
      return;
    const Operation operation = std::move(member.pending.front());
    member.pending.pop_front();
    end(member, operation);
  }
}

namespace {

void endPending(Member &member) {
  for (const Operation &operation : std::exchange(member.pending, {}))
    end(member, operation);
}

/// Ends the process if two threads query one communicator at once. In NCCL, both would free an operation that has
/// completed.
Result commGetAsyncError(By by, Comm comm, Result *error) {
  const NcclCall call(by, "CommGetAsyncError", comm, NcclCall::Kind::Poll,
                      [&] { return eventText("CommGetAsyncError", comm); });
  if (call.hasEnded())
    return call.result();
  Member &member = call.member();
  const Presence presence(member.polling);
  {
    const Monitor::Unlocked unlocked; // so that another thread can enter this function
    std::this_thread::yield();
  }
  if (hasOthers(member.polling))
    Monitor::fail("two threads are in CommGetAsyncError of " + text(comm));
  if (member.planned == Result::Success)
    advance(member);
  *error = member.planned != Result::Success ? member.planned
           : !member.pending.empty()         ? Result::InProgress
                                             : member.error;
  return call.result();
}

Result commFinalize(By by, Comm comm) {
  const NcclCall call(by, "CommFinalize", comm, NcclCall::Kind::Counted,
                      [&] { return eventText("CommFinalize", comm); });
  return call.result();
}

/// Ends the process if gc3 frees a communicator of the application.
void expectOwn(By by, const char *name, Member &member) {
  if (by == By::Gc3 && !member.isChild)
    Monitor::fail(std::string(name) + " of the application's communicator " + text(member.handle()));
}

bool has(const auto &things, auto &&isOf) {
  return std::any_of(things.begin(), things.end(), isOf);
}

/// Ends the process if the communicator still has windows or device communicators. NCCL requires that the caller frees
/// these first, except on a revoked communicator, whose windows can't be deregistered.
void expectNothingLeft(const char *name, Member &member) {
  if (member.isRevoked)
    return;
  if (has(state().registered, [&](const auto &window) { return window.second.owner == &member; }))
    Monitor::fail(std::string(name) + " of " + text(member.handle()) + " before its windows are deregistered");
  if (has(state().networks, [&](const auto &network) { return network.second == &member; }))
    Monitor::fail(std::string(name) + " of " + text(member.handle()) + " before its device communicators");
}

void leave(Member &member) {
  member.isFreed = true; // later calls end the process
  member.world->left.insert(member.rank);
  endPending(member);
  Monitor::change();
}

/// Returns true if all existing ranks have destroyed or aborted their handles.
bool haveAllLeft(const FakeNccl::World &world) {
  const auto exists = [](const auto &member) { return member != nullptr; };
  return world.left.size() == static_cast<size_t>(std::count_if(world.members.begin(), world.members.end(), exists));
}

void awaitUnconditionally(const char *name, const std::function<bool()> &done) {
  if (!Monitor::wait(name, [&] {
        state().cuda.advance();
        return done();
      }))
    Monitor::fail(std::string("a rank is stuck in ") + name);
}

Result commDestroy(By by, Comm comm) {
  const NcclCall call(by, "CommDestroy", comm, NcclCall::Kind::Freeing, [&] { return eventText("CommDestroy", comm); });
  if (call.hasEnded())
    return call.result();
  Member &member = call.member();
  expectOwn(by, "CommDestroy", member);
  if (hasOthers(member.inside))
    Monitor::fail("CommDestroy of " + text(comm) + " while another thread uses it");
  expectNothingLeft("CommDestroy", member);
  leave(member);
  const bool waits = member.blocking && openGroup.depth == 0;
  if (waits)
    awaitUnconditionally("NCCL CommDestroy", [&] {
      return member.gathersLeft == 0 && (!state().fake.destroyWaits || member.isRevoked || haveAllLeft(*member.world));
    });
  if (openGroup.depth > 0)
    openGroup.blocks = true; // as in NCCL, the group then blocks
  freeWindowsOf(member);
  state().children.erase(comm);
  return call.result();
}

/// Ends all waits on the communicator, then waits until other threads have left its calls and its gathers have ended.
Result commAbort(By by, Comm comm) {
  const NcclCall call(by, "CommAbort", comm, NcclCall::Kind::Freeing, [&] { return eventText("CommAbort", comm); });
  if (call.hasEnded())
    return call.result();
  Member &member = call.member();
  expectOwn(by, "CommAbort", member);
  member.isAborted = true;
  leave(member);
  awaitUnconditionally("NCCL CommAbort", [&] {
    return !hasOthers(member.inside) && (state().fake.abortWaits ? member.gathersLeft : member.gathersRunning) == 0;
  });
  freeWindowsOf(member);
  state().fake.abortedSplits += state().children.erase(comm);
  return call.result();
}

Result commRevoke(By by, Comm comm, int flags) {
  const NcclCall call(by, "CommRevoke", comm, NcclCall::Kind::Counted,
                      [&] { return eventText("CommRevoke", comm, flags); });
  if (call.hasEnded())
    return call.result();
  if (flags != 0)
    Monitor::fail("CommRevoke with flags");
  Member &member = call.member();
  member.isRevoked = true;
  endPending(member);
  state().fake.revoked.push_back(comm);
  Monitor::change();
  awaitUnconditionally("NCCL CommRevoke",
                       [&] { return (state().fake.abortWaits ? member.gathersLeft : member.gathersRunning) == 0; });
  return call.result();
}

} // namespace

void addLifetimes(FunctionTable &table) {
  table["CommGetAsyncError"] = PairOf<commGetAsyncError>::pair();
  table["CommFinalize"] = PairOf<commFinalize>::pair();
  table["CommDestroy"] = PairOf<commDestroy>::pair();
  table["CommAbort"] = PairOf<commAbort>::pair();
  table["CommRevoke"] = PairOf<commRevoke>::pair();
}

} // namespace gc3::test
