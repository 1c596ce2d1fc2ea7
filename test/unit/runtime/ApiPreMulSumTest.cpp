// SPDX-License-Identifier: Apache-2.0
// Tests custom reductions of the C API: their results, and every wrong use.
#include "ApiGroup.h"
#include "host/Random.h"
#include "host/Reduce.h"

#include <cstring>

using namespace gc3::test;
using gc3::core::ElementType;
using gc3::core::ReduceOp;
using gc3::host::Simd;

namespace {

using Bytes = std::vector<std::byte>;

/// Returns random elements. Floats are below 2, so that a sum of two products is finite.
Bytes randomElements(ElementType type, size_t elements, uint64_t seed) {
  gc3::host::Random random(seed);
  const size_t size = elementSize(type);
  Bytes bytes(elements * size);
  for (std::byte &byte : bytes)
    byte = static_cast<std::byte>(random.next());
  for (size_t last = size - 1; !isInteger(type) && last < bytes.size(); last += size)
    bytes[last] &= std::byte{0xbf};
  return bytes;
}

Bytes combined(ElementType type, ReduceOp op, const Bytes &a, const Bytes &b) {
  Bytes result(a.size());
  gc3::host::reduceKernel(type, op, Simd::Baseline)(result.data(), a.data(), b.data(), a.size() / elementSize(type));
  return result;
}

/// Returns the products of each element and the scalar.
Bytes product(ElementType type, const Bytes &elements, const Bytes &scalar) {
  Bytes scalars;
  while (scalars.size() < elements.size())
    scalars.insert(scalars.end(), scalar.begin(), scalar.end());
  return combined(type, ReduceOp::Prod, elements, scalars);
}

/// Inputs and scalars of two ranks, and the expected sum.
struct Case {
  Case(ElementType ofType, size_t elements, uint64_t seed) : type(ofType) {
    for (size_t r = 0; r < 2; ++r) {
      input[r] = randomElements(type, elements, 10 * seed + r);
      scalar[r] = randomElements(type, 1, 10 * seed + 5 + r);
    }
    sum = combined(type, ReduceOp::Sum, product(type, input[0], scalar[0]), product(type, input[1], scalar[1]));
  }
  gc3DataType_t gc3Type() const { return static_cast<gc3DataType_t>(type); }

  const ElementType type;
  Bytes input[2], scalar[2], sum;
};

gc3RedOp_t makeOp(gc3Comm_t comm, const Bytes &scalar, gc3DataType_t type,
                  gc3ScalarResidence_t residence = gc3ScalarHostImmediate) {
  gc3RedOp_t op = gc3Sum;
  EXPECT_EQ(gc3RedOpCreatePreMulSum(&op, scalar.data(), type, residence, comm), gc3Success) << gc3GetLastError(comm);
  EXPECT_GE(op, gc3NumOps);
  return op;
}

/// Makes an AllReduce or ReduceScatter of all elements on two ranks. Returns the results of rank 0, then those of rank
/// 1.
Bytes reduce(Group &group, const Case &of, bool scatters, bool inPlace, gc3ScalarResidence_t residence) {
  const size_t count = of.input[0].size() / elementSize(of.type) / (scatters ? 2 : 1);
  const size_t bytes = count * elementSize(of.type);
  Bytes send[2] = {of.input[0], of.input[1]}, recv[2] = {Bytes(bytes), Bytes(bytes)}, all;
  auto target = [&](size_t r) { return !inPlace ? recv[r].data() : send[r].data() + (scatters ? r * bytes : 0); };
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    const gc3RedOp_t op = makeOp(comm, of.scalar[r], of.gc3Type(), residence);
    const auto rank = static_cast<size_t>(r);
    const gc3Result_t result = (scatters ? gc3ReduceScatter : gc3AllReduce)(send[r].data(), target(rank), count,
                                                                            of.gc3Type(), op, comm, nullptr);
    EXPECT_EQ(gc3RedOpDestroy(op, comm), gc3Success) << "the group has copied the operation";
    return result;
  }),
            gc3Success)
      << gc3GetLastError(nullptr);
  for (size_t r = 0; r < 2; ++r) {
    all.insert(all.end(), target(r), target(r) + bytes);
    EXPECT_TRUE(inPlace || send[r] == of.input[r]) << "the input is unchanged";
  }
  return all;
}

ProgramSpec padded(ProgramSpec spec) {
  spec.wholeSlots = true;
  return spec;
}

} // namespace

