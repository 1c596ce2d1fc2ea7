// SPDX-License-Identifier: Apache-2.0
// Tests reduction operations that the application creates. NCCL creates all of them. Programs run calls with operations
// that gc3 knows, and NCCL runs the others.
#include "Front.h"

using namespace gc3::test;

namespace {

using Ops = std::array<RedOp, 2>; ///< by rank

class Operations : public Front {
protected:
  /// Creates on each rank an operation that multiplies floats by `scalar`. The fake numbers operations from 5.
  Ops create(const Comms &comms, ScalarResidence residence = ScalarResidence::HostImmediate) {
    Ops ops{};
    for (size_t rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(ncclRedOpCreatePreMulSum(&ops[rank], &scalar, DataType::Float32, residence, comms[rank]),
                Result::Success);
      EXPECT_EQ(takeEvents(), Events{"RedOpCreatePreMulSum(7, " + std::to_string(static_cast<int>(residence)) + ", " +
                                     nameOf(comms[rank]) + ")"});
    }
    return ops;
  }
  Result allReduceAll(const Comms &comms, const Ops &ops) {
    return inGroup(2, [&](size_t rank) { return allReduce(rank, comms[rank], few, ops[rank]); });
  }
  float scalar = 2;
  /// The events of a call: on each rank a kernel that multiplies the input, and then the program's kernel.
  const Events ran{"GroupStart()", "GroupEnd()", "run 0", "run 0", "run 1", "run 1"};
};

} // namespace

TEST_F(Operations, ProgramsMultiplyByTheirScalars) {
  const Comms comms = make(); // gc3 records operations before the communicator has joined
  const Ops ofHost = create(comms), ofDevice = create(comms, ScalarResidence::Device);
  for (float now : {3.0f, 5.0f}) {
    scalar = now; // changes only ofDevice: NCCL has already read the host scalar
    EXPECT_EQ(allReduceAll(comms, ofHost), Result::Success);
    EXPECT_EQ(takeEvents(), ran);
    expectSum(2, 2);
    EXPECT_EQ(allReduceAll(comms, ofDevice), Result::Success);
    expectSum(2, now);
    takeEvents();
  }
  const float sum = 2 * (send[0][0] + send[1][0]);
  EXPECT_EQ(inGroup(2,
                    [&](size_t rank) {
                      return ncclReduce(send[rank], recv[rank], few, DataType::Float32, ofHost[rank], 1, comms[rank],
                                        streams[rank]);
                    }),
            Result::Success);
  EXPECT_EQ(takeEvents(), ran);
  EXPECT_EQ(recv[1][0], sum);
  EXPECT_EQ(inGroup(2,
                    [&](size_t rank) {
                      return ncclReduceScatter(send[rank], recv[rank], few, DataType::Float32, ofHost[rank],
                                               comms[rank], streams[rank]);
                    }),
            Result::Success);
  EXPECT_EQ(takeEvents(), ran);
  EXPECT_EQ(recv[0][0], sum);
}

TEST_F(Operations, NcclRunsTheOtherCalls) {
  const Comms comms = makeJoined(), alone = make(1);
  const Ops ops = create(comms);
  const auto call = [&](size_t count, DataType type, Comm comm) {
    EXPECT_EQ(ncclAllReduce(send[0], recv[0], count, type, ops[0], comm, streams[0]), Result::Success);
    return takeEvents();
  };
  EXPECT_EQ(call(many, DataType::Float32, comms[0]), Events{event(0, "c0", many, 5)}) << "no program runs it";
  EXPECT_EQ(call(few, DataType::Float64, comms[0]), Events{"AllReduce(send0, recv0, 4, 8, 5, c0, stream0)"})
      << "NCCL refuses it";
  EXPECT_EQ(call(few, DataType::Float32, alone[0]), Events{event(0, "c2", few, 5)});
  EXPECT_EQ(call(few, DataType::Float32, comms[1]), Events{event(0, "c1", few, 5)}) << "of another communicator";
}

TEST_F(Operations, EndWhenTheyAreDestroyed) {
  const Comms comms = makeJoined();
  const Ops ops = create(comms);
  EXPECT_EQ(ncclRedOpDestroy(ops[0], comms[0]), Result::Success);
  EXPECT_EQ(takeEvents(), Events{"RedOpDestroy(5, c0)"});
  EXPECT_EQ(allReduce(0, comms[0], few, ops[0]), Result::Success);
  EXPECT_EQ(takeEvents(), Events{event(0, "c0", few, 5)}) << "NCCL refuses it";
  EXPECT_EQ(allReduce(1, comms[1], few, ops[1]), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"run 1", "run 1"}));
  failNext("RedOpDestroy", Result::InvalidArgument);
  EXPECT_EQ(ncclRedOpDestroy(ops[0], comms[0]), Result::InvalidArgument) << "NCCL's answer";
  EXPECT_EQ(ncclRedOpDestroy(RedOp::Sum, comms[0]), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"RedOpDestroy(5, c0)", "RedOpDestroy(0, c0)"}));
}

