// SPDX-License-Identifier: Apache-2.0
// Compares online selection with fixed programs on one GPU that all ranks share. The bundle has programs of one
// AllReduce whose `sizes` are wrong, as bench/host_tune.gc3. For each size, times every program as a fixed choice, the
// bundle's own choice, and online selection after 300 calls. The variants take turns. Times are those of consecutive
// calls, which the host enqueues without waiting, from the first enqueue to the end of the last.
#include "../FixedPrograms.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

using bench::check, bench::chooseFixed, bench::fail;

namespace {

constexpr int learning = 300, chunkOfCalls = 50; // an application waits for its GPU at times

void check(cudaError_t error) {
  if (error != cudaSuccess)
    fail(cudaGetErrorString(error));
}

/// The communicators of all ranks.
class Ranks {
public:
  Ranks(gc3Bundle_t bundle, int count, const gc3GpuConfig_t &config) : comms(static_cast<size_t>(count)) {
    check(gc3LoopbackCommInitAll(comms.data(), count, bundle, &config));
  }
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;
  ~Ranks() {
    for (gc3Comm_t comm : comms)
      gc3CommDestroy(comm);
  }

  /// Returns the microseconds of a call. `calls` calls follow each other.
  double time(const std::vector<float *> &buffers, size_t count, int calls, cudaStream_t stream) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) {
      check(gc3GroupStart());
      for (size_t rank = 0; rank < comms.size(); ++rank)
        check(gc3AllReduce(buffers[rank], buffers[rank], count, gc3Float32, gc3Max, comms[rank], stream));
      check(gc3GroupEnd());
    }
    check(cudaStreamSynchronize(stream));
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / calls;
  }

private:
  std::vector<gc3Comm_t> comms;
};

struct Variant {
  std::string name;
  std::unique_ptr<Ranks> ranks;
  std::vector<double> times{};
  double median() {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }
};

struct Bench {
  gc3Bundle_t bundle = nullptr;
  int ranks = 0;
  std::vector<int> numbers; ///< of the programs; the tuners' data
  std::vector<Variant> variants;
  std::vector<float *> buffers;
  cudaStream_t stream = nullptr;

  void addVariant(const std::string &name, gc3Tuner_t tuner, int *number, gc3Tune_t tune) {
    gc3GpuConfig_t config = GC3_GPU_CONFIG_INITIALIZER;
    config.tuner = tuner, config.tunerData = number, config.tune = tune;
    variants.push_back({name, std::make_unique<Ranks>(bundle, ranks, config)});
  }

  void round(size_t first, size_t last, size_t count, int calls) {
    for (size_t i = first; i < last; ++i)
      variants[i].times.push_back(variants[i].ranks->time(buffers, count, calls, stream));
  }

  void row(size_t bytes, int programs, int rounds) {
    const size_t count = bytes / sizeof(float), only = static_cast<size_t>(programs);
    const int calls = static_cast<int>(std::clamp<size_t>((size_t{128} << 20) / bytes, 10, 100));
    round(0, variants.size(), count, 2); // prepares
    for (int i = 0; i < learning; i += chunkOfCalls)
      variants.back().ranks->time(buffers, count, chunkOfCalls, stream);
    for (Variant &variant : variants)
      variant.times.clear();
    for (int i = 0; i < rounds; ++i)
      round(0, variants.size(), count, calls);
    std::printf("| %zu", bytes);
    double best = INFINITY;
    for (size_t i = 0; i < variants.size(); ++i) {
      std::printf(" | %.1f", variants[i].median());
      if (i < only)
        best = std::min(best, variants[i].median());
    }
    std::printf(" | %.3f |\n", variants.back().median() / best);
    std::fflush(stdout);
  }
};

} // namespace

/// usage: gpu-online BUNDLE MINBYTES MAXBYTES ROUNDS
int main(int argc, char **argv) {
  if (argc != 5)
    fail("usage: gpu-online BUNDLE MINBYTES MAXBYTES ROUNDS");
  Bench bench;
  const size_t smallest = std::strtoull(argv[2], nullptr, 0), largest = std::strtoull(argv[3], nullptr, 0);
  int programs = 0;
  check(gc3BundleLoad(&bench.bundle, argv[1]));
  check(gc3BundleProgramCount(bench.bundle, &programs));
  bench.numbers.resize(static_cast<size_t>(programs));
  check(cudaStreamCreateWithFlags(&bench.stream, cudaStreamNonBlocking));
  std::printf("| bytes");
  for (int p = 0; p < programs; ++p) {
    gc3ProgramInfo_t info = {};
    info.size = sizeof info;
    check(gc3BundleProgramInfo(bench.bundle, p, &info));
    bench.ranks = info.ranks;
    bench.numbers[static_cast<size_t>(p)] = p;
    bench.addVariant(info.name, chooseFixed, &bench.numbers[static_cast<size_t>(p)], gc3TuneOff);
  }
  bench.addVariant("its `sizes`", nullptr, nullptr, gc3TuneOff);
  bench.addVariant("online", nullptr, nullptr, gc3TuneOnline);
  for (const Variant &variant : bench.variants)
    std::printf(" | %s", variant.name.c_str());
  std::printf(" | online / best program |\n|");
  for (size_t i = 0; i < bench.variants.size() + 2; ++i)
    std::printf(" --- |");
  std::printf("\n");
  bench.buffers.resize(static_cast<size_t>(bench.ranks));
  for (float *&buffer : bench.buffers) {
    check(cudaMalloc(reinterpret_cast<void **>(&buffer), largest));
    check(cudaMemset(buffer, 0, largest));
  }
  for (size_t bytes = smallest; bytes <= largest; bytes *= 4)
    bench.row(bytes, programs, std::atoi(argv[4]));
  bench.variants.clear();
  for (float *buffer : bench.buffers)
    check(cudaFree(buffer));
  gc3BundleFree(bench.bundle);
}
