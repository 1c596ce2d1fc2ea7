// SPDX-License-Identifier: Apache-2.0
// Compares the results of calls on the fake GPU with those of calls on the host.
#include "LoopbackSupport.h"
#include "Programs.h"

#include <functional>

using namespace gc3;
using namespace gc3::test;
using core::ElementType;
using core::ReduceOp;

namespace {

struct Case {
  const char *name;
  std::function<ProgramSpec()> spec;
  uint64_t unit = 1; ///< the test uses only multiples of this count
};

const Case cases[] = {
    {"RingAllReduce", [] { return ringAllReduce(3, true); }},
    {"RingAllReduceApart", [] { return ringAllReduce(3, false, 2); }},
    {"PlainRingAllReduce", [] { return plainRingAllReduce(3); }},
    {"AllToAll", [] { return allToAll(3, 2); }},
    {"AllGather", [] { return allGather(3, false); }},
    {"AllGatherAliased", [] { return allGather(3, true); }},
    {"AllGatherFlat", [] { return allGather(3, false, true); }},
    {"ReduceScatter", [] { return reduceScatter(3, false); }},
    {"ReduceScatterAliased", [] { return reduceScatter(3, true); }},
    {"ReduceScatterFlat", [] { return reduceScatter(3, false, true); }},
    {"Broadcast", [] { return broadcast(3, 1); }},
    {"Reduce", [] { return reduceTo(3, 2); }},
    {"Gather", [] { return gather(3, 1); }},
    {"Scatter", [] { return scatter(3, 0); }},
    {"ShiftReversed", [] { return shiftReversed(3, 2); }, 2}, // chunks change places, so all must have the same length
    {"WritesInput", [] { return writesInput(3); }},
    {"OneRank", [] { return ringAllReduce(1, true); }},
    {"WholeSlots",
     [] {
       ProgramSpec spec = ringAllReduce(3, true, 2);
       spec.wholeSlots = true;
       return spec;
     }},
    {"WholeSlotsGather",
     [] {
       ProgramSpec spec = allGather(3, false, true);
       spec.wholeSlots = true;
       return spec;
     }},
};

class LoopbackCalls : public testing::TestWithParam<Case> {};

/// Tests calls in place and out of place: sums and averages of a float, an integer and a narrow type. Some counts split
/// evenly into chunks, and others do not.
TEST_P(LoopbackCalls, LeaveWhatTheHostLeaves) {
  FakeCuda fake;
  for (bool direct : {true, false}) {
    cuda::Options chosen = smallOptions();
    chosen.direct = direct;
    Loopback loopback(GetParam().spec(), chosen);
    ASSERT_TRUE(loopback.made.ok()) << loopback.made.text;
    for (bool inPlace : {false, true})
      for (ElementType type : {ElementType::Float, ElementType::Int32, ElementType::Bfloat16})
        for (ReduceOp op : {ReduceOp::Sum, ReduceOp::Avg})
          for (uint64_t count : {1, 6, 151}) {
            const TrialOptions options{count * GetParam().unit,          type,       op, inPlace,
                                       static_cast<uint32_t>(count % 3), fake.seed++};
            if (loopback.trial(options).exists()) {
              EXPECT_EQ(loopback.run(fake, options), "");
            }
          }
  }
  EXPECT_EQ(fake.leaks(), "");
}

/// On some ranks, addresses of buffers are not multiples of the element size, as in a part of a byte stream.
TEST_P(LoopbackCalls, BuffersMayBeginAnywhere) {
  FakeCuda fake;
  {
    Loopback loopback(GetParam().spec());
    for (bool inPlace : {false, true})
      for (ElementType type : {ElementType::Float, ElementType::Int64, ElementType::Half, ElementType::Int8})
        for (ReduceOp op : {ReduceOp::Sum, ReduceOp::Avg})
          for (size_t off : {1, 4}) {
            const TrialOptions options{151 * GetParam().unit, type, op, inPlace, 0, fake.seed++};
            if (loopback.trial(options).exists()) {
              EXPECT_EQ(loopback.run(fake, options, off), "") << "off by " << off;
            }
          }
  }
  EXPECT_EQ(fake.leaks(), "");
}

/// Like LeaveWhatTheHostLeaves, with a different scalar on each rank.
TEST_P(LoopbackCalls, MultiplyAsTheHostDoes) {
  FakeCuda fake;
  {
    Loopback loopback(GetParam().spec());
    for (bool inPlace : {false, true})
      for (ElementType type : {ElementType::Float, ElementType::Int32, ElementType::Float8E4M3})
        for (Scalars scalars : {Scalars::Immediate, Scalars::InMemory})
          for (uint64_t count : {1, 6, 151}) {
            const TrialOptions options{count * GetParam().unit,          type,        ReduceOp::Sum, inPlace,
                                       static_cast<uint32_t>(count % 3), fake.seed++, scalars};
            EXPECT_EQ(loopback.run(fake, options), "");
          }
  }
  EXPECT_EQ(fake.leaks(), "");
}

INSTANTIATE_TEST_SUITE_P(Programs, LoopbackCalls, testing::ValuesIn(cases),
                         [](const auto &test) { return std::string(test.param.name); });

TEST(Loopback, AllTypesAndOperations) {
  FakeCuda fake;
  Loopback loopback(ringAllReduce(2, true));
  for (unsigned type = 0; type < core::elementTypeCount; ++type)
    for (unsigned op = 0; op < core::reduceOpCount; ++op)
      EXPECT_EQ(loopback.run(fake, {33, static_cast<ElementType>(type), static_cast<ReduceOp>(op), false, 1, type}),
                "");
}

TEST(Loopback, AllTypesMultiply) {
  FakeCuda fake;
  Loopback loopback(ringAllReduce(2, true));
  for (unsigned type = 0; type < core::elementTypeCount; ++type)
    for (Scalars scalars : {Scalars::Immediate, Scalars::InMemory})
      EXPECT_EQ(loopback.run(fake, {.count = 33,
                                    .type = static_cast<ElementType>(type),
                                    .misalignment = 1,
                                    .seed = type,
                                    .scalars = scalars}),
                "");
}

TEST(Loopback, NothingToMove) {
  FakeCuda fake;
  Loopback loopback(ringAllReduce(3, true));
  EXPECT_EQ(loopback.run(fake, {.count = 0}), "");
  EXPECT_EQ(fake.launches, 0u);
}

TEST(Loopback, AllBlocksFitWithFewerThreads) {
  FakeCuda fake;
  fake.multiprocessors = 1;
  fake.threadsPerMultiprocessor = 192;
  Loopback loopback(ringAllReduce(3, true), tuned({.slotBytes = 256})); // 3 thread blocks
  EXPECT_EQ(loopback.run(fake, {}), "");
  EXPECT_EQ(fake.threadsOfLaunch, 64u);
}

TEST(Loopback, BelongsToItsDevice) {
  FakeCuda fake;
  fake.currentDevice = 1;
  Loopback loopback(ringAllReduce(2, true));
  fake.currentDevice = 3;
  EXPECT_EQ(loopback.run(fake, {}), "");
  EXPECT_EQ(fake.currentDevice, 3);
}

/// Each program has separate connections.
TEST(Loopback, SeveralPrograms) {
  FakeCuda fake;
  Loopback loopback({shiftReversed(3, 2), ringAllReduce(3, true)});
  for (uint64_t call = 0; call < 6; ++call)
    EXPECT_EQ(loopback.run(fake, {.count = 50 + call, .seed = call}, 0, call % 3 % 2), "");
}

TEST(Loopback, SelectsAsTheHostDoes) {
  FakeCuda fake;
  Loopback loopback(ringAllReduce(2, true));
  core::Request request;
  request.name = "allreduce";
  request.count = 4;
  const core::Result<const char *> program = loopback.world->select(request);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(*program, loopback.name);
}

} // namespace
