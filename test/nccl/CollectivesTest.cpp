// SPDX-License-Identifier: Apache-2.0
// Each collective: to the engine if a program serves it, else to NCCL with the same arguments and the same result.
#include "Front.h"

#include <functional>

using namespace gc3::nccl;
using namespace gc3::ncclapi;
using namespace gc3::nccl::test;

namespace {

/// One call of each collective with `count` elements of `type`.
struct Case {
  std::function<Result(size_t count, DataType type, Comm comm)> call;
  std::string nccl;   ///< NCCL's event for 5 floats
  std::string engine; ///< the engine's for 4
};

void *const a = reinterpret_cast<void *>(0xa0);
void *const b = reinterpret_cast<void *>(0xb0);
const auto s = reinterpret_cast<Stream>(0x50);

const Case cases[] = {
    {[](size_t n, DataType t, Comm c) { return ncclAllGather(a, b, n, t, c, s); },
     "AllGather(0xa0, 0xb0, 5, 7, c0, 0x50)", "AllGather 64 B float"},
    {[](size_t n, DataType t, Comm c) { return ncclAllReduce(a, b, n, t, RedOp::Max, c, s); },
     "AllReduce(0xa0, 0xb0, 5, 7, 2, c0, 0x50)", "AllReduce 16 B float max"},
    {[](size_t n, DataType t, Comm c) { return ncclAlltoAll(a, b, n, t, c, s); },
     "AlltoAll(0xa0, 0xb0, 5, 7, c0, 0x50)", "AlltoAll 64 B float"},
    {[](size_t n, DataType t, Comm c) { return ncclBroadcast(a, b, n, t, 3, c, s); },
     "Broadcast(0xa0, 0xb0, 5, 7, 3, c0, 0x50)", "Broadcast 16 B float root 3"},
    {[](size_t n, DataType t, Comm c) { return ncclGather(a, b, n, t, 2, c, s); },
     "Gather(0xa0, 0xb0, 5, 7, 2, c0, 0x50)", "Gather 64 B float root 2"},
    {[](size_t n, DataType t, Comm c) { return ncclReduce(a, b, n, t, RedOp::Avg, 1, c, s); },
     "Reduce(0xa0, 0xb0, 5, 7, 4, 1, c0, 0x50)", "Reduce 16 B float avg root 1"},
    {[](size_t n, DataType t, Comm c) { return ncclReduceScatter(a, b, n, t, RedOp::Prod, c, s); },
     "ReduceScatter(0xa0, 0xb0, 5, 7, 1, c0, 0x50)", "ReduceScatter 64 B float prod"},
    {[](size_t n, DataType t, Comm c) { return ncclScatter(a, b, n, t, 0, c, s); },
     "Scatter(0xa0, 0xb0, 5, 7, 0, c0, 0x50)", "Scatter 64 B float root 0"},
};

std::string nameOf(const Case &of) {
  return of.nccl.substr(0, of.nccl.find('('));
}

} // namespace

using Collectives = Front;

TEST_F(Collectives, GoToTheEngineIfAProgramServesThem) {
  Comm comm = makeComm();
  for (const Case &of : cases) {
    EXPECT_EQ(of.call(4, DataType::Float32, comm), Result::Success);
    EXPECT_EQ(take(), Events{"run 7 " + of.engine + " on c0"});
    fakeEngine().runResult = Result::UnhandledCudaError;
    EXPECT_EQ(of.call(4, DataType::Float32, comm), Result::UnhandledCudaError) << "and never to NCCL after all";
    EXPECT_EQ(take(), Events{"run 7 " + of.engine + " on c0"});
    fakeEngine().runResult = Result::Success;
  }
}

TEST_F(Collectives, GoToNcclAsTheyAreOtherwise) {
  Comm comm = makeComm();
  for (const Case &of : cases) {
    EXPECT_EQ(of.call(5, DataType::Float32, comm), Result::Success);
    EXPECT_EQ(take(), Events{of.nccl});
    fakeNcclFail(nameOf(of).c_str(), Result::RemoteError);
    EXPECT_EQ(of.call(5, DataType::Float32, comm), Result::RemoteError);
    EXPECT_EQ(take(), Events{of.nccl});
  }
}

// NCCL's Bcast calls Broadcast by its exported name, which is ours.
TEST_F(Collectives, BcastReachesNcclOnce) {
  Comm comm = makeComm();
  EXPECT_EQ(ncclBcast(a, 5, DataType::Float32, 3, comm, s), Result::Success);
  EXPECT_EQ(take(), (Events{"Bcast(0xa0, 5, 7, 3, c0, 0x50)", "Broadcast(0xa0, 0xa0, 5, 7, 3, c0, 0x50)"}));
  EXPECT_EQ(ncclBcast(a, 4, DataType::Float32, 3, comm, s), Result::Success);
  EXPECT_EQ(take(), Events{"run 7 Bcast 16 B float root 3 on c0"});
  EXPECT_EQ(ncclBcast(a, 4, DataType::Float32, 4, comm, s), Result::Success) << "no such root; NCCL judges";
  EXPECT_EQ(take(), (Events{"Bcast(0xa0, 4, 7, 4, c0, 0x50)", "Broadcast(0xa0, 0xa0, 4, 7, 4, c0, 0x50)"}));
}

