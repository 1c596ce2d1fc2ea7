// SPDX-License-Identifier: Apache-2.0
// Compares gc3 with MPI on ranks of several hosts, one point after another. The same processes are gc3's ranks and
// MPI's, and samples take turns. Processes that wait for others share processors, so MPI yields them
// (mpi_yield_when_idle).
#include "Points.h"
#include "Processors.h"

using namespace bench;

namespace {

constexpr double sampleSeconds = 0.1;
constexpr int warmUps = 3;

class Bench {
public:
  Bench(const char *bundlePath, size_t bytes) {
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    own = allocate(true, bytes);
    checkGc3(gc3BundleLoad(&bundle, bundlePath), nullptr);
    gc3UniqueId_t id{};
    if (process == 0)
      checkGc3(gc3GetUniqueId(&id), nullptr);
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    checkGc3(gc3HostCommInitRank(&comm, processes, id, process, bundle, nullptr), nullptr);
  }
  ~Bench() {
    gc3CommDestroy(comm);
    gc3BundleFree(bundle);
  }

  void measure(Point point, int samples) {
    point.ranks = processes;
    const auto ours = [&] { callOurs(point, process, own, comm); };
    const auto theirs = [&] { callTheirs(point, own); };
    checkAll(point, "MPI", own.recv, theirs);
    checkAll(point, "gc3", outputOf(point, process, own), ours);
    const int ourCalls = callsPerSample(ours), theirCalls = callsPerSample(theirs);
    std::vector<double> ourTimes, theirTimes;
    for (int s = 0; s < samples; ++s) {
      ourTimes.push_back(time(ourCalls, ours));
      theirTimes.push_back(time(theirCalls, theirs));
    }
    if (process != 0)
      return;
    const double gc3 = median(ourTimes), mpi = median(theirTimes);
    std::printf("%-13s %10zu  %12.2f %12.2f  %7.2f  %8.3f\n", nameOf(point.collective), point.bytes, gc3 * 1e6,
                mpi * 1e6, mpi / gc3, static_cast<double>(point.bytes) / gc3 / 1e9);
    std::fflush(stdout);
  }

private:
  /// Returns the seconds per call of the slowest process.
  template <typename Call>
  double time(int calls, Call call) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = now();
    for (int i = 0; i < calls; ++i)
      call();
    double took = now() - begin, slowest = 0;
    MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return slowest / calls;
  }
  /// Returns the same number in all processes.
  template <typename Call>
  int callsPerSample(Call call) {
    const double took = time(warmUps, call);
    return std::clamp(static_cast<int>(sampleSeconds / std::max(took, 1e-7)), 1, 1 << 20);
  }
  template <typename Call>
  void checkAll(const Point &point, const char *who, const float *output, Call call) {
    for (int i = 0; i < 2; ++i) { // gc3's second call can move messages without slots
      fill(point, process, own);
      MPI_Barrier(MPI_COMM_WORLD);
      call();
      check(point, process, output, who);
    }
    std::fill(own.recv, own.recv + point.elements(), 0.0f); // keeps the sums finite
    std::fill(own.send, own.send + point.elements(), 0.0f);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  int process = 0, processes = 0;
  Buffers own{};
  gc3Bundle_t bundle = nullptr;
  gc3Comm_t comm = nullptr;
};

} // namespace

/// Usage: hosts_vs_mpi BUNDLE SAMPLES SMALLEST LARGEST FACTOR COLLECTIVE. Sizes are in bytes.
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const std::vector<Collective> collectives = argc == 7 ? collectivesNamed(argv[6]) : std::vector<Collective>{};
  if (collectives.empty())
    fail("BUNDLE SAMPLES SMALLEST LARGEST FACTOR COLLECTIVE");
  const auto smallest = static_cast<size_t>(std::atoll(argv[3])), largest = static_cast<size_t>(std::atoll(argv[4]));
  const auto factor = static_cast<size_t>(std::max(2, std::atoi(argv[5])));
  {
    Bench bench(argv[1], largest);
    for (size_t bytes = smallest; bytes <= largest; bytes *= factor)
      bench.measure({collectives.front(), true, bytes}, std::atoi(argv[2]));
  }
  MPI_Finalize();
}
