// SPDX-License-Identifier: Apache-2.0
// Births and deaths of communicators.
#include "nccl/Communicators.h"

#include "core/Log.h"
#include "core/Settings.h"
#include "ncclapi/Installed.h"

#include <exception>
#include <mutex>
#include <utility>

namespace gc3::nccl {

Communicators &Communicators::table() {
  static auto &table = *new Communicators;
  return table;
}

Communicators::Communicators() {
  if (const std::string &names = core::settings().text(core::Setting::Bundles); !names.empty())
    engine = makeEngine(openBundles(names.c_str()));
  else if (core::informs())
    core::tell("GC3_BUNDLES is not set: NCCL serves all calls");
}

std::shared_ptr<const Entry> Communicators::find(Comm comm) const {
  if (!active())
    return nullptr;
  std::lock_guard lock(mutex);
  auto found = entries.find(comm);
  return found == entries.end() ? nullptr : found->second;
}

Blocking Communicators::blocking(Comm comm) {
  const std::shared_ptr<const Entry> entry = findOrExpected(comm);
  return entry ? entry->blocking : Blocking{true, true};
}

/// NCCL_COMM_BLOCKING overrides what the program configures, of communicators of our own as well. NCCL may have set it
/// from its own file of settings, so it is read when NCCL has made the communicator.
static bool isAlways(const char *value) {
  return core::settingsAfterNccl().text(core::Setting::NcclCommBlocking) == value;
}

/// One that NCCL does not say the ranks of yet.
Entry Communicators::unready(Comm comm, const Blocking &blocking) const {
  const Member member{comm, 0, 0};
  if (isAlways("0"))
    return {member, {false, blocking.maybe}, nullptr, refusal(member, "it does not block")};
  if (std::string never = engine->refusal(); !never.empty())
    return {member, blocking, nullptr, refusal(member, std::move(never))};
  return {member,
          blocking,
          std::make_shared<OwnComm>(comm, blocking.maybe, engine->patience()),
          {nullptr, "it is not ready, or captured before another call has been made"},
          true};
}

void Communicators::adopt(std::span<const Birth> births) {
  std::vector<Entry> asked; // the engine
  std::vector<Member> members;
  for (const Birth &birth : births) {
    Member member{birth.handle ? *birth.handle : birth.comm, 0, 0, std::make_shared<std::atomic<bool>>(false)};
    if (!member.comm)
      continue;
    const bool waits = !birth.blocking.surely || birth.blocking.differs || !birth.isDone;
    if (isAlways("0") || (waits && !isAlways("1")))
      insert(unready(member.comm, birth.blocking));
    else if (!ask(member))
      continue;
    else if (member.ranks == 1)
      insert({member, {true, true}, nullptr, refusal(member, "one rank")});
    else {
      asked.push_back({member, {true, true}, nullptr, {}});
      members.push_back(member);
    }
  }
  for (Entry &entry : attach(std::move(asked), members))
    insert(std::move(entry));
}

/// Of each entry, what the engine says to its member.
std::vector<Entry> Communicators::attach(std::vector<Entry> asked, std::span<const Member> members) const {
  if (asked.empty())
    return asked;
  const Inside inside;
  std::vector<Attached> attached = engine->attach(members);
  for (size_t i = 0; i < asked.size(); ++i)
    asked[i].attached =
        attached[i].attachment ? std::move(attached[i]) : refusal(asked[i].member, std::move(attached[i].why));
  return asked;
}

void Communicators::expect(bool mayBlock) {
  std::lock_guard lock(mutex);
  ++expected;
  expectsBlocking |= mayBlock;
}

std::shared_ptr<const Entry> Communicators::findOrExpected(Comm comm) {
  std::shared_ptr<const Entry> entry = find(comm);
  if (entry || !comm || !active())
    return entry;
  std::lock_guard lock(mutex);
  if (const auto known = entries.find(comm); known != entries.end())
    return known->second;
  if (expected == 0)
    return nullptr;
  entry = std::make_shared<const Entry>(unready(comm, {false, expectsBlocking}));
  entries.emplace(comm, entry);
  if (--expected == 0)
    expectsBlocking = false;
  return entry;
}

void Communicators::insert(Entry made) {
  auto entry = std::make_shared<const Entry>(std::move(made));
  Inside inside;
  std::shared_ptr<const Entry> stale; // of a handle that was freed without our knowledge
  {
    std::lock_guard lock(mutex);
    stale = std::exchange(entries[entry->member.comm], entry);
    operations.erase(entry->member.comm);
  }
  if (stale && stale->attached.attachment)
    stale->attached.attachment->abort();
}

/// Of a communicator that waited, unless it is not there any more. Its operations stay.
void Communicators::replace(Entry made) {
  const Inside inside;
  auto entry = std::make_shared<const Entry>(std::move(made));
  std::shared_ptr<const Entry> last;
  {
    std::lock_guard lock(mutex);
    const auto known = entries.find(entry->member.comm);
    if (known != entries.end() && known->second->waits)
      last = std::exchange(known->second, entry);
  }
  if (!last && entry->attached.attachment)
    entry->attached.attachment->abort();
  if (!entry->attached.attachment)
    entry->own->leave();
}

void Communicators::note(Comm comm, RedOp op, std::optional<core::PreMulSum> made) {
  if (!active())
    return;
  std::lock_guard lock(mutex);
  if (made)
    operations[comm].insert_or_assign(op, *made);
  else if (auto known = operations.find(comm); known != operations.end())
    known->second.erase(op);
}

std::optional<core::PreMulSum> Communicators::operation(Comm comm, RedOp op) const {
  std::lock_guard lock(mutex);
  const auto known = operations.find(comm);
  if (known == operations.end())
    return std::nullopt;
  const auto found = known->second.find(op);
  return found == known->second.end() ? std::nullopt : std::optional(found->second);
}

Result Communicators::settle(Comm comm) const {
  const std::shared_ptr<const Entry> entry = find(comm);
  const Result result = entry && entry->own ? entry->own->settle() : Result::Success;
  return result == Result::InProgress ? Result::RemoteError : result;
}

Result Communicators::run(std::span<const Work> works) {
  Inside inside;
  try {
    return engine->run(works);
  } catch (const std::exception &) {
    for (const Work &work : works) // others may run these
      work.attachment->breakDown("no memory");
    throw;
  }
}

/// One that was revoked is NCCL's alone.
static Result askNccl(const OwnComm *own, Comm comm, Result &state) {
  if (own)
    if (const Result result = own->ask(state); result != Result::InvalidUsage || !own->isAborted())
      return result;
  return callInstalled<Function::CommGetAsyncError>(comm, &state);
}

Result Communicators::state(Comm comm, Result &state) const {
  Asking<const Entry> entry;
  {
    std::lock_guard lock(mutex);
    if (const auto known = entries.find(comm); known != entries.end())
      entry = Asking(known->second, known->second->asked);
  }
  const Result result = askNccl(entry ? entry->own.get() : nullptr, comm, state);
  if (result != Result::Success || state != Result::Success)
    return result;
  if (!entry || !entry->attached.attachment) {
    const bool callsFail = entry && entry->own && entry->own->hasGivenUp();
    state = callsFail ? Result::RemoteError : departures.state(comm);
    return result;
  }
  state = entry->attached.attachment->asyncError();
  return state == Result::Success && entry->own ? entry->own->askOwn(state) : result;
}

bool Communicators::release(Comm comm, bool awaits) {
  if (!active())
    return true;
  std::shared_ptr<const Entry> entry, stale;
  {
    std::lock_guard lock(mutex);
    operations.erase(comm);
    if (const auto found = entries.find(comm);
        found != entries.end() && found->second->own && found->second->own->isBeingMade())
      return false;
    auto known = entries.extract(comm);
    if (!known)
      return true;
    entry = std::move(known.mapped());
    if (!entry->attached.attachment)
      return true;
    stale = departures.note(std::move(entry)); // so that an abort finds it at every moment
  }
  const Inside inside;
  if (stale)
    stale->attached.attachment->abort();
  return departures.begin(comm, *engine, awaits);
}

bool Communicators::awaitRelease(Comm comm) {
  return departures.await(comm);
}

bool Communicators::abort(Comm comm) {
  const Inside inside;
  std::shared_ptr<const Entry> entry;
  {
    std::lock_guard lock(mutex);
    entry = departures.abandon(comm);
    const auto known = entries.find(comm);
    if (!entry && (known == entries.end() || (!known->second->attached.attachment && !known->second->own)))
      return false;
    if (!entry)
      entry = std::exchange(known->second,
                            std::make_shared<const Entry>(Entry{
                                known->second->member, known->second->blocking, nullptr, {nullptr, "it was aborted"}}));
  }
  bool isRevoked = entry->attached.attachment && entry->attached.attachment->abort();
  if (entry->own) {
    entry->own->abort();
    isRevoked = false; // only our own
  }
  const Attachment *attachment = entry->attached.attachment.get();
  engine->aside(attachment, [left = std::make_shared<std::shared_ptr<const Entry>>(std::move(entry))] {
    const Inside inThread;
    (*left)->asked.awaitEnd();
    left->reset(); // of the thread, and not with the last copy of this
  });
  return isRevoked;
}

} // namespace gc3::nccl
