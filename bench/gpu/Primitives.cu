// SPDX-License-Identifier: Apache-2.0
// gpu-primitives [--json FILE]: measures the parts of a step on the current GPU, in cycles of a multiprocessor, and the
// start of a kernel. Prints Markdown tables, and appends the same numbers to FILE. Exit status: 77 without a GPU.
#include "HandWritten.h"
#include "Measurement.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using namespace bench;

namespace {

using Word = unsigned long long;

constexpr int rounds = 400;            // of flags, back and forth
constexpr int repeats = 100;           // of every other operation
constexpr uint32_t wordsPerLine = 16;  // a cache line has 128 bytes
constexpr uint32_t chainLength = 1000; // lines in a cycle of addresses
constexpr int mostPolls = 1 << 24;     // of a flag, before the kernel fails

__device__ Word load(const Word *at) {
  Word value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}
__device__ Word acquire(const Word *at) {
  Word value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}
__device__ void store(Word *at, Word value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}
__device__ void fenceGpu() {
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}
__device__ void fenceSystem() {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/// What precedes the store of a flag.
enum class Before { Nothing, FenceGpu, FenceSystem };

template <Before B>
__device__ void signal(Word *at, Word value) {
  if constexpr (B == Before::FenceGpu)
    fenceGpu();
  if constexpr (B == Before::FenceSystem)
    fenceSystem();
  store(at, value);
}

/// How a poll loads the flag. RelaxedThenAcquire loads it once more, with acquire order, after it has arrived.
enum class Poll { Acquire, Relaxed, RelaxedThenAcquire };

/// Waits for the flag. Traps after too many polls, so that the program fails instead of hanging.
template <Poll P>
__device__ void await(const Word *at, Word value) {
  for (int polls = 0; (P == Poll::Acquire ? acquire(at) : load(at)) != value; ++polls)
    if (polls == mostPolls)
      __trap();
  if constexpr (P == Poll::RelaxedThenAcquire)
    acquire(at);
}

/// Block 0 and block `other` send each other a flag in turns. Stores the cycles of all rounds.
template <Before B, Poll P>
__global__ void sendFlags(Word *there, Word *back, uint32_t other, long long *cycles) {
  if (threadIdx.x != 0)
    return;
  const long long begin = clock64();
  for (Word round = 1; round <= rounds; ++round)
    if (blockIdx.x == 0) {
      signal<B>(there, round);
      await<P>(back, round);
    } else if (blockIdx.x == other) {
      await<P>(there, round);
      signal<B>(back, round);
    }
  if (blockIdx.x == 0)
    *cycles = clock64() - begin;
}

enum Operation { Barrier, BarrierOr, Load, Acquire, FenceGpu, FenceSystem, SharedLoad, operations };
constexpr std::array<const char *, operations> names{
    "a barrier of 512 threads", "a barrier with the disjunction of a condition",
    "a load from the L2 cache", "a load from the L2 cache with acquire order",
    "a fence of GPU scope",     "a fence of system scope",
    "a load from shared memory"};

/// Stores the cycles of `repeats` times each operation. `chain` is a cycle of addresses.
__global__ void measureOperations(const Word *chain, Word *unused, long long *cycles) {
  __shared__ volatile int links[32];
  if (threadIdx.x < 32)
    links[threadIdx.x] = (threadIdx.x + 1) % 32;
  __syncthreads();
  Word sink = 0; // what keeps the compiler from removing the loops
  const auto measure = [&](Operation operation, bool isMeasured, auto repeat) {
    const long long begin = clock64();
    for (int i = 0; i < repeats && isMeasured; ++i)
      repeat(i);
    if (threadIdx.x == 0)
      cycles[operation] = clock64() - begin;
    __syncthreads();
  };
  const bool isFirst = threadIdx.x == 0;
  const Word *at = chain;
  int link = 0;
  measure(Barrier, true, [](int) { __syncthreads(); });
  measure(BarrierOr, true, [&](int) { sink += __syncthreads_or(threadIdx.x > 1024); });
  measure(Load, isFirst, [&](int) { at = reinterpret_cast<const Word *>(load(at)); });
  measure(Acquire, isFirst, [&](int) { at = reinterpret_cast<const Word *>(acquire(at)); });
  measure(FenceGpu, isFirst, [](int) { fenceGpu(); });
  measure(FenceSystem, isFirst, [](int) { fenceSystem(); });
  measure(SharedLoad, isFirst, [&](int) { link = links[link]; });
  if (isFirst)
    *unused = sink + reinterpret_cast<Word>(at) + static_cast<Word>(link);
}

__global__ void doNothing() {}

template <typename T>
T *onGpu(size_t count) {
  T *memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "allocating memory");
  check(cudaMemset(memory, 0, count * sizeof(T)), "clearing memory");
  return memory;
}

/// Returns the cycles of a flag in one direction, for several pairs of multiprocessors, in ascending order.
template <Before B, Poll P>
std::vector<double> cyclesOfFlags(uint32_t multiprocessors) {
  std::vector<double> all;
  auto *cycles = onGpu<long long>(1);
  for (uint32_t part = 1; part <= 8; ++part) {
    auto *memory = onGpu<Word>(2 * wordsPerLine);
    Word *there = memory, *back = memory + wordsPerLine;
    uint32_t other = 1 + (multiprocessors - 2) * part / 8;
    void *arguments[] = {&there, &back, &other, &cycles};
    check(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(&sendFlags<B, P>), dim3(multiprocessors), dim3(32),
                                      arguments, 0, nullptr),
          "sending flags");
    long long sum = 0;
    check(cudaMemcpy(&sum, cycles, sizeof sum, cudaMemcpyDeviceToHost), "sending flags");
    all.push_back(static_cast<double>(sum) / (2 * rounds));
    check(cudaFree(memory), "freeing memory");
  }
  check(cudaFree(cycles), "freeing memory");
  std::sort(all.begin(), all.end());
  return all;
}

