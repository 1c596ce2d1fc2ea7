// SPDX-License-Identifier: Apache-2.0
// Calls over the switch: the switch reduces, and stores to all ranks.
#include "WindowedWorld.h"

#include <cstring>

using namespace gc3;
using namespace gc3::test;
using core::ElementType;
using kernel::Place;

namespace {

cuda::Options overSwitch() {
  cuda::Options options = comparing();
  options.overSwitch = true;
  return options;
}

/// Returns the bits of a whole number from 0 to 255, which float, half and bfloat16 represent exactly.
uint32_t bitsOf(ElementType type, uint32_t number) {
  const auto value = static_cast<float>(number);
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (type == ElementType::Float)
    return bits;
  if (type == ElementType::Bfloat16 || number == 0)
    return bits >> 16;
  return (bits >> 13) - ((127 - 15) << 10); // half: 10 bits of the fraction, another bias of the exponent
}

/// A call of an AllReduce. `offsets` are the offsets of the buffers in the ranks' windows.
struct SwitchCall {
  size_t count = 16;
  ElementType type = ElementType::Float;
  gc3RedOp_t op = gc3Sum;
  bool inPlace = true;
  std::vector<size_t> offsets{};
};

class SwitchWorld : public WindowedWorld {
public:
  SwitchWorld(FakeCuda &cuda, FakeNccl &nccl, const ProgramSpec &spec, const cuda::Options &options = overSwitch())
      : WindowedWorld(cuda, nccl, {spec}, options) {}

