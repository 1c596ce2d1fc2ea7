// SPDX-License-Identifier: Apache-2.0
// A libnccl.so.2 of the machine: communicators of ranks in this process, gathers and windows. It has no other
// collectives, so programs have to serve a job's calls.
#include "Machine.h"
#include "OneNcclAtATime.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <set>
#include <string>
#include <thread>
#include <utility>

using namespace gc3;
using namespace gc3::ncclapi;
using namespace gc3::test;

namespace {

const ncclapi::Nccl &fake() {
  static const ncclapi::Nccl table = oneNcclAtATime(machine().windows);
  return table;
}

/// By the id that their ranks have been given.
std::map<std::string, std::vector<Comm>> communicators;
/// By a rank's communicator that is split, where the new one is written when all ranks have come, which may not block.
std::map<Comm, std::pair<Comm *, bool>> splitting;
std::set<Comm> madeBySplitting, nonblocking;

Result free(Comm comm) {
  const OneAtATime now;
  nonblocking.erase(comm);
  if (madeBySplitting.erase(comm) != 0)
    return fake().CommDestroy(comm);
  machine().windows.free(comm);
  return Result::Success;
}

Result missing(const char *collective) {
  std::fprintf(stderr, "there is no nccl%s on this machine\n", collective);
  return Result::InternalError;
}

} // namespace

extern "C" {
Result ncclGetVersion(int *version) {
  return fake().GetVersion(version);
}
const char *ncclGetErrorString(Result) {
  return "an error of the emulated machine";
}
const char *ncclGetLastError(Comm) {
  return "";
}
Result ncclGetUniqueId(UniqueId *id) {
  static std::atomic<int> ids = 0;
  *id = {};
  std::snprintf(id->bytes, sizeof id->bytes, "%d", ++ids);
  return Result::Success;
}

Result ncclCommInitRankConfig(Comm *comm, int ranks, UniqueId id, int rank, Config *config) {
  const OneAtATime now;
  std::vector<Comm> &all = communicators[id.bytes];
  if (all.empty())
    all = machine().windows.make(ranks);
  *comm = all.at(static_cast<size_t>(rank));
  if (!config || config->blocking != 0)
    return Result::Success;
  nonblocking.insert(*comm);
  return Result::InProgress;
}
Result ncclCommInitRank(Comm *comm, int ranks, UniqueId id, int rank) {
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}
/// On devices 0, 1, ...
Result ncclCommInitAll(Comm *comms, int ranks, const int *) {
  const OneAtATime now;
  std::ranges::copy(machine().windows.make(ranks), comms);
  return Result::Success;
}
Result ncclCommFinalize(Comm) {
  return Result::Success;
}
Result ncclCommDestroy(Comm comm) {
  return free(comm);
}
Result ncclCommAbort(Comm comm) {
  return free(comm);
}
Result ncclCommGetAsyncError(Comm comm, Result *error) {
  const OneAtATime now;
  *error = Result::Success;
  if (const auto split = splitting.find(comm); split == splitting.end())
    return Result::Success;
  else if (Comm made = *split->second.first; made) {
    madeBySplitting.insert(made);
    if (split->second.second)
      nonblocking.insert(made);
    splitting.erase(split);
  } else {
    *error = Result::InProgress;
  }
  return Result::Success;
}
/// Of a parent that does not block it goes on behind the Success.
Result ncclCommSplit(Comm parent, int color, int key, Comm *child, Config *config) {
  const auto begin = [&] {
    const OneAtATime now;
    const ncclapi::Nccl table = machine().windows.table();
    *child = nullptr;
    splitting[parent] = {child, config && config->blocking == 0};
    table.GroupStart();
    table.CommSplit(parent, color, key, child, config);
    table.GroupEnd();
    return nonblocking.contains(parent);
  };
  Result state = begin() ? Result::Success : Result::InProgress;
  while (state == Result::InProgress) {
    ncclCommGetAsyncError(parent, &state);
    std::this_thread::yield();
  }
  return Result::Success;
}
Result ncclCommCount(Comm comm, int *ranks) {
  return fake().CommCount(comm, ranks);
}
Result ncclCommUserRank(Comm comm, int *rank) {
  return fake().CommUserRank(comm, rank);
}
Result ncclCommCuDevice(Comm comm, int *device) {
  return fake().CommCuDevice(comm, device);
}
Result ncclCommRegister(Comm, void *memory, size_t, void **handle) {
  *handle = memory;
  return Result::Success;
}
Result ncclCommDeregister(Comm, void *) {
  return Result::Success;
}

Result ncclMemAlloc(void **memory, size_t bytes) {
  return fake().MemAlloc(memory, bytes);
}
Result ncclMemFree(void *memory) {
  return fake().MemFree(memory);
}
Result ncclCommWindowRegister(Comm comm, void *memory, size_t bytes, Window *window, int flags) {
  return fake().CommWindowRegister(comm, memory, bytes, window, flags);
}
Result ncclCommWindowDeregister(Comm comm, Window window) {
  return fake().CommWindowDeregister(comm, window);
}
Result ncclDevCommCreate(Comm, const void *, void *) {
  return missing("DevCommCreate"); // all ranks are of one team
}
Result ncclDevCommDestroy(Comm, const void *) {
  return missing("DevCommDestroy");
}
Team ncclTeamLsa(Comm comm) {
  return fake().TeamLsa(comm);
}

/// What comes in a group is done at once: gathers, which wait on their streams, and splits, which are in progress then.
Result ncclGroupStart() {
  return Result::Success;
}
Result ncclGroupEnd() {
  return Result::Success;
}
Result ncclRedOpCreatePreMulSum(RedOp *op, void *, DataType, ScalarResidence, Comm) {
  static std::atomic<int> operations = redOpCount;
  *op = static_cast<RedOp>(operations++);
  return Result::Success;
}
Result ncclRedOpDestroy(RedOp, Comm) {
  return Result::Success;
}

Result ncclAllGather(const void *send, void *recv, size_t count, DataType type, Comm comm, Stream stream) {
  return type == DataType::Int8 ? fake().AllGather(send, recv, count, type, comm, stream) : missing("AllGather");
}
Result ncclAllReduce() {
  return missing("AllReduce");
}
Result ncclBcast() {
  return missing("Bcast");
}
Result ncclBroadcast() {
  return missing("Broadcast");
}
Result ncclReduce() {
  return missing("Reduce");
}
Result ncclReduceScatter() {
  return missing("ReduceScatter");
}
Result ncclSend() {
  return missing("Send");
}
Result ncclRecv() {
  return missing("Recv");
}
}
