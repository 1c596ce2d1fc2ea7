// SPDX-License-Identifier: Apache-2.0
// The algorithms `ring_simple` and `alltoall` of bench.gc3 as hand-written kernels, with which gc3's kernel is
// compared. The hand-written kernels have the same thread blocks, FIFO slots, tiles and counters, but no instructions
// to interpret. They return each slot at once, and have four loads in flight.
#pragma once

#include "Replay.h"

#include <memory>
#include <vector>

namespace bench {

inline constexpr uint32_t slots = 8;
inline constexpr size_t slotBytes = 512 << 10;
inline constexpr uint32_t threads = 512;
inline constexpr uint32_t channels = 8; ///< number of the ring's channels

/// One block's end of a connection. Counters count messages since the beginning, and persist across launches.
struct Connection {
  float4 *fifo;
  unsigned long long *arrived, *freed; ///< published by the sender, by the receiver
  unsigned long long *sent, *received; ///< the sender's own count, the receiver's own count
};

class HandWritten {
public:
  /// Makes the kernels' tables for `ranks` ranks. The buffers, of floats, must have room for the largest call.
  HandWritten(uint32_t ranks, const std::vector<float *> &inputs, const std::vector<float *> &outputs);

  /// Runs in place in the outputs. Each rank has `count` elements, a multiple of 4 * channels * ranks.
  void ringAllReduce(size_t count, cudaStream_t stream) const;
  /// Moves `count` elements, a multiple of 4, from each rank to each rank.
  void allToAll(size_t count, cudaStream_t stream) const;

private:
  std::vector<Connection> connect(size_t connections);

  uint32_t ranks;
  std::vector<std::unique_ptr<DeviceFloats>> memory;
  float4 **inputs, **outputs; ///< indexed by rank
  Connection *ring;           ///< connection into rank r on channel c at r * channels + c
  Connection *pairs;          ///< connection from rank q to rank r at r * ranks + q
};

} // namespace bench
