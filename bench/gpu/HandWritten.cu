// SPDX-License-Identifier: Apache-2.0
#include "HandWritten.h"

#include <cstdint>
#include <type_traits>

namespace bench {

namespace {

constexpr size_t slotVectors = slotBytes / sizeof(float4);
constexpr size_t floatsPerVector = sizeof(float4) / sizeof(float);
constexpr int unrolled = 4;

__device__ unsigned long long acquire(const unsigned long long *at) {
  unsigned long long value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(at)) : "memory");
  return value;
}

__device__ void publish(unsigned long long *at, unsigned long long value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "l"(value) : "memory");
}

/// Waits until the counter is at least `value`. Traps after too many polls, so that a benchmark fails instead of
/// hanging.
__device__ void await(const unsigned long long *at, unsigned long long value) {
  for (uint64_t polls = 0; acquire(at) < value; ++polls)
    if (polls == uint64_t{1} << 28)
      __trap();
}

__device__ float4 operator+(const float4 &a, const float4 &b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// The state of a block: its connections for receiving and sending, and the numbers of their messages so far.
struct Block {
  Connection in, out;
  unsigned long long received, sent;
};

/// Runs one step on `n` vectors. Reads a message, or `from` if it receives none. Adds `from` to the message if Adds is
/// set. Writes the result to `to`, to a message, or to both.
template <bool Receives, bool Adds, bool Writes, bool Sends>
__device__ void step(Block &block, const float4 *from, float4 *to, size_t n) {
  if (Receives && threadIdx.x == 0)
    await(block.in.arrived, block.received + 1);
  if (Sends && threadIdx.x == 32 && block.sent >= slots)
    await(block.out.freed, block.sent + 1 - slots);
  if (Receives || Sends)
    __syncthreads();
  const float4 *message = Receives ? block.in.fifo + block.received % slots * slotVectors : nullptr;
  float4 *next = Sends ? block.out.fifo + block.sent % slots * slotVectors : nullptr;
  auto vectors = [&](size_t at, auto count) {
    constexpr int many = decltype(count)::value;
    float4 value[many];
    for (int i = 0; i < many; ++i)
      value[i] = (Receives ? message : from)[at + i * threads];
    if constexpr (Receives && Adds) {
      float4 own[many];
      for (int i = 0; i < many; ++i)
        own[i] = from[at + i * threads];
      for (int i = 0; i < many; ++i)
        value[i] = value[i] + own[i];
    }
    for (int i = 0; i < many; ++i) {
      if (Writes)
        to[at + i * threads] = value[i];
      if (Sends)
        next[at + i * threads] = value[i];
    }
  };
  size_t at = threadIdx.x;
  for (; at + (unrolled - 1) * threads < n; at += unrolled * threads)
    vectors(at, std::integral_constant<int, unrolled>());
  for (; at < n; at += threads)
    vectors(at, std::integral_constant<int, 1>());
  __syncthreads();
  block.received += Receives;
  block.sent += Sends;
  if ((Receives || Sends) && threadIdx.x == 0) {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if (Sends)
      publish(block.out.arrived, block.sent);
    if (Receives)
      publish(block.in.freed, block.received);
  }
}

/// Each block belongs to a rank and a channel. Each channel moves a part of `n` vectors of every chunk. Chunk c is
/// summed along the ring from rank c + 1 to rank c. The sum then moves on along the ring, up to rank c - 1.
__global__ void __launch_bounds__(threads, 1)
    ringKernel(float4 *const *buffers, const Connection *ring, uint32_t ranks, uint32_t channels, size_t n) {
  const uint32_t rank = blockIdx.x / channels, channel = blockIdx.x % channels;
  Block block{ring[rank * channels + channel], ring[(rank + 1) % ranks * channels + channel], 0, 0};
  block.received = *block.in.received, block.sent = *block.out.sent;
  for (size_t at = 0; at < n; at += slotVectors) {
    const size_t part = min(slotVectors, n - at);
    auto own = [&](uint32_t place) { // this rank's part of the chunk that arrives here after `place` hops
      const uint32_t chunk = (rank + 2 * ranks - 1 - place) % ranks;
      return buffers[rank] + (size_t{chunk} * channels + channel) * n + at;
    };
    step<false, false, false, true>(block, own(0), nullptr, part);
    for (uint32_t place = 1; place < ranks - 1; ++place)
      step<true, true, false, true>(block, own(place), nullptr, part);
    step<true, true, true, true>(block, own(ranks - 1), own(ranks - 1), part);
    for (uint32_t place = 0; place < ranks - 2; ++place)
      step<true, false, true, true>(block, nullptr, own(place), part);
    step<true, false, true, false>(block, nullptr, own(ranks - 2), part);
  }
  if (threadIdx.x == 0) {
    *block.in.received = block.received;
    *block.out.sent = block.sent;
  }
}

/// Each block belongs to a rank and a job. A rank has 2 * (ranks - 1) jobs. The first ranks - 1 jobs each receive from
/// one rank, and job 0 also copies the rank's own chunk. The other jobs send.
__global__ void __launch_bounds__(threads, 1)
    pairsKernel(float4 *const *inputs, float4 *const *outputs, const Connection *pairs, uint32_t ranks, size_t n) {
  const uint32_t others = ranks - 1, rank = blockIdx.x / (2 * others), job = blockIdx.x % (2 * others);
  const uint32_t number = job % others, peer = number + (number >= rank);
  const bool sends = job >= others;
  const Connection &connection = pairs[sends ? peer * ranks + rank : rank * ranks + peer];
  Block block{connection, connection, 0, 0};
  block.received = *connection.received, block.sent = *connection.sent;
  for (size_t at = 0; at < n; at += slotVectors) {
    const size_t part = min(slotVectors, n - at);
    if (sends) {
      step<false, false, false, true>(block, inputs[rank] + peer * n + at, nullptr, part);
      continue;
    }
    if (number == 0)
      step<false, false, true, false>(block, inputs[rank] + rank * n + at, outputs[rank] + rank * n + at, part);
    step<true, false, true, false>(block, nullptr, outputs[rank] + peer * n + at, part);
  }
  if (threadIdx.x == 0)
    *(sends ? connection.sent : connection.received) = sends ? block.sent : block.received;
}

void launch(const void *kernel, uint32_t blocks, void **arguments, cudaStream_t stream) {
  check(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments, 0, stream),
        "launching a hand-written kernel");
}

