// SPDX-License-Identifier: Apache-2.0
#include "comm/ChildCommunicator.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace gc3::comm {

using core::Outcome;
using ncclapi::Comm;
using ncclapi::outcomeOf;
using ncclapi::Result;

namespace {

/// A gather is small, so one channel is enough, and NCCL's buffers stay small.
ncclapi::Config childConfig() {
  return {.size = sizeof(ncclapi::Config),
          .magic = ncclapi::configMagic,
          .version = ncclapi::configVersion,
          .blocking = 1,
          .cgaClusterSize = ncclapi::configUndefined,
          .minCTAs = 1,
          .maxCTAs = 1,
          .netName = nullptr,
          .splitShare = 0};
}

/// Calls `isOver` until it returns true or an error, or waits must end.
template <typename IsOver>
Outcome poll(const ChildCommunicator::Interrupted &interrupted, IsOver isOver) {
  for (;;) {
    if (Outcome outcome = interrupted(); !outcome.ok())
      return outcome;
    const core::Result<bool> over = isOver();
    if (!over.ok() || *over)
      return over.outcome();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

} // namespace

bool ChildCommunicator::canBlock() {
  const char *blocking = std::getenv("NCCL_COMM_BLOCKING");
  return !blocking || std::strcmp(blocking, "0") != 0;
}

Outcome ChildCommunicator::awaitParent(const QueryParent &queryParent) const {
  return poll(interrupted, [&]() -> core::Result<bool> {
    Result state = Result::InProgress;
    const Result queried = queryParent(state);
    if (queried == Result::Success && state == Result::InProgress)
      return false;
    if (Outcome outcome = outcomeOf(queried == Result::Success ? state : queried, "asking for the state");
        !outcome.ok())
      return outcome;
    return true;
  });
}

Outcome ChildCommunicator::create(Comm parent, int rank, const QueryParent &queryParent) {
  const std::string doing = "creating a child communicator";
  ncclapi::Config config = childConfig();
  pending = true;
  const Result split = nccl.CommSplit(parent, 0, rank, &written, &config);
  // NCCL completes the split of a parent that does not block later, whatever the result says.
  const bool hasBegun = split == Result::Success || split == Result::InProgress;
  const Outcome outcome = hasBegun ? awaitParent(queryParent) : outcomeOf(split, doing);
  const Comm made = __atomic_load_n(&written, __ATOMIC_ACQUIRE);
  ofAll = made;
  pending = hasBegun && !made && !interrupted().ok();
  if (outcome.ok() && !made)
    return {gc3InternalError, doing + ": NCCL has created none"};
  return outcome;
}

Outcome ChildCommunicator::asyncError() const {
  Result state = Result::Success;
  if (!get())
    return {};
  const Result queried = nccl.CommGetAsyncError(get(), &state);
  return state == Result::InProgress ? Outcome{}
                                     : outcomeOf(queried == Result::Success ? state : queried, "gc3's communicator");
}

Outcome ChildCommunicator::prepareGathers(uint32_t ofRanks, size_t mostBytes) {
  ranks = ofRanks;
  roomForOne = mostBytes;
  if (Outcome outcome = createEvent(cuda, gathered); !outcome.ok())
    return outcome;
  return allocate(cuda, (size_t{ranks} + 1) * mostBytes, "what ranks exchange", memory);
}

Outcome ChildCommunicator::gather(const void *own, size_t bytes, void *all, cuda::Stream stream) {
  const std::string doing = "exchanging data with the other ranks";
  auto *sent = static_cast<std::byte *>(memory.get());
  std::byte *received = sent + roomForOne;
  if (Outcome outcome = cuda::outcomeOf(cuda, cuda.copy(sent, own, bytes, stream), doing); !outcome.ok())
    return outcome;
  const Result begun = nccl.AllGather(sent, received, bytes, ncclapi::DataType::Int8, get(),
                                      reinterpret_cast<ncclapi::Stream>(stream));
  if (Outcome outcome = outcomeOf(begun, doing); !outcome.ok())
    return outcome;
  if (Outcome outcome = cuda::outcomeOf(cuda, cuda.record(gathered.get(), stream), doing); !outcome.ok())
    return outcome;
  Outcome outcome = poll(interrupted, [&]() -> core::Result<bool> {
    const cuda::Result state = cuda.query(gathered.get());
    if (state == cuda::notReady)
      return false;
    if (Outcome failed = cuda::outcomeOf(cuda, state, doing); !failed.ok())
      return failed;
    return true;
  });
  if (outcome.ok()) // a revoked gather ends, too, and brings nothing
    outcome = interrupted();
  if (outcome.ok())
    outcome = cuda::outcomeOf(cuda, cuda.copy(all, received, bytes * ranks, stream), doing);
  return outcome.ok() ? cuda::outcomeOf(cuda, cuda.synchronize(stream), doing) : outcome;
}

/// The color of a team is its first rank.
Outcome ChildCommunicator::splitByTeam(int rank) {
  const std::string doing = "splitting gc3's communicator by LSA team";
  const ncclapi::Team team = lsaTeam();
  ncclapi::Config config = childConfig();
  Comm made = nullptr;
  const Result split = nccl.CommSplit(get(), rank - team.rank * team.stride, team.rank, &made, &config);
  const Outcome outcome = outcomeOf(split, doing);
  ofTeam = made;
  if (!outcome.ok() || !made)
    return outcome.ok() ? Outcome{gc3InternalError, doing + ": NCCL has created none"} : outcome;
  const ncclapi::Team ofMade = nccl.TeamLsa(made);
  if (ofMade.ranks != team.ranks || ofMade.rank != team.rank || ofMade.stride != 1)
    return {gc3SystemError, "an LSA team is no team in a communicator of its own"};
  return {};
}

void ChildCommunicator::revoke() {
  for (const Comm comm : {ofTeam.load(), ofAll.load()})
    if (comm)
      nccl.CommRevoke(comm, 0);
}

void ChildCommunicator::endAll(ncclapi::signature::CommDestroy *end) {
  for (std::atomic<Comm> *comm : {&ofTeam, &ofAll})
    if (const Comm own = comm->exchange(nullptr))
      end(own);
  memory = cuda::DeviceMemory();
  gathered = cuda::OwnEvent();
}

void ChildCommunicator::destroy() {
  endAll(nccl.CommDestroy);
}

void ChildCommunicator::abort() {
  if (!ofAll && written) // NCCL has completed the split since create() was interrupted
    ofAll = written;
  endAll(nccl.CommAbort);
}

} // namespace gc3::comm
