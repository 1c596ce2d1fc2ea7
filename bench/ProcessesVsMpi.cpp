// SPDX-License-Identifier: Apache-2.0
// Compares gc3 with MPI on more ranks than processors, one point after another. Samples take turns: gc3's ranks are
// threads (two threads of process 0 that make the calls of half of the ranks each), gc3's ranks are processes, and
// MPI's ranks are the same processes. Processes that have nothing to do sleep.
#include "Commander.h"

#include <functional>

using namespace bench;

namespace {

class Bench {
public:
  Bench(const char *bundlePath, size_t bytes) : own(bundlePath, true, bytes), commander(own) {
    if (own.number() != 0)
      return;
    comms.resize(static_cast<size_t>(own.count()));
    checkGc3(gc3HostCommInitAll(comms.data(), own.count(), own.bundle(), nullptr), nullptr);
    for (int r = 0; r < own.count(); ++r)
      ours.push_back(allocate(false, bytes));
  }

  void serve() { commander.serve(); }
  void quit() { commander.onAll(Command::Quit); }

  void measure(Point point, int samples) {
    point.ranks = own.count();
    commander.onAll(Command::CheckMpi, point);
    commander.onAll(Command::CheckGc3, point);
    struct Kind {
      std::function<double(int)> sample;
      int calls = 1;
      std::vector<double> times;
    };
    Kind kinds[] = {{[&](int calls) { return timeThreads(point, calls); }, 1, {}},
                    {[&](int calls) { return commander.onAll(Command::TimeGc3, point, calls); }, 1, {}},
                    {[&](int calls) { return commander.onAll(Command::TimeMpi, point, calls); }, 1, {}}};
    for (Kind &kind : kinds) {
      kind.sample(1);
      kind.calls = callsPerSample(kind.sample(10));
    }
    for (int s = 0; s < samples; ++s)
      for (Kind &kind : kinds)
        kind.times.push_back(kind.sample(kind.calls));
    const double threads = median(kinds[0].times), processes = median(kinds[1].times), mpi = median(kinds[2].times);
    std::printf("%-13s %-12s %10zu  %10.2f %10.2f %10.2f  %6.2f %6.2f %6.2f\n", nameOf(point.collective),
                point.inPlace ? "in place" : "out of place", point.bytes, threads * 1e6, processes * 1e6, mpi * 1e6,
                mpi / threads, mpi / processes, processes / threads);
    std::fflush(stdout);
  }

private:
  double timeThreads(const Point &point, int calls) {
    return sampleThreads(calls, [&](int side) {
      const int half = own.count() / 2, first = side * half;
      checkGc3(gc3GroupStart(), nullptr);
      for (int r = first; r < first + half; ++r)
        checkGc3(startOurs(point, r, ours[static_cast<size_t>(r)], comms[static_cast<size_t>(r)]), nullptr);
      checkGc3(gc3GroupEnd(), nullptr);
    });
  }

  MpiRank own;
  Commander commander;
  std::vector<Buffers> ours;    ///< of the threads, by rank
  std::vector<gc3Comm_t> comms; ///< of the threads, by rank
};

} // namespace

/// Usage: processes_vs_mpi BUNDLE SAMPLES SMALLEST LARGEST [COLLECTIVE]. Sizes are in bytes.
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int process = 0, processes = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (argc < 5 || processes % 2 != 0 || processes > Commander::mostProcesses)
    fail("an even number of processes, and BUNDLE SAMPLES SMALLEST LARGEST [COLLECTIVE]");
  const std::vector<Collective> collectives = collectivesNamed(argc > 5 ? argv[5] : nullptr);
  if (collectives.empty())
    fail(std::string("no collective '") + argv[5] + "'");
  const auto smallest = static_cast<size_t>(std::atoll(argv[3])), largest = static_cast<size_t>(std::atoll(argv[4]));
  {
    Bench bench(argv[1], largest);
    if (process != 0) {
      bench.serve();
    } else {
      std::printf("collective    placement         bytes  threads, us procs., us    MPI, us  MPI/thr MPI/pr  pr/thr\n");
      for (Collective collective : collectives)
        for (bool inPlace : {false, true})
          for (size_t bytes = smallest; exists(collective, inPlace) && bytes <= largest; bytes *= 2)
            bench.measure({collective, inPlace, bytes}, std::atoi(argv[2]));
      bench.quit();
    }
  }
  MPI_Finalize();
}