void printOperations(Report &report) {
  std::vector<Word> lines(size_t{chainLength} * wordsPerLine);
  auto *chain = onGpu<Word>(lines.size());
  for (uint32_t i = 0; i < chainLength; ++i)
    lines[i * wordsPerLine] = reinterpret_cast<Word>(chain + (i * 41 + 1) % chainLength * wordsPerLine);
  check(cudaMemcpy(chain, lines.data(), lines.size() * sizeof(Word), cudaMemcpyHostToDevice), "copying addresses");
  auto *cycles = onGpu<long long>(operations);
  auto *unused = onGpu<Word>(1);
  constexpr int runs = 6;
  std::array<std::array<long long, operations>, runs> sums{};
  for (auto &sum : sums) {
    measureOperations<<<1, 512>>>(chain, unused, cycles);
    check(cudaMemcpy(sum.data(), cycles, sizeof sum, cudaMemcpyDeviceToHost), "measuring operations");
  }
  for (int operation = 0; operation < operations; ++operation) {
    long long least = sums[1][operation], most = least; // the first run loads the code
    for (int run = 2; run < runs; ++run) {
      least = std::min(least, sums[run][operation]);
      most = std::max(most, sums[run][operation]);
    }
    report.row(names[operation], {static_cast<double>(least) / repeats, static_cast<double>(most) / repeats});
  }
}

template <Before B, Poll P = Poll::Acquire>
void flagRow(Report &report, const char *name, uint32_t multiprocessors) {
  const std::vector<double> cycles = cyclesOfFlags<B, P>(multiprocessors);
  report.row(name, {cycles.front(), cycles.back()});
}

void printFlags(Report &report, uint32_t multiprocessors) {
  flagRow<Before::Nothing>(report, "a flag to another multiprocessor, one way", multiprocessors);
  flagRow<Before::FenceGpu>(report, "a flag after a fence of GPU scope", multiprocessors);
  flagRow<Before::FenceSystem>(report, "a flag after a fence of system scope", multiprocessors);
  flagRow<Before::Nothing, Poll::Relaxed>(report, "a flag, with relaxed polls", multiprocessors);
  flagRow<Before::Nothing, Poll::RelaxedThenAcquire>(report, "a flag, with relaxed polls and one acquiring load",
                                                     multiprocessors);
}

/// Measures a kernel of one block that does nothing, as gpu-bench measures a call.
void printStart(Report &report) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  const auto launch = [&] {
    check(
        cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(&doNothing), dim3(1), dim3(512), nullptr, 0, stream),
        "launching a kernel");
  };
  launch();
  check(cudaStreamSynchronize(stream), "waiting for a kernel");
  Replay one(stream, 1, launch), many(stream, 50, launch);
  Replay *const replays[] = {&many};
  report.table("start", "A kernel that does nothing", {"kernel", "launch to end µs", "in a row µs"});
  report.row("an empty kernel", {medianLaunchToEnd(one, 1000), timeAlternating(replays, 11)[0]});
}

void measureAll(Report &report) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU");
  int kiloHertz = 0;
  check(cudaDeviceGetAttribute(&kiloHertz, cudaDevAttrClockRate, 0), "asking for the clock rate");
  char clock[32];
  std::snprintf(clock, sizeof clock, "%.2f", kiloHertz / 1e6);
  report.note(std::string(properties.name) + ", at most " + clock + " GHz");
  report.table("primitives", "The parts of a step", {"operation", "least cycles", "most cycles"});
  printOperations(report);
  if (properties.multiProcessorCount > 1)
    printFlags(report, static_cast<uint32_t>(properties.multiProcessorCount));
  printStart(report);
}

} // namespace

int main(int argc, char **argv) {
  return bench::runMeasurement(argc, argv, "gpu-primitives", measureAll);
}