  /// Makes a call, and checks that all ranks have right results. Sums of the ranks' numbers are exact.
  void expectRight(const SwitchCall &call) {
    const size_t size = core::elementSize(call.type);
    const auto numberOf = [](size_t rank, size_t i) { return static_cast<uint32_t>((5 * rank + 3 * i) % 32); };
    std::vector<std::byte *> outputs = at(0);
    std::vector<comm::CallGroup::Call> calls;
    for (size_t rank = 0; rank < outputs.size(); ++rank) {
      outputs[rank] += call.offsets.empty() ? 0 : call.offsets[rank];
      std::byte *input = call.inPlace ? outputs[rank] : static_cast<std::byte *>(memory[rank]) + windowBytes / 2;
      for (size_t i = 0; i < call.count; ++i) {
        const uint32_t bits = bitsOf(call.type, numberOf(rank, i));
        std::memcpy(input + i * size, &bits, size);
      }
      core::Request request;
      request.kind = core::CallKind::Program;
      request.name = names[0];
      request.send = input, request.recv = outputs[rank];
      request.count = call.count;
      request.type = static_cast<gc3DataType_t>(call.type);
      request.op = call.op;
      calls.push_back(part(rank, request));
    }
    comm::CallGroup::run(calls);
    for (const comm::CallGroup::Call &each : calls)
      EXPECT_EQ(each.outcome.text, "");
    for (cuda::Stream stream : streams)
      ASSERT_TRUE(cuda.isIdle(stream));
    size_t wrong = 0;
    for (const std::byte *output : outputs)
      for (size_t i = 0; i < call.count; ++i) {
        uint32_t expected = numberOf(0, i);
        for (size_t rank = 1; rank < outputs.size(); ++rank)
          expected = call.op == gc3Max   ? std::max(expected, numberOf(rank, i))
                     : call.op == gc3Min ? std::min(expected, numberOf(rank, i))
                                         : expected + numberOf(rank, i);
        const uint32_t bits = bitsOf(call.type, expected);
        wrong += std::memcmp(output + i * size, &bits, size) != 0;
      }
    EXPECT_EQ(wrong, 0u) << "of " << call.count << " elements of " << elementTypeName(call.type);
  }
};

class Switch : public testing::Test {
protected:
  Switch() { nccl.version = ncclapi::devicePointerVersion; }
  FakeCuda fake;
  FakeNccl nccl{fake};
};

TEST_F(Switch, ReducesAndStores) {
  for (uint32_t ranks : {2, 3, 4}) {
    SwitchWorld world(fake, nccl, ringAllReduce(ranks, true));
    for (bool inPlace : {false, true})
      for (size_t times : {1, 5, 40}) {
        ++fake.seed;
        world.expectRight({.count = 4 * ranks * times, .inPlace = inPlace});
        EXPECT_TRUE(world.usedSwitch()) << ranks << " ranks";
        EXPECT_EQ(world.ranksWithCleanSlots(), ranks) << "no message carries data";
      }
  }
}

/// float has sums only, half and bfloat16 have no products, and there are no other types.
TEST_F(Switch, ReducesSomeTypes) {
  SwitchWorld world(fake, nccl, ringAllReduce(4, true));
  for (auto type : {ElementType::Float, ElementType::Half, ElementType::Bfloat16})
    for (gc3RedOp_t op : {gc3Sum, gc3Max, gc3Min}) {
      ++fake.seed;
      world.expectRight({.count = 160, .type = type, .op = op});
      EXPECT_EQ(world.usedSwitch(), type != ElementType::Float || op == gc3Sum) << elementTypeName(type) << ", " << op;
    }
  for (auto [type, op] : {std::pair(ElementType::Half, core::ReduceOp::Prod),
                          {ElementType::Int32, core::ReduceOp::Sum},
                          {ElementType::Double, core::ReduceOp::Sum}}) {
    EXPECT_EQ(world.runAt(0, 0, {.count = 160, .type = type, .op = op, .inPlace = true}), "");
    EXPECT_FALSE(world.usedSwitch()) << elementTypeName(type);
    EXPECT_GT(world.placeOf(0), Place::Nowhere);
  }
}

/// The switch accesses whole packs of 16 bytes. If a slot is short, or the buffer is not aligned, messages go directly.
TEST_F(Switch, NeedsWholePacks) {
  SwitchWorld world(fake, nccl, ringAllReduce(4, true));
  for (size_t count : {15, 17, 20, 4 * 6}) {
    world.expectRight({.count = count});
    EXPECT_FALSE(world.usedSwitch()) << count;
  }
  world.expectRight({.offsets = {4, 4, 4, 4}});
  EXPECT_FALSE(world.usedSwitch());
  world.expectRight({.offsets = {16, 16, 16, 16}});
  EXPECT_TRUE(world.usedSwitch());
}

TEST_F(Switch, NeedsASwitch) {
  nccl.hasSwitch = false;
  {
    SwitchWorld world(fake, nccl, ringAllReduce(3, true));
    world.expectRight({.count = 48});
    EXPECT_FALSE(world.usedSwitch());
    EXPECT_GT(world.placeOf(0), Place::Nowhere);
  }
  nccl.hasSwitch = true;
  nccl.version = ncclapi::oldestVersion; // has no function that returns the switch's addresses
  SwitchWorld world(fake, nccl, ringAllReduce(3, true));
  world.expectRight({.count = 48});
  EXPECT_FALSE(world.usedSwitch());
}

TEST_F(Switch, IsOffByDefault) {
  SwitchWorld world(fake, nccl, ringAllReduce(3, true), comparing());
  world.expectRight({.count = 48});
  EXPECT_FALSE(world.usedSwitch());
  EXPECT_GT(world.placeOf(0), Place::Nowhere);
}

TEST_F(Switch, NeedsAGpuWithItsInstructions) {
  fake.architecture = 80;
  SwitchWorld world(fake, nccl, ringAllReduce(3, true));
  world.expectRight({.count = 48});
  EXPECT_FALSE(world.usedSwitch());
}

TEST_F(Switch, WorksWithoutDirectMessages) {
  cuda::Options options = overSwitch();
  options.direct = false;
  SwitchWorld world(fake, nccl, ringAllReduce(3, true), options);
  world.expectRight({.count = 48});
  EXPECT_TRUE(world.usedSwitch());
}

/// The application has promised that all receive buffers have one offset. If they have not, the call moves no data.
TEST_F(Switch, WaitsForTheSamePlace) {
  cuda::Options options = overSwitch();
  options.timeoutMs = 100;
  SwitchWorld world(fake, nccl, ringAllReduce(2, true), options);
  world.expectRight({.count = 16});
  std::vector<comm::CallGroup::Call> calls;
  for (size_t rank : {0, 1}) {
    core::Request request;
    request.kind = core::CallKind::Program;
    request.name = world.names[0];
    request.send = request.recv = static_cast<std::byte *>(world.memory[rank]) + 16 * rank;
    request.count = 16;
    request.type = gc3Float32;
    calls.push_back(world.part(rank, request));
  }
  comm::CallGroup::run(calls);
  const std::string report = awaitStopReport(*world.ranks[0]);
  EXPECT_NE(report.find("waits for its peers to use the same place of their windows in a call over the switch"),
            std::string::npos)
      << report;
}

} // namespace
