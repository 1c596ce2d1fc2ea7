// SPDX-License-Identifier: Apache-2.0
// Collectives. AllGathers on gc3's children run on streams. The application's collectives are recorded as events and do
// nothing.
#include "FakeNcclState.h"

#include <cstring>

namespace gc3::test {

using ncclapi::DataType;
using ncclapi::RedOp;
using ncclapi::ScalarResidence;
using ncclapi::Stream;
using Member = FakeNccl::Member;
using World = FakeNccl::World;

namespace {

size_t sizeOf(DataType type) {
  switch (type) {
  case DataType::Int8:
  case DataType::Uint8:
  case DataType::Float8e4m3:
  case DataType::Float8e5m2: return 1;
  case DataType::Float16:
  case DataType::Bfloat16: return 2;
  case DataType::Int32:
  case DataType::Uint32:
  case DataType::Float32: return 4;
  case DataType::Int64:
  case DataType::Uint64:
  case DataType::Float64: return 8;
  }
  Monitor::fail("a data type that NCCL does not have");
}

/// Counts a rank's gather until its stream has completed it or is destroyed.
struct Pending {
  explicit Pending(std::shared_ptr<Member> of) : member(std::move(of)) { ++member->gathersLeft; }
  ~Pending() {
    --member->gathersLeft;
    member->gathersRunning -= isRunning;
    Monitor::change();
  }
  Pending(const Pending &) = delete;
  Pending &operator=(const Pending &) = delete;
  std::shared_ptr<Member> member;
  bool isRunning = false;
};

/// One rank's part of a gather: the work that stands for the NCCL kernel. Streams can outlive the fake, so the kernel
/// owns its communicator and rank.
struct GatherKernel {
  const std::byte *send;
  std::byte *recv;
  size_t bytes;
  size_t number;
  std::shared_ptr<World> world;
  std::shared_ptr<Pending> pending;