TEST_F(Collectives, WhatAnEngineCallsOfNcclGoesStraightThere) {
  fakeEngine().talks = true;
  Comm comm = nullptr;
  ASSERT_EQ(ncclCommInitRank(&comm, 4, {}, 2), Result::Success);
  ASSERT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(take(), (Events{"CommInitRank(4, id, 2)", "GroupStart()", "AllGather(0x0, 0x0, 2, 0, c0, 0x0)",
                            "GroupEnd()", "attach c0=2/4", "Bcast(0x0, 2, 0, 0, c0, 0x0)",
                            "Broadcast(0x0, 0x0, 2, 0, 0, c0, 0x0)", "run 7 AllReduce 8 B float sum on c0"}));
}

// Whatever the bundles: the engine is not asked.
TEST_F(Collectives, NeverServed) {
  Comm comm = makeComm();
  auto isNccls = [](auto call) {
    bool asked = call() != Result::Success;
    Events events = take();
    return !asked && events.size() == 1 && events[0].find('(') != std::string::npos;
  };
  for (int type : {-1, 12, 1 << 30})
    EXPECT_TRUE(isNccls([&] { return ncclAllGather(a, b, 2, static_cast<DataType>(type), comm, s); })) << type;
  for (int op : {-1, 5, 0x7fffffff}) {
    EXPECT_TRUE(isNccls([&] { return ncclAllReduce(a, b, 2, DataType::Int8, static_cast<RedOp>(op), comm, s); }));
    EXPECT_TRUE(isNccls([&] { return ncclReduceScatter(a, b, 2, DataType::Int8, static_cast<RedOp>(op), comm, s); }));
    EXPECT_TRUE(isNccls([&] { return ncclReduce(a, b, 2, DataType::Int8, static_cast<RedOp>(op), 0, comm, s); }));
  }
  for (int root : {-1, 4}) {
    EXPECT_TRUE(isNccls([&] { return ncclBroadcast(a, b, 2, DataType::Int8, root, comm, s); }));
    EXPECT_TRUE(isNccls([&] { return ncclGather(a, b, 2, DataType::Int8, root, comm, s); }));
    EXPECT_TRUE(isNccls([&] { return ncclScatter(a, b, 2, DataType::Int8, root, comm, s); }));
    EXPECT_TRUE(isNccls([&] { return ncclReduce(a, b, 2, DataType::Int8, RedOp::Sum, root, comm, s); }));
  }
  EXPECT_TRUE(isNccls([&] { return allReduce(comm, 0); })) << "no elements";
  Comm alone = makeComm(1), three = makeComm(3);
  EXPECT_TRUE(isNccls([&] { return allReduce(alone, 2); })) << "one rank";
  EXPECT_TRUE(isNccls([&] { return allReduce(three, 2); })) << "refused by the engine";
  EXPECT_TRUE(isNccls([&] { return allReduce(nullptr, 2); })) << "NCCL refuses it";
}

TEST_F(Collectives, ExceptionsAreResults) {
  Comm comm = makeComm();
  fakeEngine().hasMemory = false;
  EXPECT_EQ(allReduce(comm, 2), Result::SystemError);
  ncclGroupStart();
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::SystemError);
  fakeEngine().hasMemory = true;
  EXPECT_EQ(take(), (Events{"break c0", "GroupStart()", "GroupEnd()", "break c0"}))
      << "others may run what was lost here";
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(take(), (Events{"GroupStart()", "GroupEnd()"})) << "nothing is left of the failed group";
}

TEST(Describe, SizesAreThoseThatProgramsAreChosenBy) {
  CollectiveCall call{Collective::ReduceScatter, a, b, size_t{3} << 19, DataType::Bfloat16, RedOp::Min, -1, nullptr, s};
  EXPECT_EQ(describe(call, 512), "ReduceScatter 1.5 GiB bfloat16 min");
  call = {Collective::AllGather, a, b, SIZE_MAX / 2, DataType::Float64, RedOp::Sum, -1, nullptr, s};
  EXPECT_EQ(describe(call, 2), "AllGather 16 EiB double") << "more than that";
  call = {Collective::Reduce, a, b, 1000, static_cast<DataType>(99), static_cast<RedOp>(6), 1, nullptr, s};
  EXPECT_EQ(describe(call, 2), "Reduce 1000 of type 99 op 6 root 1");
  EXPECT_EQ(whyNever(call, 2), "unknown type");
  call.type = DataType::Uint8;
  EXPECT_EQ(describe(call, 2), "Reduce 1000 B uint8 op 6 root 1");
  EXPECT_EQ(whyNever(call, 2), "unknown operation");
  call.preMulSum = {gc3::core::ElementType::Uint8, {}};
  EXPECT_EQ(describe(call, 2), "Reduce 1000 B uint8 premulsum root 1");
  EXPECT_EQ(whyNever(call, 2), "");
  call.type = DataType::Int8;
  EXPECT_EQ(whyNever(call, 2), "an operation of another type");
  call.preMulSum.reset();
  call.op = RedOp::Sum;
  EXPECT_EQ(whyNever(call, 2), "");
  EXPECT_EQ(whyNever(call, 1), "one rank");
}
