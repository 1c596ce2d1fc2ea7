// SPDX-License-Identifier: Apache-2.0
// Tests the events of the fake NCCL: calls that the interposer forwards for the application.
#include "FakeNcclSupport.h"

using namespace gc3;
using namespace gc3::test;

namespace {

class FakeNcclEvents : public FakeNcclTest {
protected:
  /// Calls a function as the application does.
  template <typename... Args>
  static Result call(const char *name, Args... args) {
    return application<Result(Args...)>(name)(args...);
  }
  static Comm make(int ranks, int rank) {
    Comm comm = nullptr;
    EXPECT_EQ(call("CommInitRank", &comm, ranks, ncclapi::UniqueId{}, rank), Result::Success);
    return comm;
  }
};

TEST_F(FakeNcclEvents, AllFunctionsExist) {
  for (const char *name : ncclapi::functionNames) {
    EXPECT_NE(FakeNccl::function(name), nullptr) << name;
    EXPECT_NE(FakeNccl::applicationFunction(name), nullptr) << name;
  }
  for (const char *name : {"CommCuDevice", "CommWindowRegister", "CommWindowDeregister", "DevCommCreate",
                           "DevCommDestroy", "GetLsaDevicePointer", "GetVersion", "MemAlloc", "MemFree", "TeamLsa"})
    EXPECT_NE(FakeNccl::function(name), nullptr) << name;
  EXPECT_EQ(FakeNccl::function("Nothing"), nullptr);
}

TEST_F(FakeNcclEvents, HaveTheText) {
  const Comm comm = make(4, 2);
  const void *send = reinterpret_cast<const void *>(16);
  auto *recv = reinterpret_cast<void *>(32);
  auto *stream = reinterpret_cast<ncclapi::Stream>(1);
  call("AllReduce", send, recv, size_t{4}, DataType::Float32, ncclapi::RedOp::Sum, comm, stream);
  call("AllGather", send, recv, size_t{4}, DataType::Float32, comm, stream);
  call("Bcast", recv, size_t{1}, DataType::Int8, 3, comm, stream);
  ncclapi::RedOp op{};
  call("RedOpCreatePreMulSum", &op, recv, DataType::Float32, ncclapi::ScalarResidence::Device, comm);
  call("RedOpDestroy", op, comm);
  EXPECT_EQ(call("CommFinalize", comm), Result::Success);
  EXPECT_EQ(call("CommDestroy", comm), Result::Success);
  EXPECT_EQ(nccl.takeEvents(),
            (Names{"CommInitRank(4, id, 2)", "AllReduce(0x10, 0x20, 4, 7, 0, c0, 0x1)",
                   "AllGather(0x10, 0x20, 4, 7, c0, 0x1)", "Broadcast(0x20, 0x20, 1, 0, 3, c0, 0x1)",
                   "RedOpCreatePreMulSum(7, 0, c0)", "RedOpDestroy(5, c0)", "CommFinalize(c0)", "CommDestroy(c0)"}));
  EXPECT_EQ(nccl.takeEvents(), Names());
}

TEST_F(FakeNcclEvents, OfGroups) {
  const Comm comm = make(2, 0);
  Names seen;
  nccl.onEvent = [&](const std::string &event) { seen.push_back(event); };
  call("GroupStart");
  EXPECT_TRUE(FakeNccl::isGroupOpen());
  nccl.fail("AllGather", Result::RemoteError);
  EXPECT_EQ(call("AllGather", static_cast<const void *>(nullptr), static_cast<void *>(nullptr), size_t{0},
                 DataType::Int8, comm, ncclapi::Stream{}),
            Result::RemoteError);
  EXPECT_EQ(call("GroupEnd"), Result::RemoteError);
  EXPECT_EQ(call("GroupEnd"), Result::InvalidUsage);
  nccl.onEvent = nullptr;
  EXPECT_EQ(seen, (Names{"GroupStart()", "AllGather(0x0, 0x0, 0, 0, c0, 0x0)", "GroupEnd()", "GroupEnd()"}));
}

/// A child that the application splits off gets its own number. Calls on gc3's children are not events.
TEST_F(FakeNcclEvents, OfChildren) {
  nccl.completesAlone = true;
  const Comm comm = make(2, 0);
  Comm own = nullptr, child = nullptr;
  EXPECT_EQ(call("CommSplit", comm, 0, 0, &child, static_cast<Config *>(nullptr)), Result::Success);
  EXPECT_EQ(nccl.name(child), "c1");
  EXPECT_EQ(split(child, &own), Result::Success);
  EXPECT_EQ(nccl.name(own), "child of c1");
  EXPECT_EQ(gather(0, own), Result::Success);
  EXPECT_EQ(destroy(own), Result::Success);
  int ranks = 0;
  EXPECT_EQ(functions.CommCount(child, &ranks), Result::Success);
  EXPECT_EQ(ranks, 1) << "the other rank does not exist";
  EXPECT_EQ(nccl.takeEvents(), (Names{"CommInitRank(2, id, 0)", "CommSplit(c0, 0, 0, null)"}));
  EXPECT_EQ(nccl.takeProbes(), (Names{"CommSplit", "CommCount"}));
}

TEST_F(FakeNcclEvents, AShrunkCommunicatorLacksRanks) {
  const std::vector<Comm> comms = nccl.make(rankCount);
  std::array<int, rankCount> sizes{};
  onAllRanks([&](size_t rank) {
    if (rank == 1)
      return;
    Comm child = nullptr;
    int excluded = 1;
    EXPECT_EQ(call("CommShrink", comms[rank], &excluded, 1, &child, static_cast<Config *>(nullptr), 0),
              Result::Success);
    call("CommCount", child, &sizes[rank]);
  });
  EXPECT_EQ(sizes, (std::array{2, 0, 2}));
  splitAll(comms);
  for (Comm child : nccl.children())
    abort(child);
}

TEST_F(FakeNcclEvents, RanksWithOneIdAreOfOneCommunicator) {
  const Comm first = make(2, 0), second = make(2, 1), other = make(2, 0);
  Comm child = nullptr, otherChild = nullptr;
  std::thread rank0 = onRank(0, [&] { EXPECT_EQ(split(first, &child), Result::Success); });
  EXPECT_EQ(split(second, &otherChild), Result::Success);
  rank0.join();
  EXPECT_EQ(call("CommDestroy", other), Result::Success);
  nccl.reuse(other);
  EXPECT_EQ(make(3, 2), other);
  EXPECT_EQ(nccl.name(other), "c3");
  destroy(child);
  destroy(otherChild);
}

} // namespace
