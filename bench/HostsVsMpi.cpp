// SPDX-License-Identifier: Apache-2.0
// Compares gc3 with MPI on ranks of several hosts, one point after another. The same processes are gc3's ranks and
// MPI's, and samples take turns. Processes that wait for others share processors, so MPI yields them
// (mpi_yield_when_idle).
#include "MpiRank.h"

using namespace bench;

namespace {

constexpr int warmUps = 3;

void measure(MpiRank &rank, const Point &point, int samples) {
  rank.checkMpiCalls(point);
  rank.checkGc3Calls(point);
  const int ourCalls = callsPerSample(rank.timeGc3(point, warmUps)),
            theirCalls = callsPerSample(rank.timeMpi(point, warmUps));
  std::vector<double> ourTimes, theirTimes;
  for (int s = 0; s < samples; ++s) {
    ourTimes.push_back(rank.timeGc3(point, ourCalls));
    theirTimes.push_back(rank.timeMpi(point, theirCalls));
  }
  if (rank.number() != 0)
    return;
  const double gc3 = median(ourTimes), mpi = median(theirTimes);
  std::printf("%-13s %10zu  %12.2f %12.2f  %7.2f  %8.3f\n", nameOf(point.collective), point.bytes, gc3 * 1e6, mpi * 1e6,
              mpi / gc3, static_cast<double>(point.bytes) / gc3 / 1e9);
  std::fflush(stdout);
}

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
    MpiRank rank(argv[1], true, largest);
    for (size_t bytes = smallest; bytes <= largest; bytes *= factor)
      measure(rank, {collectives.front(), true, bytes, rank.count()}, std::atoi(argv[2]));
  }
  MPI_Finalize();
}