template <typename T>
T *onGpu(const std::vector<T> &values, std::vector<std::unique_ptr<DeviceFloats>> &memory) {
  const size_t bytes = values.size() * sizeof(T);
  memory.push_back(std::make_unique<DeviceFloats>((bytes + sizeof(float) - 1) / sizeof(float)));
  check(cudaMemcpy(memory.back()->get(), values.data(), bytes, cudaMemcpyHostToDevice), "copying a table");
  return reinterpret_cast<T *>(memory.back()->get());
}

float4 *vectors(float *floats) {
  return reinterpret_cast<float4 *>(floats);
}

} // namespace

std::vector<Connection> HandWritten::connect(size_t connections) {
  constexpr size_t apart = 16; // words of 8 bytes between counters, so that each has its own cache line
  memory.push_back(std::make_unique<DeviceFloats>(connections * slots * slotBytes / sizeof(float)));
  float4 *fifos = vectors(memory.back()->get());
  memory.push_back(std::make_unique<DeviceFloats>(connections * 4 * apart * 2));
  auto *counters = reinterpret_cast<unsigned long long *>(memory.back()->get());
  std::vector<Connection> made;
  for (size_t i = 0; i < connections; ++i) {
    unsigned long long *own = counters + i * 4 * apart;
    made.push_back({fifos + i * slots * slotVectors, own, own + apart, own + 2 * apart, own + 3 * apart});
  }
  return made;
}

HandWritten::HandWritten(uint32_t numberOfRanks, const std::vector<float *> &allInputs,
                         const std::vector<float *> &allOutputs)
    : ranks(numberOfRanks) {
  std::vector<float4 *> in, out;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    in.push_back(vectors(allInputs[rank]));
    out.push_back(vectors(allOutputs[rank]));
  }
  inputs = onGpu(in, memory);
  outputs = onGpu(out, memory);
  ring = onGpu(connect(size_t{ranks} * channels), memory);
  pairs = onGpu(connect(size_t{ranks} * ranks), memory);
}

void HandWritten::ringAllReduce(size_t count, cudaStream_t stream) const {
  float4 **buffers = outputs;
  Connection *connections = ring;
  uint32_t numberOfRanks = ranks, numberOfChannels = channels;
  size_t part = count / ranks / channels / floatsPerVector;
  void *arguments[] = {&buffers, &connections, &numberOfRanks, &numberOfChannels, &part};
  launch(reinterpret_cast<const void *>(&ringKernel), ranks * channels, arguments, stream);
}

void HandWritten::allToAll(size_t count, cudaStream_t stream) const {
  float4 **from = inputs, **to = outputs;
  Connection *connections = pairs;
  uint32_t numberOfRanks = ranks;
  size_t chunk = count / floatsPerVector;
  void *arguments[] = {&from, &to, &connections, &numberOfRanks, &chunk};
  launch(reinterpret_cast<const void *>(&pairsKernel), ranks * 2 * (ranks - 1), arguments, stream);
}

} // namespace bench
