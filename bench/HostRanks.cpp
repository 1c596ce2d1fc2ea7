// SPDX-License-Identifier: Apache-2.0
// Times AllReduce of more ranks than processors. Two threads are pinned to two processors, and each makes the calls of
// half of the ranks. The bound is the time in which two threads that never wait read every input once and write every
// output once.
#include "Processors.h"
#include "Traffic.h"

#include "gc3.h"

#include <cstdlib>
#include <cstring>
#include <string>

using namespace bench;

namespace {

[[noreturn]] void fail(const std::string &what) {
  std::fprintf(stderr, "host_ranks: %s\n", what.c_str());
  std::exit(1);
}

void check(gc3Result_t result) {
  if (result != gc3Success)
    fail(gc3GetLastError(nullptr));
}

struct Ranks {
  std::vector<gc3Comm_t> comms;
  std::vector<float *> send, recv;

  /// Makes the calls of one half of the ranks. `side` is 0 or 1.
  void call(int side, size_t elements, bool inPlace) {
    size_t half = comms.size() / 2, first = static_cast<size_t>(side) * half;
    check(gc3GroupStart());
    for (size_t r = first; r < first + half; ++r)
      check(gc3AllReduce(inPlace ? recv[r] : send[r], recv[r], elements, gc3Float32, gc3Sum, comms[r], nullptr));
    check(gc3GroupEnd());
  }
};

void measure(Ranks &ranks, size_t bytes, bool inPlace, int samples) {
  const size_t elements = bytes / sizeof(float), count = ranks.comms.size();
  for (float *input : inPlace ? ranks.recv : ranks.send)
    std::fill(input, input + elements, 1.0f);
  sampleThreads(1, [&](int side) { ranks.call(side, elements, inPlace); });
  for (const float *output : ranks.recv)
    if (output[0] != static_cast<float>(count) || output[elements - 1] != static_cast<float>(count))
      fail("a wrong sum");
  for (size_t r = 0; r < count; ++r) { // so that repeated sums in place stay finite
    std::fill(ranks.send[r], ranks.send[r] + elements, 0.0f);
    std::fill(ranks.recv[r], ranks.recv[r] + elements, 0.0f);
  }
  const float *const *from = inPlace ? ranks.recv.data() : ranks.send.data();
  auto bound = [&](auto traffic, int side) {
    size_t half = elements / 2, begin = static_cast<size_t>(side) * half;
    traffic(ranks.recv.data(), from, count, begin, begin + half);
  };
  std::vector<double> own, plain, streaming;
  const int calls = static_cast<int>(std::max<size_t>(1, (size_t{64} << 20) / bytes / count));
  for (int s = 0; s < samples; ++s) {
    own.push_back(sampleThreads(calls, [&](int side) { ranks.call(side, elements, inPlace); }));
    plain.push_back(sampleThreads(calls, [&](int side) { bound(sumTraffic<false>, side); }));
    streaming.push_back(sampleThreads(calls, [&](int side) { bound(sumTraffic<true>, side); }));
  }
  double bestBound = std::min(median(plain), median(streaming));
  std::printf("%-12s %10zu  %10.1f  %10.1f  %5.2f\n", inPlace ? "in place" : "out of place", bytes, median(own) * 1e6,
              bestBound * 1e6, bestBound / median(own));
  std::fflush(stdout);
}

} // namespace

/// Usage: host_ranks BUNDLE RANKS SAMPLES SMALLEST LARGEST. RANKS must be even; sizes are in bytes.
int main(int argc, char **argv) {
  if (argc != 6)
    fail("BUNDLE RANKS SAMPLES SMALLEST LARGEST");
  pin(0);
  gc3Bundle_t bundle;
  check(gc3BundleLoad(&bundle, argv[1]));
  auto count = static_cast<size_t>(std::atoi(argv[2]));
  auto smallest = static_cast<size_t>(std::atoll(argv[4])), largest = static_cast<size_t>(std::atoll(argv[5]));
  Ranks ranks;
  ranks.comms.resize(count);
  check(gc3HostCommInitAll(ranks.comms.data(), static_cast<int>(count), bundle, nullptr));
  for (size_t r = 0; r < count; ++r)
    for (std::vector<float *> *buffers : {&ranks.send, &ranks.recv}) {
      buffers->push_back(static_cast<float *>(std::aligned_alloc(4096, largest)));
      std::memset(buffers->back(), 0, largest);
    }
  std::printf("placement         bytes     gc3, us   bound, us  bound/gc3\n");
  for (bool inPlace : {false, true})
    for (size_t bytes = smallest; bytes <= largest; bytes *= 4)
      measure(ranks, bytes, inPlace, std::atoi(argv[3]));
}
