// SPDX-License-Identifier: Apache-2.0
// One measured point: a collective on buffers of two ranks. It runs as a call of gc3, as a call of MPI, and as only the
// loads and stores that it requires.
#pragma once

#include "Traffic.h"

#include "gc3.h"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace bench {

constexpr int ranks = 2;
constexpr size_t mostBytes = 256u << 20;

[[noreturn]] inline void fail(const std::string &what) {
  std::fprintf(stderr, "host_vs_mpi: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

enum class Collective { AllReduce, AllGather, AllToAll };
struct Point {
  Collective collective;
  bool inPlace;
  size_t bytes; ///< bytes of the larger of a rank's buffers
  size_t elements() const { return bytes / sizeof(float); }
};

inline const char *nameOf(Collective collective) {
  switch (collective) {
  case Collective::AllReduce: return "allreduce";
  case Collective::AllGather: return "allgather";
  case Collective::AllToAll: return "alltoall";
  }
  return "";
}

struct Buffers {
  float *send, *recv;
};

inline void checkGc3(gc3Result_t result, gc3Comm_t comm) {
  if (result != gc3Success)
    fail(gc3GetLastError(comm));
}

/// Memory that gc3HostMemAlloc returns if `isShared` is true, else ordinary memory.
inline Buffers allocate(bool isShared) {
  auto sample = [=] {
    void *memory = nullptr;
    if (isShared)
      checkGc3(gc3HostMemAlloc(&memory, mostBytes), nullptr);
    else
      memory = std::aligned_alloc(4096, mostBytes);
    if (!memory)
      fail("no memory");
    std::memset(memory, 0, mostBytes);
    return static_cast<float *>(memory);
  };
  return {sample(), sample()};
}

inline void callOurs(const Point &p, int rank, const Buffers &b, gc3Comm_t comm) {
  size_t n = p.elements();
  switch (p.collective) {
  case Collective::AllReduce:
    return checkGc3(gc3AllReduce(p.inPlace ? b.recv : b.send, b.recv, n, gc3Float32, gc3Sum, comm, nullptr), comm);
  case Collective::AllGather:
    return checkGc3(gc3AllGather(p.inPlace ? b.recv + static_cast<size_t>(rank) * n / 2 : b.send, b.recv, n / 2,
                                 gc3Float32, comm, nullptr),
                    comm);
  case Collective::AllToAll:
    return checkGc3(gc3AllToAll(p.inPlace ? b.recv : b.send, b.recv, n / 2, gc3Float32, comm, nullptr), comm);
  }
}

inline void callTheirs(const Point &p, const Buffers &b) {
  int n = static_cast<int>(p.elements());
  const void *send = p.inPlace ? MPI_IN_PLACE : static_cast<const void *>(b.send);
  switch (p.collective) {
  case Collective::AllReduce: MPI_Allreduce(send, b.recv, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); return;
  case Collective::AllGather: MPI_Allgather(send, n / 2, MPI_FLOAT, b.recv, n / 2, MPI_FLOAT, MPI_COMM_WORLD); return;
  case Collective::AllToAll: MPI_Alltoall(send, n / 2, MPI_FLOAT, b.recv, n / 2, MPI_FLOAT, MPI_COMM_WORLD); return;
  }
}

/// Returns element i of rank `rank`'s input for a checked call.
inline float inputOf(int rank, size_t i) {
  return static_cast<float>((i * 7 + static_cast<size_t>(rank) * 13) % 1024);
}

inline void fill(const Point &p, int rank, const Buffers &b) {
  size_t n = p.elements(), from = 0, count = n;
  if (p.collective == Collective::AllGather) {
    from = p.inPlace ? static_cast<size_t>(rank) * n / 2 : 0;
    count = n / 2;
  }
  std::fill(b.recv, b.recv + n, -1.0f);
  float *input = (p.inPlace ? b.recv : b.send) + from;
  for (size_t i = 0; i < count; ++i)
    input[i] = inputOf(rank, i);
}

inline void check(const Point &p, int rank, const Buffers &b, const char *who) {
  size_t n = p.elements(), half = n / 2;
  for (size_t i = 0; i < n; ++i) {
    float wanted = 0;
    int block = i < half ? 0 : 1;
    switch (p.collective) {
    case Collective::AllReduce: wanted = inputOf(0, i) + inputOf(1, i); break;
    case Collective::AllGather: wanted = inputOf(block, i - static_cast<size_t>(block) * half); break;
    case Collective::AllToAll:
      wanted = inputOf(block, i - static_cast<size_t>(block) * half + static_cast<size_t>(rank) * half);
      break;
    }
    if (b.recv[i] != wanted)
      fail(std::string(who) + ": wrong element " + std::to_string(i) + " of " + nameOf(p.collective));
  }
}

/// Makes the loads and stores of rank `rank`, without waiting for the other rank.
template <bool streaming>
void needed(const Point &p, int rank, const Buffers (&b)[ranks]) {
  size_t half = p.elements() / 2, mine = static_cast<size_t>(rank) * half;
  int other = 1 - rank;
  const float *in[ranks] = {p.inPlace ? b[0].recv : b[0].send, p.inPlace ? b[1].recv : b[1].send};
  switch (p.collective) {
  case Collective::AllReduce: // adds half of both inputs, and stores it to both outputs
    traffic<streaming, true, true>(b[rank].recv + mine, b[other].recv + mine, in[rank] + mine, in[other] + mine, half);
    return;
  case Collective::AllGather: // copies its block to both outputs; in place only to the other rank's
    if (p.inPlace)
      traffic<streaming, false, false>(b[other].recv + mine, nullptr, b[rank].recv + mine, nullptr, half);
    else
      traffic<streaming, false, true>(b[rank].recv + mine, b[other].recv + mine, b[rank].send, nullptr, half);
    return;
  case Collective::AllToAll: // copies one block to the other rank's output, and one to its own
    traffic<streaming, false, false>(b[other].recv + mine, nullptr, in[rank] + static_cast<size_t>(other) * half,
                                     nullptr, half);
    if (!p.inPlace)
      traffic<streaming, false, false>(b[rank].recv + mine, nullptr, b[rank].send + mine, nullptr, half);
    return;
  }
}

} // namespace bench