TEST_F(Operations, EndWithTheirCommunicator) {
  struct {
    Result (*end)(Comm);
    bool isFreed;
  } const cases[] = {{ncclCommFinalize, false}, {ncclCommDestroy, true}, {ncclCommAbort, true}};
  for (const auto &[end, isFreed] : cases) {
    Comms comms = makeJoined();
    const Ops ops = create(comms);
    EXPECT_EQ(end(comms[0]), Result::Success);
    if (isFreed) {
      nccl.reuse(comms[0]);
      EXPECT_EQ(makeJoined()[0], comms[0]);
    }
    takeEvents();
    EXPECT_EQ(allReduce(0, comms[0], few, ops[0]), Result::Success);
    EXPECT_EQ(takeEvents(), Events{event(0, nameOf(comms[0]), few, static_cast<int>(ops[0]))});
  }
}

// gc3 forwards calls whose operation it does not know. Either NCCL failed to create the operation, or only a newer NCCL
// has its type or scalar residence.
TEST_F(Operations, UnknownOnesAreNccls) {
  const Comm comm = makeJoined()[0];
  auto op = static_cast<RedOp>(9);
  const auto createAnd = [&](DataType type, ScalarResidence residence, DataType ofCall) {
    const Result result = ncclRedOpCreatePreMulSum(&op, &scalar, type, residence, comm);
    EXPECT_EQ(ncclAllReduce(send[0], recv[0], few, ofCall, op, comm, streams[0]), Result::Success);
    const Events events = takeEvents();
    EXPECT_EQ(events.back(), "AllReduce(send0, recv0, 4, " + std::to_string(static_cast<int>(ofCall)) + ", " +
                                 std::to_string(static_cast<int>(op)) + ", c0, stream0)");
    return result;
  };
  constexpr auto newType = static_cast<DataType>(12);
  constexpr auto host = ScalarResidence::HostImmediate;
  failNext("RedOpCreatePreMulSum", Result::InvalidArgument);
  EXPECT_EQ(createAnd(DataType::Float32, host, DataType::Float32), Result::InvalidArgument);
  EXPECT_EQ(createAnd(newType, host, newType), Result::Success);
  EXPECT_EQ(createAnd(newType, host, DataType::Float32), Result::Success);
  EXPECT_EQ(createAnd(DataType::Float32, static_cast<ScalarResidence>(2), DataType::Float32), Result::Success);
}

// The application destroys an operation in a group, after a call that uses it. The group keeps the scalar for the
// deferred call. NCCL destroys the operation only after the group, when no deferred call can use it.
TEST_F(Operations, MayBeDestroyedInAGroup) {
  const Comms comms = makeJoined();
  const Ops ops = create(comms);
  EXPECT_EQ(inGroup(2,
                    [&](size_t rank) {
                      EXPECT_EQ(allReduce(rank, comms[rank], few, ops[rank]), Result::Success);
                      EXPECT_EQ(ncclRedOpDestroy(ops[rank], comms[rank]), Result::Success);
                      return allReduce(rank, comms[rank], few, ops[rank]); // gc3 no longer knows the operation
                    }),
            Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"GroupStart()", event(0, "c0", few, 5), event(1, "c1", few, 6), "GroupEnd()", "run 0",
                                  "run 0", "run 1", "run 1", "RedOpDestroy(5, c0)", "RedOpDestroy(6, c1)"}));
  expectSum(2, 2);
  const Ops unused = create(comms), used = create(comms);
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  EXPECT_EQ(allReduce(0, comms[0], few, used[0]), Result::Success);
  EXPECT_EQ(allReduce(0, comms[0], many, unused[0]), Result::Success) << "NCCL has it at once";
  EXPECT_EQ(ncclRedOpDestroy(unused[0], comms[0]), Result::Success);
  EXPECT_EQ(ncclRedOpDestroy(used[0], comms[0]), Result::Success);
  EXPECT_EQ(ncclRedOpDestroy(used[0], comms[1]), Result::Success) << "of another communicator";
  failNext("GroupEnd", Result::SystemError);
  EXPECT_EQ(ncclGroupEnd(), Result::SystemError);
  EXPECT_EQ(takeEvents(), (Events{"GroupStart()", event(0, "c0", many, 7), "RedOpDestroy(7, c0)", "RedOpDestroy(9, c1)",
                                  "GroupEnd()", "RedOpDestroy(9, c0)"}));
}

TEST_F(Operations, OutliveForwardedCalls) {
  const Comms comms = makeJoined();
  Ops ops = create(comms);
  const auto deferAndDestroy = [&] {
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    for (size_t rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(allReduce(rank, comms[rank], few, ops[rank]), Result::Success);
      EXPECT_EQ(ncclRedOpDestroy(ops[rank], comms[rank]), Result::Success);
    }
    EXPECT_EQ(takeEvents(), Events{"GroupStart()"});
  };
  deferAndDestroy();
  EXPECT_EQ(ncclGroupSimulateEnd(nullptr), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{event(0, "c0", few, 5), event(1, "c1", few, 6), "GroupSimulateEnd(0x0)",
                                  "RedOpDestroy(5, c0)", "RedOpDestroy(6, c1)"}));
  ops = create(comms);
  deferAndDestroy();
  EXPECT_EQ(ncclCommDestroy(comms[0]), Result::Success);
  EXPECT_EQ(ncclCommAbort(comms[1]), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{event(0, "c0", few, 7), "RedOpDestroy(7, c0)", "CommDestroy(c0)",
                                  "RedOpDestroy(8, c1)", "CommAbort(c1)", "GroupEnd()"}));
}