  bool operator()() const {
    Gather &gather = world->gathers[number];
    const Member &member = *pending->member;
    if (!pending->isRunning && member.isEnded())
      return true;
    if (!pending->isRunning) {
      pending->isRunning = true;
      ++pending->member->gathersRunning;
      gather.data[static_cast<size_t>(member.rank)].assign(send, send + bytes);
      ++gather.arrived;
      ++state().fake.gathersBegun;
    }
    if (gather.arrived != world->ranks)
      return member.isEnded();
    for (size_t rank = 0; rank < gather.data.size(); ++rank)
      std::memcpy(recv + rank * bytes, gather.data[rank].data(), bytes);
    return true;
  }
};

template <typename T>
std::shared_ptr<T> shared(const std::vector<std::shared_ptr<T>> &all, const T *wanted) {
  for (const auto &one : all)
    if (one.get() == wanted)
      return one;
  return nullptr;
}

/// Enqueues this rank's part of its next gather. The n-th gathers of all ranks form one collective.
void launch(Member &member, const void *send, void *recv, size_t bytes, Stream stream) {
  World &world = *member.world;
  const auto rank = static_cast<size_t>(member.rank);
  const size_t number = world.gathered[rank]++;
  if (world.gathers.size() <= number)
    world.gathers.push_back({.data = std::vector<std::vector<std::byte>>(static_cast<size_t>(world.ranks))});
  Gather &gather = world.gathers[number];
  if (gather.bytes.value_or(bytes) != bytes)
    Monitor::fail("AllGather of other sizes on other ranks");
  gather.bytes = bytes;
  const GatherKernel kernel{static_cast<const std::byte *>(send),
                            static_cast<std::byte *>(recv),
                            bytes,
                            number,
                            shared(state().worlds, &world),
                            nullptr};
  state().cuda.enqueue(reinterpret_cast<cuda::Stream>(stream), [kernel, owner = world.members[rank]] {
    GatherKernel one = kernel;
    one.pending = std::make_shared<Pending>(owner);
    return one;
  });
}

/// Runs a gather on gc3's child. If FakeNccl::connects is set, the rank's first gather waits until all ranks have
/// called.
Result gatherOnChild(const NcclCall &call, const void *send, void *recv, size_t bytes, Stream stream) {
  if (call.hasEnded() && !call.failsLate())
    return call.result();
  Member *member = &call.member();
  const bool fails = call.hasEnded();
  auto finish = [=] {
    launch(*member, send, recv, bytes, stream);
    return fails ? FakeNccl::failure : Result::Success;
  };
  const bool connects = state().fake.connects && !std::exchange(member->isConnected, true);
  if (!connects)
    return submit({.name = "AllGather", .member = member, .finish = finish, .isSetUp = false});
  auto complete = [](World &, SetUp &) {};
  return submit(meetAllRanks("AllGather", {.member = member}, complete, [finish](SetUp &) { return finish(); }));
}

/// Records a collective call on a communicator of the application. Ends the process if the communicator is gc3's child.
template <typename... Args>
Result record(const char *name, Comm comm, const Args &...args) {
  const NcclCall call(By::Application, name, comm, NcclCall::Kind::Counted, [&] { return eventText(name, args...); });
  if (comm && call.member().isChild)
    Monitor::fail(std::string(name) + " of " + text(comm));
  return call.result();
}

bool isChild(Comm comm) {
  const auto known = state().members.find(comm);
  return known != state().members.end() && known->second->isChild;
}

Result allGather(By, const void *send, void *recv, size_t count, DataType type, Comm comm, Stream stream) {
  const Monitor::Lock lock;
  if (!isChild(comm))
    return record("AllGather", comm, send, recv, count, type, comm, stream);
  const NcclCall call(By::Gc3, "AllGather", comm, NcclCall::Kind::Counted);
  return gatherOnChild(call, send, recv, count * sizeOf(type), stream);
}

Result allReduce(By, const void *send, void *recv, size_t count, DataType type, RedOp op, Comm comm, Stream stream) {
  return record("AllReduce", comm, send, recv, count, type, op, comm, stream);
}

Result alltoAll(By, const void *send, void *recv, size_t count, DataType type, Comm comm, Stream stream) {
  return record("AlltoAll", comm, send, recv, count, type, comm, stream);
}

Result broadcast(By, const void *send, void *recv, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return record("Broadcast", comm, send, recv, count, type, root, comm, stream);
}

/// NCCL's Bcast is a broadcast in place.
Result bcast(By by, void *buffer, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return broadcast(by, buffer, buffer, count, type, root, comm, stream);
}

Result gather(By, const void *send, void *recv, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return record("Gather", comm, send, recv, count, type, root, comm, stream);
}

Result reduce(By, const void *send, void *recv, size_t count, DataType type, RedOp op, int root, Comm comm,
              Stream stream) {
  return record("Reduce", comm, send, recv, count, type, op, root, comm, stream);
}

Result reduceScatter(By, const void *send, void *recv, size_t count, DataType type, RedOp op, Comm comm,
                     Stream stream) {
  return record("ReduceScatter", comm, send, recv, count, type, op, comm, stream);
}

Result scatter(By, const void *send, void *recv, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return record("Scatter", comm, send, recv, count, type, root, comm, stream);
}

/// Returns a new operation in `op`. The fake never reuses the number of an operation.
Result redOpCreatePreMulSum(By by, RedOp *op, void *scalar, DataType type, ScalarResidence residence, Comm comm) {
  const NcclCall call(by, "RedOpCreatePreMulSum", comm, NcclCall::Kind::Counted,
                      [&] { return eventText("RedOpCreatePreMulSum", type, residence, comm); });
  if (call.result() == Result::Success && scalar)
    *op = static_cast<RedOp>(state().nextOperation++);
  return call.result();
}

Result redOpDestroy(By by, RedOp op, Comm comm) {
  const NcclCall call(by, "RedOpDestroy", comm, NcclCall::Kind::Counted,
                      [&] { return eventText("RedOpDestroy", op, comm); });
  return call.result();
}

} // namespace

void addCollectives(FunctionTable &table) {
  table["AllGather"] = PairOf<allGather>::pair();
  table["AllReduce"] = PairOf<allReduce>::pair();
  table["AlltoAll"] = PairOf<alltoAll>::pair();
  table["Bcast"] = PairOf<bcast>::pair();
  table["Broadcast"] = PairOf<broadcast>::pair();
  table["Gather"] = PairOf<gather>::pair();
  table["Reduce"] = PairOf<reduce>::pair();
  table["ReduceScatter"] = PairOf<reduceScatter>::pair();
  table["Scatter"] = PairOf<scatter>::pair();
  table["RedOpCreatePreMulSum"] = PairOf<redOpCreatePreMulSum>::pair();
  table["RedOpDestroy"] = PairOf<redOpDestroy>::pair();
}

std::string text(Comm comm) {
  return comm ? state().fake.name(comm) : "null";
}

std::string text(const ncclapi::UniqueId &) {
  return "id";
}

std::string text(const ncclapi::UniqueId *ids) {
  return ids ? "ids" : "null";
}

std::string text(const ncclapi::Config *config) {
  return !config ? "null" : config->blocking == 0 ? "config that does not block" : "config";
}

std::string text(const void *address) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "0x%zx", reinterpret_cast<size_t>(address));
  return digits;
}

} // namespace gc3::test
