// SPDX-License-Identifier: Apache-2.0
// Operations that applications make: NCCL makes them all, and programs serve calls with those that are known.
#include "Front.h"

using namespace gc3::ncclapi;
using namespace gc3::nccl::test;

namespace {

class Operations : public Front {
protected:
  /// One that multiplies floats by 2. Its number counts from 5.
  static RedOp make(Comm comm, ScalarResidence residence = ScalarResidence::HostImmediate) {
    RedOp op = RedOp::Sum;
    EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &two, DataType::Float32, residence, comm), Result::Success);
    EXPECT_EQ(take().size(), 1u);
    return op;
  }
  static Result allReduceBy(RedOp op, Comm comm, size_t count = 2, DataType type = DataType::Float32) {
    return ncclAllReduce(nullptr, nullptr, count, type, op, comm, nullptr);
  }
  static Result destroy(RedOp op, Comm comm) { return ncclRedOpDestroy(op, comm); }

  static inline float two = 2;
  const std::string byTwo = "run 7 AllReduce 8 B float premulsum by 0x40000000 on ";
};

} // namespace

TEST_F(Operations, AreServedWithTheirScalars) {
  Comm comm = makeComm();
  RedOp op = RedOp::Sum;
  float scalar = 2;
  EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &scalar, DataType::Float32, ScalarResidence::HostImmediate, comm),
            Result::Success);
  EXPECT_EQ(take(), Events{"RedOpCreatePreMulSum(7, 1, c0)"});
  scalar = 3; // which was read at once
  EXPECT_EQ(allReduceBy(op, comm), Result::Success);
  EXPECT_EQ(take(), Events{byTwo + "c0"});
  EXPECT_EQ(ncclReduce(nullptr, nullptr, 2, DataType::Float32, op, 1, comm, nullptr), Result::Success);
  EXPECT_EQ(ncclReduceScatter(nullptr, nullptr, 2, DataType::Float32, op, comm, nullptr), Result::Success);
  EXPECT_EQ(take(), (Events{"run 7 Reduce 8 B float premulsum root 1 by 0x40000000 on c0",
                            "run 7 ReduceScatter 32 B float premulsum by 0x40000000 on c0"}));
  void *const inMemory = reinterpret_cast<void *>(0xd0);
  EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, inMemory, DataType::Int8, ScalarResidence::Device, comm), Result::Success);
  EXPECT_EQ(allReduceBy(op, comm, 2, DataType::Int8), Result::Success);
  EXPECT_EQ(take(), (Events{"RedOpCreatePreMulSum(0, 0, c0)", "run 7 AllReduce 2 B int8 premulsum by *0xd0 on c0"}));
}

TEST_F(Operations, AreNcclsWhereNothingServes) {
  Comm comm = makeComm();
  const RedOp op = make(comm);
  EXPECT_EQ(allReduceBy(op, comm, 3), Result::Success) << "the engine declines";
  EXPECT_EQ(take(), Events{"AllReduce(0x0, 0x0, 3, 7, 5, c0, 0x0)"});
  EXPECT_EQ(allReduceBy(op, comm, 2, DataType::Float64), Result::Success) << "NCCL refuses it";
  EXPECT_EQ(take(), Events{"AllReduce(0x0, 0x0, 2, 8, 5, c0, 0x0)"});
  Comm refused = makeComm(3);
  const RedOp other = make(refused);
  EXPECT_EQ(allReduceBy(other, refused), Result::Success);
  EXPECT_EQ(take(), Events{"AllReduce(0x0, 0x0, 2, 7, 6, c1, 0x0)"});
  EXPECT_EQ(allReduceBy(other, comm), Result::Success) << "of another communicator";
  EXPECT_EQ(take(), Events{"AllReduce(0x0, 0x0, 2, 7, 6, c0, 0x0)"});
}

TEST_F(Operations, EndWhenTheyAreDestroyed) {
  Comm c0 = makeComm(), c1 = makeComm();
  const RedOp op = make(c0), other = make(c1);
  EXPECT_EQ(destroy(op, c0), Result::Success);
  EXPECT_EQ(take(), Events{"RedOpDestroy(5, c0)"});
  EXPECT_EQ(allReduceBy(op, c0), Result::Success);
  EXPECT_EQ(take(), Events{"AllReduce(0x0, 0x0, 2, 7, 5, c0, 0x0)"}) << "NCCL refuses it";
  EXPECT_EQ(allReduceBy(other, c1), Result::Success);
  EXPECT_EQ(take(), Events{byTwo + "c1"});
  fakeNcclFail("RedOpDestroy", Result::InvalidArgument);
  EXPECT_EQ(destroy(op, c0), Result::InvalidArgument) << "NCCL's answer";
  EXPECT_EQ(destroy(RedOp::Sum, c0), Result::Success);
  EXPECT_EQ(take(), (Events{"RedOpDestroy(5, c0)", "RedOpDestroy(0, c0)"}));
}

TEST_F(Operations, EndWithTheirCommunicator) {
  Comm comm = makeComm();
  const RedOp op = make(comm);
  EXPECT_EQ(ncclCommFinalize(comm), Result::Success);
  EXPECT_EQ(take(), (Events{"detach c0", "CommFinalize(c0)"}));
  EXPECT_EQ(allReduceBy(op, comm), Result::Success);
  EXPECT_EQ(take(), Events{"AllReduce(0x0, 0x0, 2, 7, 5, c0, 0x0)"});
  comm = makeComm();
  const RedOp stale = make(comm);
  fakeNcclReuse(comm); // freed without our knowledge
  EXPECT_EQ(makeComm(), comm);
  EXPECT_EQ(allReduceBy(stale, comm), Result::Success);
  EXPECT_EQ(take(), Events{"AllReduce(0x0, 0x0, 2, 7, 6, c2, 0x0)"});
}

