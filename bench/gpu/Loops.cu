// SPDX-License-Identifier: Apache-2.0
// gpu-loops [--json FILE]: measures the loops that copy and reduce data on the current GPU. Compares gc3's loops under
// Simple (kernel/Simple.h, compiled into a kernel without the interpreter) with hand-written loops of NCCL's shape: a
// warp moves consecutive packs, and each thread has a constant number of loads in flight. Prints Markdown tables, and
// appends the same numbers to FILE. Each launch moves 256 MiB. Exit status: 77 without a GPU.
#include "HandWritten.h"
#include "Measurement.h"
#include "kernel/Arithmetic.cuh"
#include "kernel/PtxMachine.cuh"
#include "kernel/Simple.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace bench;

namespace {

using Loop = gc3::kernel::Simple<gc3::kernel::PtxMachine, gc3::kernel::Arithmetic<float>>;

constexpr size_t bytes = size_t{256} << 20; // more than the L2 cache
constexpr size_t vectors = bytes / sizeof(float4);
constexpr int samples = 7;

/// A loop copies the source to the target, or adds it to the target.
struct Data {
  const float4 *source;
  float4 *target;
};

/// Runs gc3's loop. Each block moves a consecutive part of the data. The addresses are in shared memory, as in the
/// interpreter: nvcc 13.0 fails on PtxMachine's assumption that an address is global if it also finds this out itself.
__global__ void __launch_bounds__(threads, 1) moveLikeGc3(gc3::kernel::Motion given, Data data) {
  __shared__ gc3::kernel::TileRun run;
  __shared__ gc3::kernel::Motion motion;
  const size_t part = vectors / gridDim.x, begin = blockIdx.x * part;
  if (threadIdx.x == 0) {
    run = {reinterpret_cast<const std::byte *>(data.source + begin), reinterpret_cast<std::byte *>(data.target + begin),
           0, part * sizeof(float4), part * sizeof(float4)};
    motion = given;
  }
  __syncthreads();
  gc3::kernel::PtxMachine machine;
  Loop::move(machine, motion, Loop::sidesOf(machine, motion, run));
}

__device__ float4 sum(const float4 &a, const float4 &b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// Runs a hand-written loop with `Loads` loads of each source in flight. Each block moves a consecutive part of the
/// data.
template <int Loads, bool Reduces>
__global__ void __launch_bounds__(threads, 1) moveByHand(Data data) {
  const size_t part = vectors / gridDim.x, end = (blockIdx.x + 1) * part;
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  size_t at = blockIdx.x * part;
  for (; at + Loads * threads <= end; at += Loads * threads) {
    const size_t own = at + warp * (Loads * 32) + lane;
    float4 value[Loads];
#pragma unroll
    for (int i = 0; i < Loads; ++i)
      value[i] = data.source[own + i * 32];
    if constexpr (Reduces) {
      float4 other[Loads];
#pragma unroll
      for (int i = 0; i < Loads; ++i)
        other[i] = data.target[own + i * 32];
#pragma unroll
      for (int i = 0; i < Loads; ++i)
        value[i] = sum(value[i], other[i]);
    }
#pragma unroll
    for (int i = 0; i < Loads; ++i)
      data.target[own + i * 32] = value[i];
  }
  for (at += threadIdx.x; at < end; at += threads)
    data.target[at] = Reduces ? sum(data.source[at], data.target[at]) : data.source[at];
}

/// A kernel, the first argument of gc3's kernel, and what the kernel does.
struct Variant {
  std::string name;
  const void *kernel;
  bool isGc3, reduces;
};

template <int Loads, bool Reduces>
Variant byHand() {
  return {std::to_string(Loads) + " loads in flight, " + (Reduces ? "reduce" : "copy"),
          reinterpret_cast<const void *>(&moveByHand<Loads, Reduces>), false, Reduces};
}

Variant likeGc3(bool reduces) {
  return {reduces ? "gc3, reduce" : "gc3, copy", reinterpret_cast<const void *>(&moveLikeGc3), true, reduces};
}

class Loops {
public:
  explicit Loops(Report &table);
  ~Loops() { cudaStreamDestroy(stream); }
  Loops(const Loops &) = delete;
  Loops &operator=(const Loops &) = delete;

  /// Measures all variants with one block.
  void loads();
  /// Measures gc3's copy with more and more blocks.
  void blocks();

private:
  void launch(const Variant &variant, uint32_t blocks);
  void checkResult(const Variant &variant);
  std::vector<double> ratesOf(const std::vector<Variant> &variants, uint32_t blocks);

  Report &report;
  cudaStream_t stream = nullptr;
  DeviceFloats source, target;
};

constexpr size_t floats = bytes / sizeof(float), checkedFloats = 1 << 20;

/// The values at the end of the source. A check reads only this end of the target.
float valueAt(size_t place) {
  return static_cast<float>(place * 7 % 64);
}

Loops::Loops(Report &table) : report(table), source(floats), target(floats) {
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  std::vector<float> values(checkedFloats);
  for (size_t i = 0; i < checkedFloats; ++i)
    values[i] = valueAt(i);
  check(cudaMemcpy(source.get() + floats - checkedFloats, values.data(), checkedFloats * sizeof(float),
                   cudaMemcpyHostToDevice),
        "filling buffers");
  check(cudaDeviceSynchronize(), "filling buffers");
}

void Loops::launch(const Variant &variant, uint32_t blocks) {
  Data data{reinterpret_cast<const float4 *>(source.get()), reinterpret_cast<float4 *>(target.get())};
  gc3::kernel::Motion motion{
      gc3::kernel::OpcodeFlags(variant.reduces ? gc3::common::Opcode::Reduce : gc3::common::Opcode::Copy),
      gc3::kernel::Operation::Sum,
      {},
      nullptr};
  void *own[] = {&data}, *gc3s[] = {&motion, &data};
  check(cudaLaunchKernel(variant.kernel, dim3(blocks), dim3(threads), variant.isGc3 ? gc3s : own, 0, stream),
        "launching a loop");
}

/// Runs the loop on one block with a target of bytes 0 or, for a copy, other bytes. Fails if its end is wrong.
void Loops::checkResult(const Variant &variant) {
  check(cudaMemsetAsync(target.get(), variant.reduces ? 0 : 0xff, bytes, stream), "clearing the target");
  for (int call = 0; call < 2; ++call)
    launch(variant, 1);
  check(cudaStreamSynchronize(stream), "running a loop");
  std::vector<float> values(checkedFloats);
  check(cudaMemcpy(values.data(), target.get() + floats - checkedFloats, checkedFloats * sizeof(float),
                   cudaMemcpyDeviceToHost),
        "reading the target");
  for (size_t i = 0; i < checkedFloats; ++i)
    if (values[i] != (variant.reduces ? 2 : 1) * valueAt(i))
      fail(variant.name + ": float " + std::to_string(i) + " of the checked end is wrong");
}

/// Returns the GB/s that each variant writes.
std::vector<double> Loops::ratesOf(const std::vector<Variant> &variants, uint32_t blocks) {
  std::vector<std::unique_ptr<Replay>> replays;
  std::vector<Replay *> all;
  for (const Variant &variant : variants) {
    replays.push_back(std::make_unique<Replay>(stream, 1, [&] { launch(variant, blocks); }));
    all.push_back(replays.back().get());
  }
  std::vector<double> rates = timeAlternating(all, samples);
  for (double &rate : rates)
    rate = static_cast<double>(bytes) / rate / 1e3;
  return rates;
}

void Loops::loads() {
  const std::vector<Variant> variants{likeGc3(false),     byHand<1, false>(),  byHand<2, false>(), byHand<4, false>(),
                                      byHand<8, false>(), byHand<16, false>(), likeGc3(true),      byHand<1, true>(),
                                      byHand<2, true>(),  byHand<4, true>(),   byHand<6, true>(),  byHand<8, true>()};
  for (const Variant &variant : variants)
    checkResult(variant);
  report.table("loops", "Loops over 256 MiB on one block of 512 threads, in GB written", {"loop", "GB/s"});
  const std::vector<double> rates = ratesOf(variants, 1);
  for (size_t i = 0; i < variants.size(); ++i)
    report.row(variants[i].name, {rates[i]});
}

void Loops::blocks() {
  report.table("blocks", "gc3's copy on several blocks", {"blocks", "GB/s"});
  for (uint32_t blocks : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64})
    report.row(std::to_string(blocks), {ratesOf({likeGc3(false)}, blocks)[0]});
}

void measureAll(Report &report) {
  Loops loops(report);
  loops.loads();
  loops.blocks();
}

} // namespace

int main(int argc, char **argv) {
  return bench::runMeasurement(argc, argv, "gpu-loops", measureAll);
}
