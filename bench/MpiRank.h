// SPDX-License-Identifier: Apache-2.0
// This process as a rank of gc3 and as a rank of MPI, with the same buffers.
#pragma once

#include "Points.h"
#include "Processors.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench {

/// Returns the number of calls that make a sample, of a function that takes `seconds` per call.
inline int callsPerSample(double seconds) {
  constexpr double sampleSeconds = 0.1;
  return std::clamp(static_cast<int>(sampleSeconds / std::max(seconds, 1e-7)), 1, 1 << 20);
}

class MpiRank {
public:
  /// All processes of MPI call this. The buffers have `bytes` each, and are of gc3HostMemAlloc if `isShared` is true.
  MpiRank(const char *bundlePath, bool isShared, size_t bytes) : buffers(allocate(isShared, bytes)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    checkGc3(gc3BundleLoad(&loaded, bundlePath), nullptr);
    gc3UniqueId_t id{};
    if (rank == 0)
      checkGc3(gc3GetUniqueId(&id), nullptr);
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    checkGc3(gc3HostCommInitRank(&comm, size, id, rank, loaded, nullptr), nullptr);
  }
  ~MpiRank() {
    gc3CommDestroy(comm);
    gc3BundleFree(loaded);
  }
  MpiRank(const MpiRank &) = delete;
  MpiRank &operator=(const MpiRank &) = delete;

  int number() const { return rank; }
  int count() const { return size; }
  const Buffers &memory() const { return buffers; }
  gc3Bundle_t bundle() const { return loaded; }

  // All processes call these functions with the same arguments.

  /// Return the seconds per call of the slowest process.
  double timeGc3(const Point &point, int calls) {
    return time(calls, [&] { callGc3(point); });
  }
  double timeMpi(const Point &point, int calls) {
    return time(calls, [&] { callMpi(point); });
  }
  /// Check the outputs of two calls. gc3's second call can move messages without slots.
  void checkGc3Calls(const Point &point) {
    checkCalls(point, "gc3 between processes", outputOf(point, rank, buffers), [&] { callGc3(point); });
  }
  void checkMpiCalls(const Point &point) {
    checkCalls(point, "MPI", buffers.recv, [&] { callMpi(point); });
  }
  /// Returns the seconds per call of the slowest process.
  template <typename Call>
  double time(int calls, Call call) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = now();
    for (int i = 0; i < calls; ++i)
      call();
    double took = now() - begin, slowest = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest / calls;
  }
  /// Checks the outputs of two calls of a library.
  template <typename Call>
  void checkCalls(const Point &point, const char *library, const float *output, Call call) {
    for (int i = 0; i < 2; ++i) {
      fill(point, rank, buffers);
      MPI_Barrier(MPI_COMM_WORLD);
      call();
      check(point, rank, output, library);
    }
    std::fill(buffers.recv, buffers.recv + point.elements(), 0.0f); // keeps the sums finite
    std::fill(buffers.send, buffers.send + point.elements(), 0.0f);
    MPI_Barrier(MPI_COMM_WORLD);
  }

private:
  void callGc3(const Point &point) { callOurs(point, rank, buffers, comm); }
  void callMpi(const Point &point) { callTheirs(point, buffers); }

  Buffers buffers;
  int rank = 0, size = 0;
  gc3Bundle_t loaded = nullptr;
  gc3Comm_t comm = nullptr;
};

} // namespace bench