// What NCCL has not made is unknown, and so is what only a newer one knows.
TEST_F(Operations, ThatAreUnknownAreNccls) {
  Comm comm = makeComm();
  auto op = static_cast<RedOp>(9);
  fakeNcclFail("RedOpCreatePreMulSum", Result::InvalidArgument);
  EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &two, DataType::Float32, ScalarResidence::HostImmediate, comm),
            Result::InvalidArgument);
  EXPECT_EQ(allReduceBy(op, comm), Result::Success);
  EXPECT_EQ(take(), (Events{"RedOpCreatePreMulSum(7, 1, c0)", "AllReduce(0x0, 0x0, 2, 7, 9, c0, 0x0)"}));
  EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &two, static_cast<DataType>(12), ScalarResidence::HostImmediate, comm),
            Result::Success);
  EXPECT_EQ(allReduceBy(op, comm, 2, static_cast<DataType>(12)), Result::Success);
  EXPECT_EQ(allReduceBy(op, comm), Result::Success);
  EXPECT_EQ(take(), (Events{"RedOpCreatePreMulSum(12, 1, c0)", "AllReduce(0x0, 0x0, 2, 12, 5, c0, 0x0)",
                            "AllReduce(0x0, 0x0, 2, 7, 5, c0, 0x0)"}));
  EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &two, DataType::Float32, static_cast<ScalarResidence>(2), comm),
            Result::Success);
  EXPECT_EQ(allReduceBy(op, comm), Result::Success);
  EXPECT_EQ(take(), (Events{"RedOpCreatePreMulSum(7, 2, c0)", "AllReduce(0x0, 0x0, 2, 7, 6, c0, 0x0)"}));
}

// A group keeps the scalar. NCCL destroys the operation when it can't be handed a call with it any more.
TEST_F(Operations, MayBeDestroyedInAGroup) {
  Comm comm = makeComm();
  const RedOp op = make(comm);
  ncclGroupStart();
  EXPECT_EQ(allReduceBy(op, comm), Result::Success);
  EXPECT_EQ(destroy(op, comm), Result::Success);
  EXPECT_EQ(allReduceBy(op, comm), Result::Success) << "of which we know nothing any more";
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(take(), (Events{"GroupStart()", "AllReduce(0x0, 0x0, 2, 7, 5, c0, 0x0)", "GroupEnd()", byTwo + "c0",
                            "RedOpDestroy(5, c0)"}));
  const RedOp unused = make(comm), used = make(comm);
  ncclGroupStart();
  EXPECT_EQ(allReduceBy(used, comm), Result::Success);
  EXPECT_EQ(allReduceBy(unused, comm, 3), Result::Success) << "NCCL has it at once";
  EXPECT_EQ(destroy(unused, comm), Result::Success);
  EXPECT_EQ(destroy(used, comm), Result::Success);
  fakeNcclFail("GroupEnd", Result::SystemError);
  EXPECT_EQ(ncclGroupEnd(), Result::SystemError);
  EXPECT_EQ(take(), (Events{"GroupStart()", "AllReduce(0x0, 0x0, 3, 7, 6, c0, 0x0)", "RedOpDestroy(6, c0)",
                            "GroupEnd()", "RedOpDestroy(7, c0)"}));
}

// Each communicator counts its own.
TEST_F(Operations, OfOthersWithTheSameNumberAreDestroyedAtOnce) {
  Comm c0 = makeComm(), c1 = makeComm();
  const RedOp op = make(c0);
  ncclGroupStart();
  EXPECT_EQ(allReduceBy(op, c0), Result::Success);
  EXPECT_EQ(destroy(op, c1), Result::Success);
  EXPECT_EQ(take(), (Events{"GroupStart()", "RedOpDestroy(5, c1)"}));
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
}

TEST_F(Operations, OutliveCallsThatAreHandedOver) {
  Comm c0 = makeComm(), c1 = makeComm();
  const RedOp op = make(c0), other = make(c1);
  auto group = [&](auto end) {
    ncclGroupStart();
    allReduceBy(op, c0);
    allReduceBy(other, c1);
    destroy(op, c0);
    end();
    return take();
  };
  EXPECT_EQ(group([] { ncclGroupSimulateEnd(nullptr); }),
            (Events{"GroupStart()", "AllReduce(0x0, 0x0, 2, 7, 5, c0, 0x0)", "AllReduce(0x0, 0x0, 2, 7, 6, c1, 0x0)",
                    "GroupSimulateEnd(0x0)", "RedOpDestroy(5, c0)"}));
  const RedOp third = make(c0);
  ncclGroupStart();
  allReduceBy(third, c0);
  allReduceBy(other, c1);
  destroy(third, c0);
  destroy(other, c1);
  ncclCommDestroy(c0);
  EXPECT_EQ(take(), (Events{"GroupStart()", "AllReduce(0x0, 0x0, 2, 7, 7, c0, 0x0)", "RedOpDestroy(7, c0)", "detach c0",
                            "CommDestroy(c0)"}));
  ncclCommAbort(c1);
  EXPECT_EQ(take(), (Events{"RedOpDestroy(6, c1)", "abort c1", "forget c1", "CommAbort(c1)"}));
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(take(), Events{"GroupEnd()"});
}
