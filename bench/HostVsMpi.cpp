// SPDX-License-Identifier: Apache-2.0
// Compares gc3's host executor with MPI on two processors, one point after another. Samples of gc3 and of MPI
// alternate.
//
// Two MPI processes are pinned to processors 0 and 1. gc3 runs in two ways: its ranks are threads of process 0, pinned
// to the same processors, while process 1 sleeps; or they are the two processes. A sample is a loop of calls between
// two barriers. The time of a sample is the time of the slower rank, divided by the number of calls. The result is the
// median over samples. A ping-pong before and after each group of samples measures whether the processors are near to
// each other or far. If the result has changed, the benchmark discards the samples.
//
// The bound of a point is the time that two threads take for the loads and stores that the collective requires. They
// use the same buffers, and do not wait for each other. The benchmark measures the bound with plain and with
// non-temporal stores, and reports the shorter time.
#include "Commander.h"

#include <functional>
#include <unistd.h>
#include <vector>

using namespace bench;

namespace {

constexpr double sampleSeconds = 0.03;  // short enough that real-time scheduling never pauses a spinning thread
constexpr double nearNanoseconds = 250; // the longest round trip between near processors

class Bench {
public:
  Bench(const char *bundlePath, bool isShared) : own(bundlePath, isShared, mostBytes), commander(own) {
    if (own.number() != 0)
      return;
    for (Buffers &buffers : ours)
      buffers = allocate(false);
    checkGc3(gc3HostCommInitAll(comms, ranks, own.bundle(), nullptr), nullptr);
  }

  void serve() { commander.serve(); }
  void quit() { commander.onAll(Command::Quit); }

  void measure(const Point &point, int samples) {
    commander.onAll(Command::CheckMpi, point);
    commander.onAll(Command::CheckGc3, point);
    checkThreads(point);
    struct Kind {
      std::function<double(int)> sample;
      int calls = 1;
      std::vector<double> times;
    };
    Kind kinds[kindCount] = {{[&](int calls) { return sampleThreads(point, calls); }, 1, {}},
                             {[&](int calls) { return commander.onAll(Command::TimeGc3, point, calls); }, 1, {}},
                             {[&](int calls) { return commander.onAll(Command::TimeMpi, point, calls); }, 1, {}},
                             {[&](int calls) { return sampleBound(point, calls); }, 1, {}}};
    for (Kind &kind : kinds) { // determines how many calls make a sample
      kind.sample(1);
      for (double took; (took = kind.sample(kind.calls) * kind.calls) < sampleSeconds / 4 && kind.calls < 1 << 20;)
        kind.calls = std::min(
            1 << 20, std::max(kind.calls * 2, static_cast<int>(kind.calls * sampleSeconds / 2 / std::max(took, 1e-7))));
    }
    std::vector<double> trips[2];
    std::vector<double> times[2][kindCount];
    for (int s = 0; s < samples; ++s) {
      double before = pingPong(), took[kindCount];
      for (int k = 0; k < kindCount; ++k) {
        took[k] = kinds[k].sample(kinds[k].calls);
        usleep(3000); // lets other processes use these processors
      }
      double after = pingPong();
      bool isFar = before > nearNanoseconds;
      if (isFar != (after > nearNanoseconds))
        continue;
      trips[isFar].push_back((before + after) / 2);
      for (int k = 0; k < kindCount; ++k)
        times[isFar][k].push_back(took[k]);
    }
    bool isReported = false;
    for (int isFar = 0; isFar < 2; ++isFar)
      if (size_t count = trips[isFar].size(); count >= 3 || count * 2 > static_cast<size_t>(samples)) {
        double took[kindCount];
        for (int k = 0; k < kindCount; ++k)
          took[k] = median(times[isFar][k]);
        const auto [threads, processes, mpi, bound] = took;
        printPoint(point);
        std::printf("%-4s %5.0f ns %3zu  %10.2f %10.2f %10.2f  %6.2f %6.2f %6.2f  %10.2f  %5.2f\n",
                    isFar ? "far" : "near", median(trips[isFar]), count, threads * 1e6, processes * 1e6, mpi * 1e6,
                    mpi / threads, mpi / processes, processes / threads, bound * 1e6, bound / threads);
        isReported = true;
      }
    if (!isReported) {
      printPoint(point);
      std::printf("too few of %d samples near (%zu) or far (%zu) from begin to end\n", samples, trips[0].size(),
                  trips[1].size());
    }
    std::fflush(stdout);
  }

private:
  static constexpr int kindCount = 4; ///< threads of gc3, processes of gc3, MPI, the bound

  static void printPoint(const Point &point) {
    std::printf("%-13s %-12s %10zu  ", nameOf(point.collective), point.inPlace ? "in place" : "out of place",
                point.bytes);
  }

  double sampleThreads(const Point &point, int calls) {
    return bench::sampleThreads(calls, [&](int rank) { callOurs(point, rank, ours[rank], comms[rank]); });
  }
  double sampleBound(const Point &point, int calls) {
    double plain = bench::sampleThreads(calls, [&](int rank) { needed<false>(point, rank, ours); });
    return std::min(plain, bench::sampleThreads(calls, [&](int rank) { needed<true>(point, rank, ours); }));
  }

  void checkThreads(const Point &point) {
    onBothProcessors([&](int rank) {
      fill(point, rank, ours[rank]);
      barrier.wait();
      callOurs(point, rank, ours[rank], comms[rank]);
      check(point, rank, outputOf(point, rank, ours[rank]), "gc3");
      barrier.wait();
      std::fill(ours[rank].recv, ours[rank].recv + point.elements(), 0.0f); // keeps the sums finite
      std::fill(ours[rank].send, ours[rank].send + point.elements(), 0.0f);
    });
  }

  MpiRank own;
  Commander commander;
  Buffers ours[ranks]{};    ///< of the threads
  gc3Comm_t comms[ranks]{}; ///< of the threads
  SpinBarrier barrier;
};

} // namespace

/// Usage: host_vs_mpi BUNDLE SAMPLES SMALLEST LARGEST [COLLECTIVE]. Sizes are in bytes. The buffers of both processes,
/// for gc3 and MPI, are of gc3HostMemAlloc, or of malloc if BUFFERS=ordinary is in the environment.
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int process = 0, processes = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (argc < 5 || processes != ranks)
    fail("two processes, and BUNDLE SAMPLES SMALLEST LARGEST [COLLECTIVE]");
  const std::vector<Collective> collectives = collectivesNamed(argc > 5 ? argv[5] : nullptr);
  if (collectives.empty())
    fail(std::string("no collective '") + argv[5] +
         "'; there are allreduce, allgather, alltoall, reducescatter and broadcast");
  pin(process);
  {
    const char *const buffers = std::getenv("BUFFERS");
    Bench bench(argv[1], !buffers || std::string(buffers) != "ordinary");
    if (process == 1) {
      bench.serve();
    } else {
      std::printf("collective    placement         bytes  processors  n  threads, us procs., us    MPI, us  MPI/thr "
                  "MPI/pr  pr/thr"
                  "   bound, us  bound/thr\n");
      auto smallest = static_cast<size_t>(std::atoll(argv[3])), largest = static_cast<size_t>(std::atoll(argv[4]));
      for (Collective collective : collectives)
        for (bool inPlace : {false, true})
          for (size_t bytes = smallest; exists(collective, inPlace) && bytes <= std::min(largest, mostBytes);
               bytes *= 2)
            bench.measure({collective, inPlace, bytes}, std::atoi(argv[2]));
      bench.quit();
    }
  }
  MPI_Finalize();
}
