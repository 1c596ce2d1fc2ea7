// SPDX-License-Identifier: Apache-2.0
// What has to be made ready before calls can be made, for which ranks wait for each other.
#include "core/Log.h"
#include "nccl/Communicators.h"
#include "ncclapi/Installed.h"
#include "shim/Guarded.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace gc3::nccl {

void Communicators::takeOn(Comm comm) {
  const std::shared_ptr<const Entry> entry = find(comm);
  if (!entry || !entry->waits)
    return;
  OwnComm &own = *entry->own;
  const Result ready = own.settle();
  if (ready == Result::InProgress) // a later call would meet others' first
    own.giveUp();
  Entry made = *entry;
  made.waits = false;
  if (ready != Result::Success || !ask(made.member))
    return;
  Member &member = made.member;
  if (member.ranks == 1) {
    made.attached = refusal(member, "one rank");
    return replace(std::move(made));
  }
  if (const Result result = own.make(member.rank, *engine); result != Result::Success) {
    if (own.isAborted()) // calls fail from now on
      return;
    made.attached = refusal(member, "it could not be split: NCCL's error " + std::to_string(static_cast<int>(result)));
    return replace(std::move(made));
  }
  tellOf(member, std::string(made.blocking.surely ? "may not block on all ranks" : "does not block") +
                     ": programs go by one of gc3's own beside it");
  const Member beside{own.get(), member.ranks, member.rank, own.abortFlag()};
  replace(std::move(attach({std::move(made)}, {&beside, 1}).front()));
}

void Communicators::makeOneReady(const CallsOfOne &calls, bool areCaptured) {
  const std::shared_ptr<const Entry> last = calls.front()->entry;
  if (last->waits) {
    const CollectiveCall &first = calls.front()->work.call;
    if (!areCaptured)
      takeOn(first.comm);
    const std::shared_ptr<const Entry> entry = find(first.comm);
    if (last->own->isAborted() || !entry)
      return;
    for (Kept *call : calls) {
      const Decision decision = entry->decide(call->work.call);
      call->work.attachment = decision.served() ? entry->attached.attachment.get() : nullptr;
      call->work.program = decision.program;
      call->entry = entry;
    }
  }
  const Inside inside;
  if (const Work &first = calls.front()->work; first.attachment && !areCaptured)
    engine->load(first);
}

/// Calls fail for which that can't be done: others may have made theirs when a further one is made.
static void giveUp(const CallsOfOne &calls) {
  if (const Entry &entry = *calls.front()->entry; entry.waits)
    entry.own->giveUp();
}

void Communicators::tryToMakeOneReady(const CallsOfOne &calls, bool areCaptured) {
  const auto made = [&] {
    makeOneReady(calls, areCaptured);
    return Result::Success;
  };
  if (guarded(made) != Result::Success)
    giveUp(calls);
}

std::jthread Communicators::makeOneReadyElsewhere(const CallsOfOne &calls, bool areCaptured) {
  try {
    return std::jthread(engine->elsewhere([this, calls, areCaptured] { tryToMakeOneReady(calls, areCaptured); }));
  } catch (const std::system_error &error) {
    core::tell(std::string("no thread for a communicator: ") + error.what());
    giveUp(calls);
    return {};
  }
}

void Communicators::makeReady(std::span<const CallsOfOne> all) {
  std::vector<bool> areCaptured; // looked at here, as each thread has a stream of its own behind one handle
  for (const CallsOfOne &calls : all)
    areCaptured.push_back(engine->isCaptured(calls.front()->work.call.stream));
  std::vector<std::jthread> others;
  for (size_t i = 1; i < all.size(); ++i)
    others.push_back(makeOneReadyElsewhere(all[i], areCaptured[i]));
  if (!all.empty())
    tryToMakeOneReady(all.front(), areCaptured.front());
}

} // namespace gc3::nccl
