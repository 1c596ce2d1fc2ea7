// SPDX-License-Identifier: Apache-2.0
// Tests online selection among the shapes of a program in the interposer. A program of its own, because a process reads
// GC3_TUNE once.
#include "Front.h"

using namespace gc3::test;

namespace {

[[maybe_unused]] const int hasShapes =
    setenv("GC3_TUNE", "online,shapes", 1) + setenv("GC3_PROGRAM", "allreduce:ring2_1", 1);

class ShapesFront : public Front {
protected:
  static constexpr size_t count = 120; ///< the program has two slots, and 60 of these floats fit into a FIFO slot

  ShapesFront() {
    for (size_t rank = 0; rank < 2; ++rank)
      for (auto *buffers : {&inputs, &outputs})
        buffers->push_back(reinterpret_cast<float *>(cuda.allocate(count * sizeof(float))));
    cuda.duration = [this](const gc3::cuda::Launch &launch) {
      tiles[launch.stream].push_back(cuda.callOn.at(launch.stream).tileElements);
      return tiles[launch.stream].back() == 16 ? 10.0 : 50.0;
    };
  }
  ~ShapesFront() override {
    for (const auto *buffers : {&inputs, &outputs})
      for (float *buffer : *buffers)
        cuda.release(reinterpret_cast<std::byte *>(buffer));
  }

  std::vector<float *> inputs, outputs;
  std::map<gc3::cuda::Stream, std::vector<uint64_t>> tiles; ///< elements of a tile, by call; guarded by the monitor
};

TEST_F(ShapesFront, SmallTilesReplaceTheDefault) {
  const Comms comms = makeJoined();
  for (int call = 0; call < 200; ++call) {
    for (size_t i = 0; i < count; ++i)
      inputs[0][i] = static_cast<float>(call), inputs[1][i] = static_cast<float>(i), outputs[0][i] = outputs[1][i] = -1;
    EXPECT_EQ(inGroup(2,
                      [&](size_t rank) {
                        return ncclAllReduce(inputs[rank], outputs[rank], count, DataType::Float32, RedOp::Sum,
                                             comms[rank], streams[rank]);
                      }),
              Result::Success);
    ASSERT_TRUE(areIdle());
    for (size_t i = 0; i < count; ++i)
      for (const float *output : outputs)
        ASSERT_EQ(output[i], static_cast<float>(call) + static_cast<float>(i)) << "call " << call;
  }
  const gc3::test::Monitor::Lock lock;
  ASSERT_EQ(tiles.size(), 2U);
  const std::vector<uint64_t> &made = tiles.begin()->second;
  EXPECT_EQ(tiles.rbegin()->second, made) << "the ranks have different shapes";
  ASSERT_GE(made.size(), 200U);
  EXPECT_EQ(made[made.size() - 200], 60U);
  EXPECT_EQ(made.back(), 16U);
}

} // namespace
