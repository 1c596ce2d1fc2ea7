// SPDX-License-Identifier: Apache-2.0
// gpu-primitives: measures the parts of a step on the current GPU, in cycles of a multiprocessor. Prints a Markdown
// table. Exit status: 77 without a GPU.
#include "HandWritten.h"

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

/// Block 0 and block `other` send each other a flag in turns. Stores the cycles of all rounds.
template <Before B>
__global__ void sendFlags(Word *there, Word *back, uint32_t other, long long *cycles) {
  if (threadIdx.x != 0)
    return;
  const long long begin = clock64();
  for (Word round = 1; round <= rounds; ++round)
    if (blockIdx.x == 0) {
      signal<B>(there, round);
      while (acquire(back) != round)
        continue;
    } else if (blockIdx.x == other) {
      while (acquire(there) != round)
        continue;
      signal<B>(back, round);
    }
  if (blockIdx.x == 0)
    *cycles = clock64() - begin;
}

enum Operation { Barrier, BarrierOr, Load, Acquire, FenceGpu, FenceSystem, SharedLoad, operations };
constexpr std::array<const char *, operations> names{
    "a barrier of 512 threads", "the same barrier, with the disjunction of a condition",
    "a load from the L2 cache", "the same with acquire order",
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

template <typename T>
T *onGpu(size_t count) {
  T *memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "allocating memory");
  check(cudaMemset(memory, 0, count * sizeof(T)), "clearing memory");
  return memory;
}

/// Returns the cycles of a flag in one direction, for several pairs of multiprocessors, in ascending order.
template <Before B>
std::vector<double> cyclesOfFlags(uint32_t multiprocessors) {
  std::vector<double> all;
  auto *cycles = onGpu<long long>(1);
  for (uint32_t part = 1; part <= 8; ++part) {
    auto *memory = onGpu<Word>(2 * wordsPerLine);
    Word *there = memory, *back = memory + wordsPerLine;
    uint32_t other = 1 + (multiprocessors - 2) * part / 8;
    void *arguments[] = {&there, &back, &other, &cycles};
    check(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(&sendFlags<B>), dim3(multiprocessors), dim3(32),
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

void flagRow(const char *name, const std::vector<double> &cycles) {
  std::printf("| %s | %.0f to %.0f |\n", name, cycles.front(), cycles.back());
}

void printOperations() {
  std::vector<Word> lines(size_t{chainLength} * wordsPerLine);
  auto *chain = onGpu<Word>(lines.size());
  for (uint32_t i = 0; i < chainLength; ++i)
    lines[i * wordsPerLine] = reinterpret_cast<Word>(chain + (i * 41 + 1) % chainLength * wordsPerLine);
  check(cudaMemcpy(chain, lines.data(), lines.size() * sizeof(Word), cudaMemcpyHostToDevice), "copying addresses");
  auto *cycles = onGpu<long long>(operations);
  auto *unused = onGpu<Word>(1);
  std::array<long long, operations> sums{};
  for (int run = 0; run < 2; ++run) { // the first run loads the code
    measureOperations<<<1, 512>>>(chain, unused, cycles);
    check(cudaMemcpy(sums.data(), cycles, sizeof sums, cudaMemcpyDeviceToHost), "measuring operations");
  }
  for (int operation = 0; operation < operations; ++operation)
    std::printf("| %s | %.0f |\n", names[operation], static_cast<double>(sums[operation]) / repeats);
}

} // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("SKIPPED: no GPU\n");
    return 77;
  }
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU");
  int kiloHertz = 0;
  check(cudaDeviceGetAttribute(&kiloHertz, cudaDevAttrClockRate, 0), "asking for the clock rate");
  const auto multiprocessors = static_cast<uint32_t>(properties.multiProcessorCount);
  std::printf("%s, at most %.2f GHz\n\n| operation | cycles |\n| --- | --: |\n", properties.name, kiloHertz / 1e6);
  printOperations();
  if (multiprocessors < 2)
    return 0;
  flagRow("a flag to another multiprocessor, one way", cyclesOfFlags<Before::Nothing>(multiprocessors));
  flagRow("the same, after a fence of GPU scope", cyclesOfFlags<Before::FenceGpu>(multiprocessors));
  flagRow("the same, after a fence of system scope", cyclesOfFlags<Before::FenceSystem>(multiprocessors));
  return 0;
}
