// SPDX-License-Identifier: Apache-2.0
#include "comm/ChildCommunicator.h"

#include "core/Backoff.h"
#include <chrono>
#include <thread>
#include <utility>

namespace gc3::comm {

using core::Outcome;
using ncclapi::Comm;
using ncclapi::outcomeOf;
using ncclapi::Result;

namespace {

/// Returns the configuration of a child: non-blocking, with one channel. Gathers are small, so one channel is enough,
/// and NCCL's buffers stay small.
ncclapi::Config childConfig() {
  return {.size = sizeof(ncclapi::Config),
          .magic = ncclapi::configMagic,
          .version = ncclapi::configVersion,
          .blocking = 0,
          .cgaClusterSize = ncclapi::configUndefined,
          .minCTAs = 1,
          .maxCTAs = 1,
          .netName = nullptr,
          .splitShare = 0};
}

/// Polls until `isOver` returns true or an error, or until `checkInterruption` returns an error.
template <typename IsOver>
Outcome poll(const ChildCommunicator::CheckInterruption &checkInterruption, IsOver isOver) {
  for (core::Backoff backoff;; backoff.pause()) {
    if (Outcome outcome = checkInterruption(); !outcome.ok())
      return outcome;
    const core::Result<bool> over = isOver();
    if (!over.ok() || *over)
      return over.outcome();
  }
}

/// Returns true if a communicator has no operation in progress. `queried` is the result of NCCL's query of the
/// communicator, and `state` the state that the query returned. Returns an error if `queried` or `state` is an error.
core::Result<bool> isComplete(Result queried, Result state, const std::string &doing) {
  if (queried == Result::Success && state == Result::InProgress)
    return false;
  if (Outcome outcome = outcomeOf(queried == Result::Success ? state : queried, doing); !outcome.ok())
    return outcome;
  return true;
}

} // namespace

Outcome ChildCommunicator::awaitParent(const QueryParent &queryParent) const {
  return poll(checkInterruption, [&] {
    Result state = Result::InProgress;
    const Result queried = queryParent(state);
    return isComplete(queried, state, "creating a communicator");
  });
}

/// NCCL can write the handle of a child even if the creation fails. This function does not free such a child: NCCL's
/// parent refers to it, so freeing it would corrupt the parent.
Outcome ChildCommunicator::create(Comm parent, int rank, const QueryParent &queryParent) {
  ncclapi::Config config = childConfig();
  creation = Creation::Splitting;
  // An abort that saw isSplitting() return false does not wait for this split, so the parent may already be freed.
  if (Outcome outcome = checkInterruption(); !outcome.ok()) {
    creation = Creation::None;
    return outcome;
  }
  const Result split = nccl.CommSplit(parent, 0, rank, &newChild, &config);
  creation = Creation::Completing;
  // If the parent is non-blocking, NCCL completes the split later, even if CommSplit has returned Success.
  const bool hasBegun = split == Result::Success || split == Result::InProgress;
  Outcome outcome = hasBegun ? awaitParent(queryParent) : outcomeOf(split, "creating a child communicator");
  const Comm made = __atomic_load_n(&newChild, __ATOMIC_ACQUIRE);
  if (hasBegun && !made && !checkInterruption().ok())
    return outcome; // still pending: NCCL can write the handle later
  creation = Creation::None;
  if (outcome.ok() && !made)
    return {gc3InternalError, "NCCL has created no child communicator"};
  if (outcome.ok() || (hasBegun && !checkInterruption().ok()))
    child = made;
  return outcome;
}

Outcome ChildCommunicator::completeOn(Comm comm, Result result, const std::string &doing) const {
  if (result != Result::InProgress && result != Result::Success)
    return outcomeOf(result, doing);
  return poll(checkInterruption, [&] {
    Result state = Result::InProgress;
    const Result queried = nccl.CommGetAsyncError(comm, &state);
    return isComplete(queried, state, doing);
  });
}

Outcome ChildCommunicator::complete(Result result, const std::string &doing) const {
  return completeOn(windowComm(), result, doing);
}

Outcome ChildCommunicator::asyncError() const {
  Result state = Result::Success;
  if (!get())
    return {};
  const Result queried = nccl.CommGetAsyncError(get(), &state);
  return isComplete(queried, state, "gc3's communicator").outcome();
}

Outcome ChildCommunicator::prepareGathers(uint32_t rankCount, size_t mostBytes) {
  ranks = rankCount;
  bytesPerRank = mostBytes;
  if (Outcome outcome = createEvent(cuda).moveTo(gathered); !outcome.ok())
    return outcome;
  return allocate(cuda, (size_t{ranks} + 1) * mostBytes, "gathers").moveTo(memory);
}

Outcome ChildCommunicator::gather(const void *own, size_t bytes, void *all, cuda::Stream stream) {
  const std::string doing = "exchanging data with the other ranks";
  auto *sent = static_cast<std::byte *>(memory.get());
  std::byte *received = sent + bytesPerRank;
  if (Outcome outcome = cuda::outcomeOf(cuda, cuda.copy(sent, own, bytes, stream), doing); !outcome.ok())
    return outcome;
  const Result begun =
      nccl.AllGather(sent, received, bytes, ncclapi::DataType::Int8, get(), reinterpret_cast<ncclapi::Stream>(stream));
  if (Outcome outcome = completeOn(get(), begun, doing); !outcome.ok())
    return outcome;
  if (Outcome outcome = cuda::outcomeOf(cuda, cuda.record(gathered.get(), stream), doing); !outcome.ok())
    return outcome;
  Outcome outcome = poll(checkInterruption, [&]() -> core::Result<bool> {
    const cuda::Result state = cuda.query(gathered.get());
    if (state == cuda::notReady)
      return false;
    if (Outcome failed = cuda::outcomeOf(cuda, state, doing); !failed.ok())
      return failed;
    return true;
  });
  if (!outcome.ok())
    return outcome;
  if (Outcome copied = cuda::outcomeOf(cuda, cuda.copy(all, received, bytes * ranks, stream), doing); !copied.ok())
    return copied;
  return cuda::outcomeOf(cuda, cuda.synchronize(stream), doing);
}

/// Uses the number of a team's first rank as the color of the split.
Outcome ChildCommunicator::splitByTeam(int rank, const ncclapi::Team &team) {
  const std::string doing = "splitting gc3's communicator by LSA team";
  ncclapi::Config config = childConfig();
  const Result split = nccl.CommSplit(get(), rank - team.rank * team.stride, team.rank, &newTeamChild, &config);
  if (Outcome outcome = completeOn(get(), split, doing); !outcome.ok())
    return outcome;
  teamChild = newTeamChild;
  if (!teamChild)
    return {gc3InternalError, doing + ": NCCL has created none"};
  if (Outcome outcome = completeOn(teamChild, Result::Success, doing); !outcome.ok())
    return outcome;
  const ncclapi::Team teamOfChild = nccl.TeamLsa(teamChild);
  if (teamOfChild.ranks != team.ranks || teamOfChild.rank != team.rank || teamOfChild.stride != 1)
    return {gc3SystemError, "the ranks of an LSA team are no LSA team in a communicator of their own"};
  return {};
}

void ChildCommunicator::releaseMemory() {
  memory = cuda::DeviceMemory();
  gathered = cuda::OwnEvent();
}

/// If the child has an error, aborts it instead. If NCCL destroyed it, NCCL would leave a group open in this thread.
void ChildCommunicator::destroy() {
  if (!asyncError().ok())
    return abort();
  for (const Comm comm : {std::exchange(teamChild, nullptr), child.exchange(nullptr)})
    if (comm)
      nccl.CommDestroy(comm);
  releaseMemory();
}

void ChildCommunicator::abort() {
  if (isPending()) // the parent was aborted, so NCCL has ended the split
    child = newChild;
  creation = Creation::None;
  for (const Comm comm : {std::exchange(teamChild, nullptr), child.exchange(nullptr)})
    if (comm)
      nccl.CommAbort(comm);
  releaseMemory();
}

} // namespace gc3::comm
