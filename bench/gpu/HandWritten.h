// SPDX-License-Identifier: Apache-2.0
// The algorithms of bench.gc3's `ring_simple` and `alltoall` as kernels written for them: the same thread blocks, FIFO
// slots, tiles, counters and fences, and no instructions to interpret. What gc3's kernel is measured against.
#pragma once

#include "Replay.h"

#include <memory>
#include <vector>

namespace bench {

inline constexpr uint32_t slots = 8;
inline constexpr size_t slotBytes = 512 << 10;
inline constexpr uint32_t threads = 512;
inline constexpr uint32_t channels = 8; ///< of the ring

/// One block's end of a connection. Counters count messages from the beginning on and go on from launch to launch.
struct Connection {
  float4 *fifo;
  unsigned long long *arrived, *freed; ///< told by the sender and by the receiver
  unsigned long long *sent, *received; ///< what each has counted itself
};

class HandWritten {
public:
  /// Of so many ranks, in float. The buffers have room for the largest call.
  HandWritten(uint32_t ranks, const std::vector<float *> &inputs, const std::vector<float *> &outputs);

  /// In place in the outputs. `count` elements on each rank, a multiple of 4 * channels * ranks.
  void ringAllReduce(size_t count, cudaStream_t stream) const;
  /// `count` elements from each rank to each, a multiple of 4.
  void allToAll(size_t count, cudaStream_t stream) const;

private:
  std::vector<Connection> connect(size_t connections);

  uint32_t ranks;
  std::vector<std::unique_ptr<DeviceFloats>> memory;
  float4 **inputs, **outputs; ///< by rank
  Connection *ring;           ///< into rank r on channel c: r * channels + c
  Connection *pairs;          ///< from rank q to rank r: r * ranks + q
};

} // namespace bench
