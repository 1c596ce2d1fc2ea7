// SPDX-License-Identifier: Apache-2.0
// The stand-in's functions. As NCCL's, nccl<name> is a weak name of pnccl<name>, and Bcast calls Broadcast by its
// exported name. FAKE_NCCL_OLD makes an older one: no pnccl names, no AlltoAll.
#include "FakeNccl.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

using namespace gc3::nccl;
using namespace gc3::ncclapi;
using gc3::nccl::test::FakeComm;

namespace {

void print(const char *event) {
  std::printf("NCCL %s\n", event);
  std::fflush(stdout);
}

std::atomic<void (*)(const char *)> sink{print};
std::atomic<int> comms{0}, operations{redOpCount};
std::atomic<Result> asyncError{Result::Success};
std::mutex planning;
// Never destroyed: other threads may call while the process ends.
auto &planned = *new std::map<std::string, Result>;
auto &alive = *new std::vector<std::unique_ptr<FakeComm>>;
auto &unborn = ///< by a parent that does not block: it has not said so yet
    *new std::map<Comm, std::vector<std::pair<Comm *, Comm>>>;
Comm reused = nullptr;

/// One thread's group: children's handles are written when it ends, and it remembers its first error. Communicators
/// that block and others can't be in one group, but whoever destroys one makes it a group that blocks, as NCCL has it.
struct OpenGroup {
  unsigned depth = 0;
  Result error = Result::Success;
  std::optional<bool> blocks;
  bool isBehind = false; ///< NCCL goes on with it by itself
  std::vector<std::pair<Comm *, Comm>> births;
};
thread_local OpenGroup group;

std::string text(Comm comm) {
  return test::commName(comm);
}
std::string text(UniqueId) {
  return "id";
}
std::string text(const UniqueId *ids) {
  return ids ? "ids" : "null";
}
std::string text(const Config *config) {
  return config ? "config" : "null";
}
std::string text(DataType type) {
  return std::to_string(static_cast<int>(type));
}
std::string text(RedOp op) {
  return std::to_string(static_cast<int>(op));
}
std::string text(ScalarResidence residence) {
  return std::to_string(static_cast<int>(residence));
}
std::string text(int value) {
  return std::to_string(value);
}
std::string text(size_t value) {
  return std::to_string(value);
}
std::string text(const void *address) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "0x%zx", reinterpret_cast<size_t>(address));
  return digits;
}

/// Makes the event, and gives what was planned for it.
template <typename... Args>
Result enter(const char *name, Args... args) {
  std::string event = name, separator = "(";
  ((event += separator + text(args), separator = ", "), ...);
  sink.load()((event + (sizeof...(args) ? ")" : "()")).c_str());
  std::lock_guard lock(planning);
  auto node = planned.extract(name);
  Result result = node ? node.mapped() : Result::Success;
  if (group.depth && group.error == Result::Success)
    group.error = result;
  return result;
}

/// What becomes of a call that goes on in the background, of a communicator that blocks or not.
Result launch(Result result, bool blocking) {
  if (group.depth == 0 || (result != Result::Success && result != Result::InProgress))
    return result;
  if (group.blocks.value_or(blocking) != blocking)
    return group.error = Result::InvalidArgument;
  group.blocks = blocking;
  return result;
}

bool blocks(Comm comm) {
  return reinterpret_cast<FakeComm *>(comm)->blocking;
}
bool blocks(const Config *config) {
  return !config || config->blocking != 0;
}

Comm newComm(int ranks, int rank, bool blocking) {
  if (const char *value = std::getenv("FAKE_NCCL_BLOCKING")) // as a line of nccl.conf
    setenv("NCCL_COMM_BLOCKING", value, 0);
  FakeComm made{comms++, ranks, rank, blocking};
  std::lock_guard lock(planning);
  if (!reused)
    alive.push_back(std::make_unique<FakeComm>());
  FakeComm *comm = reused ? reinterpret_cast<FakeComm *>(std::exchange(reused, nullptr)) : alive.back().get();
  *comm = made;
  return reinterpret_cast<Comm>(comm);
}

Result makeComm(Result result, Comm *where, int ranks, int rank, bool blocking) {
  if (result == Result::Success || result == Result::InProgress)
    *where = ranks ? newComm(ranks, rank, blocking) : nullptr;
  return result;
}

