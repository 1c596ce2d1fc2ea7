// SPDX-License-Identifier: Apache-2.0
// Compares gc3 with MPI on more ranks than processors, one point after another. Samples take turns: gc3's ranks are
// threads (two threads of process 0 that make the calls of half of the ranks each), gc3's ranks are processes, and
// MPI's ranks are the same processes. Processes that have nothing to do sleep.
#include "Points.h"
#include "Processors.h"

#include <functional>
#include <semaphore.h>

using namespace bench;

namespace {

constexpr double sampleSeconds = 0.1;
constexpr int mostProcesses = 64;

enum class What { TimeGc3, TimeMpi, CheckGc3, CheckMpi, Quit };

struct Shared {
  sem_t wake[mostProcesses]; ///< processes except 0 wait for theirs
  Point point;
  int calls;
  What what;
};

class Bench {
public:
  Bench(Shared *sharedMemory, const char *bundlePath, size_t bytes) : shared(sharedMemory) {
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    own = allocate(true, bytes);
    checkGc3(gc3BundleLoad(&bundle, bundlePath), nullptr);
    gc3UniqueId_t id{};
    if (process == 0)
      checkGc3(gc3GetUniqueId(&id), nullptr);
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    checkGc3(gc3HostCommInitRank(&ownComm, processes, id, process, bundle, nullptr), nullptr);
    if (process != 0)
      return;
    comms.resize(static_cast<size_t>(processes));
    checkGc3(gc3HostCommInitAll(comms.data(), processes, bundle, nullptr), nullptr);
    for (int r = 0; r < processes; ++r)
      ours.push_back(allocate(false, bytes));
  }

  /// Runs the commands of process 0, in another process.
  void serve() {
    for (;;) {
      while (sem_wait(&shared->wake[process]) != 0)
        ;
      if (shared->what == What::Quit)
        return;
      run(shared->what, shared->point, shared->calls);
    }
  }
  void quit() { command(What::Quit, {}, 0); }

  void measure(Point point, int samples) {
    point.ranks = processes;
    onAll(What::CheckMpi, point, 0);
    onAll(What::CheckGc3, point, 0);
    struct Kind {
      std::function<double(int)> sample;
      int calls = 1;
      std::vector<double> times;
    };
    Kind kinds[] = {{[&](int calls) { return timeThreads(point, calls); }, 1, {}},
                    {[&](int calls) { return onAll(What::TimeGc3, point, calls); }, 1, {}},
                    {[&](int calls) { return onAll(What::TimeMpi, point, calls); }, 1, {}}};
    for (Kind &kind : kinds) {
      kind.sample(1);
      const double took = kind.sample(10);
      kind.calls = std::clamp(static_cast<int>(sampleSeconds / std::max(took, 1e-7)), 1, 1 << 20);
    }
    for (int s = 0; s < samples; ++s)
      for (Kind &kind : kinds)
        kind.times.push_back(kind.sample(kind.calls));
    const double threads = median(kinds[0].times), own = median(kinds[1].times), mpi = median(kinds[2].times);
    std::printf("%-13s %-12s %10zu  %10.2f %10.2f %10.2f  %6.2f %6.2f %6.2f\n", nameOf(point.collective),
                point.inPlace ? "in place" : "out of place", point.bytes, threads * 1e6, own * 1e6, mpi * 1e6,
                mpi / threads, mpi / own, own / threads);
    std::fflush(stdout);
  }

private:
  void command(What what, const Point &point, int calls) {
    shared->what = what;
    shared->point = point;
    shared->calls = calls;
    for (int other = 1; other < processes; ++other)
      sem_post(&shared->wake[other]);
  }
  /// Runs something in all processes. Returns the seconds per call.
  double onAll(What what, const Point &point, int calls) {
    command(what, point, calls);
    return run(what, point, calls);
  }
  double run(What what, const Point &point, int calls) {
    switch (what) {
    case What::TimeGc3: return time(calls, [&] { callOurs(point, process, own, ownComm); });
    case What::TimeMpi: return time(calls, [&] { callTheirs(point, own); });
    case What::CheckGc3:
      return checkAll(point, "gc3", outputOf(point, process, own), [&] { callOurs(point, process, own, ownComm); });
    case What::CheckMpi: return checkAll(point, "MPI", own.recv, [&] { callTheirs(point, own); });
    case What::Quit: break;
    }
    return 0;
  }

  double timeThreads(const Point &point, int calls) {
    return sampleThreads(calls, [&](int side) {
      const int half = processes / 2, first = side * half;
      checkGc3(gc3GroupStart(), nullptr);
      for (int r = first; r < first + half; ++r)
        checkGc3(startOurs(point, r, ours[static_cast<size_t>(r)], comms[static_cast<size_t>(r)]), nullptr);
      checkGc3(gc3GroupEnd(), nullptr);
    });
  }
  template <typename Call>
  double time(int calls, Call call) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = now();
    for (int i = 0; i < calls; ++i)
      call();
    double took = now() - begin, slowest = 0;
    MPI_Reduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return slowest / calls;
  }
  template <typename Call>
  double checkAll(const Point &point, const char *who, const float *output, Call call) {
    for (int i = 0; i < 2; ++i) { // gc3's second call moves messages without slots
      fill(point, process, own);
      MPI_Barrier(MPI_COMM_WORLD);
      call();
      check(point, process, output, who);
    }
    std::fill(own.recv, own.recv + point.elements(), 0.0f); // keeps the sums finite
    std::fill(own.send, own.send + point.elements(), 0.0f);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
  }

  Shared *shared;
  int process = 0, processes = 0;
  Buffers own{};             ///< of this process's rank
  std::vector<Buffers> ours; ///< of the threads, by rank
  gc3Bundle_t bundle = nullptr;
  gc3Comm_t ownComm = nullptr;
  std::vector<gc3Comm_t> comms; ///< of the threads, by rank
};

Shared *share() {
  MPI_Win window;
  void *memory = nullptr;
  int process = 0, unit = 0;
  MPI_Aint size;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  MPI_Win_allocate_shared(process == 0 ? sizeof(Shared) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_shared_query(window, 0, &size, &unit, &memory);
  auto *shared = static_cast<Shared *>(memory);
  if (process == 0)
    for (sem_t &wake : shared->wake)
      if (sem_init(&wake, 1, 0) != 0)
        fail("sem_init");
  MPI_Barrier(MPI_COMM_WORLD);
  return shared;
}

} // namespace

/// Usage: processes_vs_mpi BUNDLE SAMPLES SMALLEST LARGEST [COLLECTIVE]. Sizes are in bytes.
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int process = 0, processes = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (argc < 5 || processes % 2 != 0 || processes > mostProcesses)
    fail("an even number of processes, and BUNDLE SAMPLES SMALLEST LARGEST [COLLECTIVE]");
  const std::vector<Collective> collectives = collectivesNamed(argc > 5 ? argv[5] : nullptr);
  if (collectives.empty())
    fail(std::string("no collective '") + argv[5] + "'");
  const auto smallest = static_cast<size_t>(std::atoll(argv[3])), largest = static_cast<size_t>(std::atoll(argv[4]));
  Bench bench(share(), argv[1], largest);
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
  MPI_Finalize();
}
