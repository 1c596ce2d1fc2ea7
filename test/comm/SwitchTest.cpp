// SPDX-License-Identifier: Apache-2.0
// Calls over the switch: the switch reduces, and stores to all ranks.
#include "WindowedWorld.h"

#include <cmath>
#include <numeric>

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

bool isOverSwitch(Place place) {
  return (static_cast<uint64_t>(place) & kernel::switchPlaces) != 0;
}

class SwitchWorld : public WindowedWorld {
public:
  SwitchWorld(FakeCuda &cuda, FakeNccl &nccl, const ProgramSpec &spec, const cuda::Options &options = overSwitch())
      : WindowedWorld(cuda, nccl, {spec}, options) {}

  /// Makes an in-place AllReduce of floats, at `offset` in the windows. Element i of rank r is a small integer, so that
  /// sums are exact. Returns the number of wrong elements on all ranks.
  size_t sum(size_t count, size_t offset = 0) {
    const auto valueOf = [](size_t rank, size_t i) { return static_cast<float>((rank + 1) * (i % 1000) + rank); };
    std::vector<float *> data;
    for (std::byte *place : at(offset))
      data.push_back(reinterpret_cast<float *>(place));
    for (size_t rank = 0; rank < data.size(); ++rank)
      for (size_t i = 0; i < count; ++i)
        data[rank][i] = valueOf(rank, i);
    std::vector<comm::CallGroup::Call> calls;
    for (size_t rank = 0; rank < data.size(); ++rank) {
      core::Request request;
      request.kind = core::CallKind::Program;
      request.name = names[0];
      request.send = request.recv = data[rank];
      request.count = count;
      request.type = gc3Float32;
      calls.push_back(part(rank, request));
    }
    comm::CallGroup::run(calls);
    for (const comm::CallGroup::Call &call : calls)
      EXPECT_EQ(call.outcome.text, "");
    for (cuda::Stream stream : streams)
      EXPECT_TRUE(cuda.isIdle(stream));
    size_t wrong = 0;
    for (const float *result : data)
      for (size_t i = 0; i < count; ++i) {
        float expected = 0;
        for (size_t rank = 0; rank < data.size(); ++rank)
          expected += valueOf(rank, i);
        wrong += result[i] != expected;
      }
    return wrong;
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
    for (size_t times : {1, 5, 40}) {
      fake.seed = times;
      EXPECT_EQ(world.sum(4 * ranks * times), 0u) << ranks << " ranks";
      EXPECT_TRUE(isOverSwitch(world.placeOf(0)));
      EXPECT_EQ(world.ranksWithCleanSlots(), ranks) << "no message carries data";
    }
  }
}

} // namespace