/// Tests calls in place and out of place, of programs with and without an alias.
TEST(PreMulSum, EveryTypeValueByValue) {
  const std::pair<ProgramSpec, bool> programs[] = {
      {ringAllReduce(2, true), false}, {ringAllReduce(2, false, 3), false},
      {plainRingAllReduce(2), false},  {padded(ringAllReduce(2, true, 2)), false},
      {reduceScatter(2, true), true},  {reduceScatter(2, false), true}};
  for (gc3Order_t order : {gc3OrderFair, gc3OrderAdversarial})
    for (const auto &[program, scatters] : programs) {
      gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
      config.order = order;
      Group group({program}, 2, config);
      for (unsigned t = 0; t < gc3::core::elementTypeCount; ++t)
        for (size_t elements : {2, 34, 5002})
          for (bool inPlace : {false, true})
            for (gc3ScalarResidence_t residence : {gc3ScalarDevice, gc3ScalarHostImmediate}) {
              const Case of(static_cast<ElementType>(t), elements, elements + t);
              Bytes expected = of.sum;
              if (!scatters)
                expected.insert(expected.end(), of.sum.begin(), of.sum.end());
              ASSERT_EQ(reduce(group, of, scatters, inPlace, residence), expected)
                  << program.name << " " << elementTypeName(of.type) << " " << elements << " " << inPlace;
            }
    }
}

/// Ranks call on separate threads and reuse a prepared call. Each call must use its own scalar, and a plain sum must
/// use none.
TEST(PreMulSum, EachCallHasItsOwn) {
  Group group({ringAllReduce(2, true)}, 2);
  auto results = group.threads([&](int rank, gc3Comm_t comm) {
    float scalar = 0;
    gc3RedOp_t inMemory = gc3Sum;
    gc3RedOpCreatePreMulSum(&inMemory, &scalar, gc3Float32, gc3ScalarDevice, comm);
    for (int call = 0; call < 300; ++call) {
      auto scalarOf = [&](int r) { return static_cast<float>(call + 7 * r); };
      gc3RedOp_t op = inMemory;
      scalar = scalarOf(rank);
      if (call % 3 == 1)
        gc3RedOpCreatePreMulSum(&op, &scalar, gc3Float32, gc3ScalarHostImmediate, comm);
      else if (call % 3 == 2)
        op = gc3Sum;
      std::vector<float> data(40, static_cast<float>(rank + 1));
      if (gc3Result_t result = gc3AllReduce(data.data(), data.data(), 40, gc3Float32, op, comm, nullptr);
          result != gc3Success)
        return result;
      if (data != std::vector<float>(40, op == gc3Sum ? 3 : scalarOf(0) + 2 * scalarOf(1)))
        return gc3InternalError;
      if (call % 3 == 1 && gc3RedOpDestroy(op, comm) != gc3Success)
        return gc3InternalError;
    }
    return gc3Success;
  });
  EXPECT_EQ(results, std::vector<gc3Result_t>(2, gc3Success));
}

TEST(PreMulSum, OneRankMultipliesToo) {
  Group group({ringAllReduce(1, true)}, 1);
  const int32_t scalar = -3;
  gc3RedOp_t op = gc3Sum;
  ASSERT_EQ(gc3RedOpCreatePreMulSum(&op, &scalar, gc3Int32, gc3ScalarHostImmediate, group.comms[0]), gc3Success);
  int32_t in[] = {5, -1}, out[2] = {};
  EXPECT_EQ(gc3AllReduce(in, out, 2, gc3Int32, op, group.comms[0], nullptr), gc3Success);
  EXPECT_EQ(std::vector<int32_t>(out, out + 2), (std::vector<int32_t>{-15, 3}));
}

/// In a call by name, a standard collective that does not reduce ignores the scalar. Any other collective multiplies
/// its inputs by the scalar.
TEST(PreMulSum, InCollectivesByName) {
  Group group({allGather(2, false), shiftReversed(2, 2)}, 2);
  const float scalars[] = {2, 3};
  gc3RedOp_t ops[2];
  for (int r = 0; r < 2; ++r)
    ASSERT_EQ(gc3RedOpCreatePreMulSum(&ops[r], &scalars[r], gc3Float32, gc3ScalarHostImmediate, group.comms[r]),
              gc3Success);
  Data data = ramp(2, 1), all(2, std::vector<float>(2));
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3RunCollective(comm, "allgather", data[r].data(), all[r].data(), 1, gc3Float32, ops[r], nullptr);
  }),
            gc3Success);
  EXPECT_EQ(all, (Data{{0, 100}, {0, 100}}));
  Data mine = {{1, 2}, {3, 4}}, got(2, std::vector<float>(2));
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3RunProgram(comm, "shift2", mine[r].data(), got[r].data(), 2, gc3Float32, ops[r], nullptr);
  }),
            gc3Success)
      << gc3GetLastError(nullptr);
  EXPECT_EQ(got[1], (std::vector<float>{4, 2}));
}

