// SPDX-License-Identifier: Apache-2.0
// Compares online selection with fixed programs on the host executor. The bundle has programs of one AllReduce whose
// `sizes` are wrong. For each size, times every program alone, the best of them as a fixed choice, the bundle's own
// choice, and online selection after 100 calls, without and with the shapes of programs. The variants take turns, so
// that noise hits all of them.
#include "FixedPrograms.h"
#include "Processors.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using bench::check, bench::chooseFixed, bench::fail;

namespace {

/// The communicators and buffers of all ranks. Every rank has a thread.
class Ranks {
public:
  Ranks(gc3Bundle_t bundle, int count, const gc3HostConfig_t &config) : comms(static_cast<size_t>(count)) {
    check(gc3HostCommInitAll(comms.data(), count, bundle, &config));
  }
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;
  ~Ranks() {
    for (gc3Comm_t comm : comms)
      gc3CommDestroy(comm);
  }

  /// Returns the microseconds of a call. `calls` calls follow each other.
  double time(size_t bytes, int calls, std::vector<std::vector<float>> &buffers) {
    double elapsed = 0;
    std::barrier start(static_cast<std::ptrdiff_t>(comms.size()));
    const auto call = [&](size_t r) {
      float *buffer = buffers[r].data();
      return gc3AllReduce(buffer, buffer, bytes / sizeof(float), gc3Float32, gc3Max, comms[r], nullptr);
    };
    const auto run = [&](size_t r) {
      start.arrive_and_wait();
      for (int i = 0; i < calls / 8; ++i)
        check(call(r));
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < calls; ++i)
        check(call(r));
      if (r == 0)
        elapsed = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    };
    std::vector<std::thread> threads;
    for (size_t r = 1; r < comms.size(); ++r) {
      bench::pin(static_cast<int>(r % processors)); // a new thread starts on the processor of its creator
      threads.emplace_back(run, r);
    }
    bench::pin(0);
    run(0);
    for (std::thread &thread : threads)
      thread.join();
    return elapsed / calls;
  }

private:
  const size_t processors = std::max(1U, std::thread::hardware_concurrency());
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

/// The ratios of two variants' times at all sizes.
class Ratios {
public:
  /// Returns the ratio.
  double add(double ratio) {
    worst = std::max(worst, ratio), logs += std::log(ratio), ++sizes;
    return ratio;
  }
  void print(const char *name) const {
    std::printf("%s: geometric mean %.3f, worst %.3f\n", name, std::exp(logs / sizes), worst);
  }

private:
  double worst = 0, logs = 0;
  int sizes = 0;
};

} // namespace

/// usage: host_tune BUNDLE RANKS MINBYTES MAXBYTES ROUNDS
int main(int argc, char **argv) {
  if (argc != 6)
    fail("usage: host_tune BUNDLE RANKS MINBYTES MAXBYTES ROUNDS");
  gc3Bundle_t bundle = nullptr;
  check(gc3BundleLoad(&bundle, argv[1]));
  const int ranks = std::atoi(argv[2]), rounds = std::atoi(argv[5]);
  int programs = 0;
  check(gc3BundleProgramCount(bundle, &programs));
  std::vector<int> numbers(static_cast<size_t>(programs) + 1);
  std::vector<Variant> variants;
  for (int p = 0; p <= programs; ++p) { // the last one becomes the best one
    numbers[static_cast<size_t>(p)] = p;
    gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
    config.tuner = chooseFixed, config.tunerData = &numbers[static_cast<size_t>(p)];
    gc3ProgramInfo_t info = {};
    info.size = sizeof info;
    if (p < programs)
      check(gc3BundleProgramInfo(bundle, p, &info));
    variants.push_back({p < programs ? info.name : "best", nullptr});
    numbers.back() = 0;
    variants.back().ranks = std::make_unique<Ranks>(bundle, ranks, config);
  }
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.tune = gc3TuneOff;
  variants.push_back({"sizes", std::make_unique<Ranks>(bundle, ranks, config)});
  config.tune = gc3TuneOnline;
  variants.push_back({"online", std::make_unique<Ranks>(bundle, ranks, config)});
  config.tune = gc3TuneOnlineShapes;
  variants.push_back({"shapes", std::make_unique<Ranks>(bundle, ranks, config)});
  std::printf("%10s", "bytes");
  for (const Variant &variant : variants)
    std::printf(" %9s", variant.name.c_str());
  std::printf("  online/best program  online/fixed best  shapes/online\n");
  Ratios toFixedBest, ofShapes;
  for (size_t bytes = std::strtoull(argv[3], nullptr, 0); bytes <= std::strtoull(argv[4], nullptr, 0); bytes *= 4) {
    std::vector<std::vector<float>> buffers(static_cast<size_t>(ranks), std::vector<float>(bytes / sizeof(float)));
    const int calls = static_cast<int>(std::clamp<size_t>((size_t{4} << 20) / bytes, 4, 400));
    const auto round = [&](size_t first, size_t last, int number) {
      for (size_t i = first; i < last; ++i)
        variants[i].times.push_back(variants[i].ranks->time(bytes, number, buffers));
    };
    const auto only = static_cast<size_t>(programs);
    round(0, variants.size(), 2); // prepares
    Variant &online = variants[static_cast<size_t>(programs) + 2], &shapes = variants.back();
    for (const Variant *each : {&online, &shapes})
      each->ranks->time(bytes, 100, buffers);
    for (Variant &variant : variants)
      variant.times.clear();
    for (int i = 0; i < rounds; ++i)
      round(0, only, calls);
    int best = 0;
    for (int p = 1; p < programs; ++p)
      if (variants[static_cast<size_t>(p)].median() < variants[static_cast<size_t>(best)].median())
        best = p;
    numbers.back() = best;
    // The tuner's answer is kept per kind of call, so the best program needs new communicators for each size.
    gc3HostConfig_t fixed = GC3_HOST_CONFIG_INITIALIZER;
    fixed.tuner = chooseFixed, fixed.tunerData = &numbers.back();
    variants[only].ranks = std::make_unique<Ranks>(bundle, ranks, fixed);
    variants[only].ranks->time(bytes, calls, buffers);
    for (int i = 0; i < rounds; ++i)
      round(only, variants.size(), calls);
    std::printf("%10zu", bytes);
    for (Variant &variant : variants)
      std::printf(" %9.2f", variant.median());
    const double toProgram = online.median() / variants[static_cast<size_t>(best)].median();
    const double toFixed = toFixedBest.add(online.median() / variants[only].median());
    std::printf("  %19.3f  %17.3f  %13.3f\n", toProgram, toFixed, ofShapes.add(shapes.median() / online.median()));
    std::fflush(stdout);
  }
  toFixedBest.print("online / fixed best");
  ofShapes.print("shapes / online");
  variants.clear();
  gc3BundleFree(bundle);
}
