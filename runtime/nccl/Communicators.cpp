// SPDX-License-Identifier: Apache-2.0
// Births and deaths of communicators.
#include "nccl/Communicators.h"

#include "log/Log.h"
#include "nccl/Installed.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

namespace gc3::nccl {

Decision Entry::decide(const Call &call) const {
  Decision decision;
  decision.why = attached.attachment ? whyNever(call, member.ranks) : attached.why;
  if (decision.why.empty())
    decision = attached.attachment->serves(call);
  if (log::informs() && member.ranks > 0)
    log::tell("rank " + std::to_string(member.rank) + ": " + describe(call, member.ranks) +
              (decision.served() ? ": " : ": NCCL: ") + std::string(decision.why));
  return decision;
}

Communicators &Communicators::table() {
  static auto &table = *new Communicators;
  return table;
}

Communicators::Communicators() {
  if (const char *names = std::getenv("GC3_BUNDLES"); names && *names)
    engine = makeEngine(openBundles(names));
  else if (log::informs())
    log::tell("GC3_BUNDLES is not set: NCCL serves all calls");
}

std::shared_ptr<const Entry> Communicators::find(Comm comm) const {
  if (!active())
    return nullptr;
  std::shared_lock lock(mutex);
  auto found = entries.find(comm);
  return found == entries.end() ? nullptr : found->second;
}

bool Communicators::willBlock(const Config *config, Comm parent) const {
  if (config && config->blocking != configUndefined)
    return config->blocking != 0;
  std::shared_ptr<const Entry> from = find(parent);
  return !from || from->blocking;
}

/// NCCL_COMM_BLOCKING overrides what the program configures. NCCL may have set it from its own file of settings, so it
/// is read when NCCL has made the communicator.
static bool hasBlocked(const Birth &birth) {
  const char *always = std::getenv("NCCL_COMM_BLOCKING");
  if (always && std::strcmp(always, "0") == 0)
    return false;
  return birth.blocking || (always && std::strcmp(always, "1") == 0);
}

void Communicators::adopt(std::span<const Birth> births) {
  std::vector<Member> members; // those that the engine is asked about
  for (const Birth &birth : births) {
    Member member{*birth.handle, 0, 0};
    if (!member.comm)
      continue;
    if (!hasBlocked(birth)) { // NCCL does not say its ranks yet
      refuse(member, false, "it does not block");
      continue;
    }
    if (callInstalled<Function::CommCount>(member.comm, &member.ranks) != Result::Success ||
        callInstalled<Function::CommUserRank>(member.comm, &member.rank) != Result::Success)
      continue;
    if (member.ranks == 1)
      refuse(member, true, "one rank");
    else
      members.push_back(member);
  }
  if (members.empty())
    return;
  std::vector<Attached> attached = [&] {
    Inside inside;
    return engine->attach(members);
  }();
  for (size_t i = 0; i < members.size(); ++i)
    if (attached[i].attachment)
      insert({members[i], true, std::move(attached[i])});
    else
      refuse(members[i], true, std::move(attached[i].why));
}

void Communicators::refuse(const Member &member, bool blocking, std::string why) {
  if (log::informs())
    log::tell(
        (member.ranks ? "rank " + std::to_string(member.rank) + " of " + std::to_string(member.ranks) + ": " : "") +
        "a communicator is left to NCCL: " + why);
  insert({member, blocking, {nullptr, std::move(why)}});
}

void Communicators::insert(Entry made) {
  auto entry = std::make_shared<const Entry>(std::move(made));
  Inside inside;
  std::shared_ptr<const Entry> stale; // of a handle that was freed without our knowledge
  {
    std::unique_lock lock(mutex);
    stale = std::exchange(entries[entry->member.comm], entry);
    operations.erase(entry->member.comm);
  }
  if (stale && stale->attached.attachment)
    stale->attached.attachment->abort();
}

void Communicators::note(Comm comm, RedOp op, std::optional<host::PreMulSum> made) {
  if (!active())
    return;
  std::unique_lock lock(mutex);
  if (made)
    operations[comm].insert_or_assign(op, *made);
  else if (auto known = operations.find(comm); known != operations.end())
    known->second.erase(op);
}

std::optional<host::PreMulSum> Communicators::operation(Comm comm, RedOp op) const {
  std::shared_lock lock(mutex);
  const auto known = operations.find(comm);
  if (known == operations.end())
    return std::nullopt;
  const auto found = known->second.find(op);
  return found == known->second.end() ? std::nullopt : std::optional(found->second);
}

Result Communicators::run(std::span<const Work> works) {
  Inside inside;
  return engine->run(works);
}

void Communicators::release(Comm comm) {
  if (!active())
    return;
  Inside inside;
  std::unordered_map<Comm, std::shared_ptr<const Entry>>::node_type entry; // goes when the lock is free again
  std::unique_lock lock(mutex);
  entry = entries.extract(comm);
  operations.erase(comm);
}

bool Communicators::abort(Comm comm) {
  Inside inside;
  std::shared_ptr<const Entry> entry = find(comm);
  if (!entry || !entry->attached.attachment)
    return false;
  const bool isRevoked = entry->attached.attachment->abort();
  std::unique_lock lock(mutex);
  entries[comm] = std::make_shared<const Entry>(Entry{entry->member, entry->blocking, {nullptr, "it was aborted"}});
  return isRevoked;
}

} // namespace gc3::nccl