/// In a group, when that ends. Of a parent that does not block, which is given then, when that has been asked.
Result makeChild(Result result, Comm asked, Comm *where, int ranks, int rank, bool blocking) {
  if (result != Result::Success && result != Result::InProgress)
    return result;
  Comm made = nullptr;
  makeComm(result, &made, ranks, rank, blocking);
  if (!asked && group.depth == 0) {
    __atomic_store_n(where, made, __ATOMIC_RELEASE);
    return result;
  }
  *where = nullptr;
  if (!asked) {
    group.births.push_back({where, made});
    return result;
  }
  std::lock_guard lock(planning);
  unborn[asked].push_back({where, made});
  group.isBehind = group.depth != 0;
  return result;
}

Result freeComm(Result result, Comm comm) {
  std::lock_guard lock(planning);
  if (result == Result::Success)
    std::erase_if(alive, [&](const auto &owned) { return owned.get() == reinterpret_cast<FakeComm *>(comm); });
  return result;
}

Result endGroup(Result result) {
  if (group.depth == 0)
    return Result::InvalidUsage;
  if (--group.depth)
    return result;
  for (auto [where, comm] : group.births)
    *where = comm;
  if (result == Result::Success)
    result = group.error == Result::Success && group.isBehind ? Result::InProgress : group.error;
  group = {};
  return result;
}

} // namespace