TEST(PreMulSum, RefusesWrongArguments) {
  Group group({ringAllReduce(2, true)}, 2);
  gc3Comm_t comm = group.comms[0];
  const float scalar = 2;
  gc3RedOp_t op = gc3Max;
  auto create = [&](gc3RedOp_t *to, const void *from, int type, int residence, gc3Comm_t on) {
    return gc3RedOpCreatePreMulSum(to, from, static_cast<gc3DataType_t>(type),
                                   static_cast<gc3ScalarResidence_t>(residence), on);
  };
  EXPECT_EQ(create(nullptr, &scalar, gc3Float32, gc3ScalarDevice, comm), gc3InvalidArgument);
  EXPECT_EQ(create(&op, nullptr, gc3Float32, gc3ScalarDevice, comm), gc3InvalidArgument);
  EXPECT_EQ(create(&op, &scalar, gc3Float32, gc3ScalarDevice, nullptr), gc3InvalidArgument);
  for (int type : {-1, static_cast<int>(gc3NumTypes), INT32_MAX})
    EXPECT_EQ(create(&op, &scalar, type, gc3ScalarDevice, comm), gc3InvalidArgument);
  for (int residence : {-1, 2, INT32_MAX})
    EXPECT_EQ(create(&op, &scalar, gc3Float32, residence, comm), gc3InvalidArgument);
  EXPECT_EQ(op, gc3Max) << "no operation was created";
  for (int unknown : {-1, static_cast<int>(gc3Avg), static_cast<int>(gc3NumOps), INT32_MAX})
    EXPECT_EQ(gc3RedOpDestroy(static_cast<gc3RedOp_t>(unknown), comm), gc3InvalidArgument);
  ASSERT_EQ(create(&op, &scalar, gc3Float32, gc3ScalarDevice, comm), gc3Success);
  EXPECT_EQ(gc3RedOpDestroy(op, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3RedOpDestroy(op, group.comms[1]), gc3InvalidArgument) << "the operation belongs to the other rank";
  EXPECT_EQ(gc3RedOpDestroy(op, comm), gc3Success);
  EXPECT_EQ(gc3RedOpDestroy(op, comm), gc3InvalidArgument) << "twice";
}

/// An invalid operation on one rank fails the call on all ranks, in the first call and when ranks reuse a prepared
/// call.
TEST(PreMulSum, WrongOnOneRankFailsOnAll) {
  Group group({ringAllReduce(2, true)}, 2);
  const double scalar = 1;
  gc3RedOp_t ops[2], ofDouble = gc3Sum, destroyed = gc3Sum;
  auto make = [&](gc3RedOp_t &op, gc3DataType_t type, int rank) {
    ASSERT_EQ(gc3RedOpCreatePreMulSum(&op, &scalar, type, gc3ScalarHostImmediate, group.comms[rank]), gc3Success);
  };
  for (int r = 0; r < 2; ++r)
    make(ops[r], gc3Float32, r);
  make(ofDouble, gc3Float64, 1);
  make(destroyed, gc3Float32, 1);
  ASSERT_EQ(gc3RedOpDestroy(destroyed, group.comms[1]), gc3Success);
  const std::string number = std::to_string(static_cast<int>(destroyed)),
                    others = std::to_string(static_cast<int>(ops[0]));
  const std::tuple<gc3RedOp_t, gc3Result_t, std::string> cases[] = {
      {ofDouble, gc3InvalidArgument,
       "rank 1: the reduction was created for double, but the call has elements of type float"},
      {destroyed, gc3InvalidArgument, "rank 1: unknown reduction " + number},
      {ops[0], gc3InvalidArgument, "rank 1: unknown reduction " + others},
      {gc3Sum, gc3InvalidUsage,
       "the calls of the ranks do not match: rank 0 calls 'allreduce' of 4 float, premulsum; rank 1 calls "
       "'allreduce' of 4 float, sum"}};
  std::vector<float> data[2] = {std::vector<float>(4), std::vector<float>(4)};
  auto call = [&](int r, gc3RedOp_t op) {
    return gc3AllReduce(data[r].data(), data[r].data(), 4, gc3Float32, op, group.comms[r], nullptr);
  };
  for (int turn = 0; turn < 2; ++turn) {
    for (const auto &[op, code, text] : cases) {
      EXPECT_EQ(group.threads([&, wrong = op](int r, gc3Comm_t) { return call(r, r ? wrong : ops[0]); }),
                std::vector<gc3Result_t>(2, code));
      EXPECT_EQ(gc3GetLastError(group.comms[0]), text);
      EXPECT_EQ(gc3GetLastError(group.comms[1]), text);
    }
    EXPECT_EQ(group.threads([&](int r, gc3Comm_t) { return call(r, ops[r]); }),
              std::vector<gc3Result_t>(2, gc3Success));
  }
}

/// Tuners get gc3Sum for every custom reduction.
TEST(PreMulSum, TunersSeeASum) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  std::vector<gc3RedOp_t> seen;
  config.tunerData = &seen;
  config.tuner = [](const gc3TunerCall_t *call, void *data) {
    static_cast<std::vector<gc3RedOp_t> *>(data)->push_back(call->op);
    return static_cast<int>(gc3TunerBySize);
  };
  Group group({ringAllReduce(2, true)}, 2, config);
  const Case of(ElementType::Int64, 8, 1);
  reduce(group, of, false, false, gc3ScalarHostImmediate);
  EXPECT_EQ(seen, std::vector<gc3RedOp_t>{gc3Sum});
}