// FAKE(Type, Name) begins the definition of a function.
#ifdef FAKE_NCCL_OLD
#define FAKE(name, ...) extern "C" Result nccl##name(__VA_ARGS__)
#else
#define FAKE(name, ...)                                                                                                \
  extern "C" Result pnccl##name(__VA_ARGS__);                                                                          \
  extern "C" __attribute__((weak, alias("pnccl" #name))) Result nccl##name(__VA_ARGS__);                               \
  extern "C" Result pnccl##name(__VA_ARGS__)
#endif

FAKE(AllGather, const void *send, void *recv, size_t count, DataType type, Comm comm, Stream stream) {
  return enter("AllGather", send, recv, count, type, comm, stream);
}

FAKE(AllReduce, const void *send, void *recv, size_t count, DataType type, RedOp op, Comm comm, Stream stream) {
  return enter("AllReduce", send, recv, count, type, op, comm, stream);
}

#ifndef FAKE_NCCL_OLD
FAKE(AlltoAll, const void *send, void *recv, size_t count, DataType type, Comm comm, Stream stream) {
  return enter("AlltoAll", send, recv, count, type, comm, stream);
}
#endif

FAKE(Broadcast, const void *send, void *recv, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return enter("Broadcast", send, recv, count, type, root, comm, stream);
}

FAKE(Gather, const void *send, void *recv, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return enter("Gather", send, recv, count, type, root, comm, stream);
}

FAKE(Reduce, const void *send, void *recv, size_t count, DataType type, RedOp op, int root, Comm comm, Stream stream) {
  return enter("Reduce", send, recv, count, type, op, root, comm, stream);
}

FAKE(ReduceScatter, const void *send, void *recv, size_t count, DataType type, RedOp op, Comm comm, Stream stream) {
  return enter("ReduceScatter", send, recv, count, type, op, comm, stream);
}

FAKE(Scatter, const void *send, void *recv, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return enter("Scatter", send, recv, count, type, root, comm, stream);
}

FAKE(Send, const void *send, size_t count, DataType type, int peer, Comm comm, Stream stream) {
  return enter("Send", send, count, type, peer, comm, stream);
}

FAKE(Recv, void *recv, size_t count, DataType type, int peer, Comm comm, Stream stream) {
  return enter("Recv", recv, count, type, peer, comm, stream);
}

FAKE(Bcast, void *buffer, size_t count, DataType type, int root, Comm comm, Stream stream) {
  if (Result result = enter("Bcast", buffer, count, type, root, comm, stream); result != Result::Success)
    return result;
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

FAKE(CommInitRank, Comm *comm, int ranks, UniqueId id, int rank) {
  return makeComm(launch(enter("CommInitRank", ranks, id, rank), true), comm, ranks, rank, true);
}

FAKE(CommInitRankConfig, Comm *comm, int ranks, UniqueId id, int rank, Config *config) {
  const bool blocking = blocks(config);
  return makeComm(launch(enter("CommInitRankConfig", ranks, id, rank, config), blocking), comm, ranks, rank, blocking);
}

FAKE(CommInitRankScalable, Comm *comm, int ranks, int rank, int idCount, UniqueId *ids, Config *config) {
  const bool blocking = blocks(config);
  return makeComm(launch(enter("CommInitRankScalable", ranks, rank, idCount, ids, config), blocking), comm, ranks, rank,
                  blocking);
}

FAKE(CommInitAll, Comm *made, int devices, const int *devlist) {
  Result result = enter("CommInitAll", devices, devlist);
  for (int rank = 0; rank < devices; ++rank)
    makeComm(result, &made[rank], devices, rank, true);
  return result;
}

/// Half of the ranks; none for a negative color. A parent that does not block has it done when it is asked, which the
/// result does not say.
FAKE(CommSplit, Comm parent, int color, int key, Comm *child, Config *config) {
  const int ranks = color < 0 ? 0 : reinterpret_cast<FakeComm *>(parent)->ranks / 2;
  const bool blocking = blocks(parent); // which may be freed before it has been split
  const Result result = launch(enter("CommSplit", parent, color, key, config), blocking);
  const bool childBlocks = config ? blocks(config) : blocking;
  return makeChild(result, blocking ? nullptr : parent, child, ranks, key, childBlocks);
}

FAKE(CommShrink, Comm parent, int *excluded, int excludedCount, Comm *child, Config *config, int flags) {
  const FakeComm from = *reinterpret_cast<FakeComm *>(parent);
  (void)excluded;
  const Result result = launch(enter("CommShrink", parent, excludedCount, config, flags), from.blocking);
  return makeChild(result, from.blocking ? nullptr : parent, child, from.ranks - excludedCount, from.rank,
                   config ? blocks(config) : from.blocking);
}

FAKE(CommGrow, Comm parent, int ranks, const UniqueId *id, int rank, Comm *child, Config *config) {
  int own = parent ? reinterpret_cast<FakeComm *>(parent)->rank : rank;
  return makeComm(enter("CommGrow", parent, ranks, id, rank, config), child, ranks, own, blocks(config));
}

FAKE(CommFinalize, Comm comm) {
  return launch(enter("CommFinalize", comm), blocks(comm));
}

FAKE(CommDestroy, Comm comm) {
  if (group.depth)
    group.blocks = true;
  return freeComm(enter("CommDestroy", comm), comm);
}

FAKE(CommAbort, Comm comm) {
  return freeComm(enter("CommAbort", comm), comm);
}

FAKE(CommRevoke, Comm comm, int flags) {
  return enter("CommRevoke", comm, flags);
}

// No events: they are how the library in front looks at a new communicator, and at nothing else.
FAKE(CommCount, Comm comm, int *ranks) {
  *ranks = reinterpret_cast<FakeComm *>(comm)->ranks;
  return Result::Success;
}

FAKE(CommUserRank, Comm comm, int *rank) {
  *rank = reinterpret_cast<FakeComm *>(comm)->rank;
  return Result::Success;
}

FAKE(CommGetAsyncError, Comm comm, Result *error) {
  *error = asyncError;
  std::vector<std::pair<Comm *, Comm>> born; // by now
  if (*error == Result::Success) {
    std::lock_guard lock(planning);
    born = std::exchange(unborn[comm], {});
  }
  for (const auto &[where, made] : born)
    __atomic_store_n(where, made, __ATOMIC_RELEASE);
  return enter("CommGetAsyncError", comm);
}

/// Handles are never used again.
FAKE(RedOpCreatePreMulSum, RedOp *op, void *scalar, DataType type, ScalarResidence residence, Comm comm) {
  const Result result = enter("RedOpCreatePreMulSum", type, residence, comm);
  if (result == Result::Success && scalar)
    *op = static_cast<RedOp>(operations++);
  return result;
}

FAKE(RedOpDestroy, RedOp op, Comm comm) {
  return enter("RedOpDestroy", op, comm);
}

FAKE(GetVersion, int *version) {
  *version = 22809;
  return Result::Success;
}

FAKE(GroupStart) {
  const Result result = enter("GroupStart");
  group.depth += result == Result::Success ? 1 : 0;
  return result;
}

FAKE(GroupEnd) {
  return endGroup(enter("GroupEnd"));
}

FAKE(GroupSimulateEnd, SimInfo *info) {
  return endGroup(enter("GroupSimulateEnd", static_cast<void *>(info)));
}

extern "C" void fakeNcclSink(void (*to)(const char *event)) {
  sink = to;
}

extern "C" void fakeNcclFail(const char *function, Result result) {
  std::lock_guard lock(planning);
  planned[function] = result;
}

extern "C" void fakeNcclReuse(Comm comm) {
  reused = comm;
}

extern "C" void fakeNcclAsyncError(Result error) {
  asyncError = error;
}

extern "C" void fakeNcclReset() {
  std::lock_guard lock(planning);
  planned.clear();
  unborn.clear();
  comms = 0;
  operations = redOpCount;
  asyncError = Result::Success;
}
