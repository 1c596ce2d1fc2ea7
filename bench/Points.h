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
#include <vector>

namespace bench {

constexpr int ranks = 2;
constexpr size_t mostBytes = 256u << 20;

[[noreturn]] inline void fail(const std::string &what) {
  std::fprintf(stderr, "host_vs_mpi: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

enum class Collective { AllReduce, AllGather, AllToAll, ReduceScatter, Broadcast };
constexpr Collective allCollectives[] = {Collective::AllReduce, Collective::AllGather, Collective::AllToAll,
                                         Collective::ReduceScatter, Collective::Broadcast};

/// Broadcast has rank 0 as its root.
struct Point {
  Collective collective;
  bool inPlace;
  size_t bytes; ///< bytes of the larger of a rank's buffers
  int ranks = 2;
  size_t elements() const { return bytes / sizeof(float); }
  /// Returns the elements that a rank has for one rank.
  size_t block() const { return elements() / static_cast<size_t>(ranks); }
};

inline const char *nameOf(Collective collective) {
  switch (collective) {
  case Collective::AllReduce: return "allreduce";
  case Collective::AllGather: return "allgather";
  case Collective::AllToAll: return "alltoall";
  case Collective::ReduceScatter: return "reducescatter";
  case Collective::Broadcast: return "broadcast";
  }
  return "";
}

/// Returns the collective of this name, or all if `name` is null. Returns none if there is no such collective.
inline std::vector<Collective> collectivesNamed(const char *name) {
  std::vector<Collective> named;
  for (Collective collective : allCollectives)
    if (!name || std::string(name) == nameOf(collective))
      named.push_back(collective);
  return named;
}

/// Returns whether a library has calls with this placement: MPI's broadcast has only one buffer.
inline bool exists(Collective collective, bool inPlace) {
  return collective != Collective::Broadcast || inPlace;
}

struct Buffers {
  float *send, *recv;
};

inline void checkGc3(gc3Result_t result, gc3Comm_t comm) {
  if (result != gc3Success)
    fail(gc3GetLastError(comm));
}

/// Memory of gc3HostMemAlloc if `isShared` is true, else of malloc.
inline Buffers allocate(bool isShared, size_t bytes = mostBytes) {
  auto sample = [=] {
    void *memory = nullptr;
    if (isShared)
      checkGc3(gc3HostMemAlloc(&memory, bytes), nullptr);
    else
      memory = std::aligned_alloc(4096, bytes);
    if (!memory)
      fail("no memory");
    std::memset(memory, 0, bytes);
    return static_cast<float *>(memory);
  };
  return {sample(), sample()};
}

/// Returns where gc3 has a rank's input, or its output.
inline float *inputOf(const Point &p, int rank, const Buffers &b) {
  if (!p.inPlace)
    return b.send;
  return p.collective == Collective::AllGather ? b.recv + static_cast<size_t>(rank) * p.block() : b.recv;
}
inline float *outputOf(const Point &p, int rank, const Buffers &b) {
  const bool isBlock = p.inPlace && p.collective == Collective::ReduceScatter;
  return isBlock ? b.recv + static_cast<size_t>(rank) * p.block() : b.recv;
}

inline gc3Result_t startOurs(const Point &p, int rank, const Buffers &b, gc3Comm_t comm) {
  const float *send = inputOf(p, rank, b);
  float *recv = outputOf(p, rank, b);
  switch (p.collective) {
  case Collective::AllReduce: return gc3AllReduce(send, recv, p.elements(), gc3Float32, gc3Sum, comm, nullptr);
  case Collective::AllGather: return gc3AllGather(send, recv, p.block(), gc3Float32, comm, nullptr);
  case Collective::AllToAll: return gc3AllToAll(send, recv, p.block(), gc3Float32, comm, nullptr);
  case Collective::ReduceScatter: return gc3ReduceScatter(send, recv, p.block(), gc3Float32, gc3Sum, comm, nullptr);
  case Collective::Broadcast: return gc3Broadcast(send, recv, p.elements(), gc3Float32, 0, comm, nullptr);
  }
  return gc3InternalError;
}
inline void callOurs(const Point &p, int rank, const Buffers &b, gc3Comm_t comm) {
  checkGc3(startOurs(p, rank, b, comm), comm);
}

/// MPI's reduce-scatter in place has its output at the beginning of the input.
inline void callTheirs(const Point &p, const Buffers &b) {
  const int n = static_cast<int>(p.elements()), block = static_cast<int>(p.block());
  const void *send = p.inPlace ? MPI_IN_PLACE : static_cast<const void *>(b.send);
  const MPI_Comm world = MPI_COMM_WORLD;
  switch (p.collective) {
  case Collective::AllReduce: MPI_Allreduce(send, b.recv, n, MPI_FLOAT, MPI_SUM, world); return;
  case Collective::AllGather: MPI_Allgather(send, block, MPI_FLOAT, b.recv, block, MPI_FLOAT, world); return;
  case Collective::AllToAll: MPI_Alltoall(send, block, MPI_FLOAT, b.recv, block, MPI_FLOAT, world); return;
  case Collective::ReduceScatter: MPI_Reduce_scatter_block(send, b.recv, block, MPI_FLOAT, MPI_SUM, world); return;
  case Collective::Broadcast: MPI_Bcast(b.recv, n, MPI_FLOAT, 0, world); return;
  }
}

/// Returns element i of rank `rank`'s input for a checked call.
inline float valueOf(int rank, size_t i) {
  return static_cast<float>((i * 7 + static_cast<size_t>(rank) * 13) % 1024);
}

inline void fill(const Point &p, int rank, const Buffers &b) {
  std::fill(b.recv, b.recv + p.elements(), -1.0f);
  float *input = inputOf(p, rank, b);
  for (size_t i = 0; i < (p.collective == Collective::AllGather ? p.block() : p.elements()); ++i)
    input[i] = valueOf(rank, i);
}

/// Returns element i of a rank's output in a checked call.
inline float expectedAt(const Point &p, int rank, size_t i) {
  const size_t block = p.block(), own = static_cast<size_t>(rank) * block;
  const auto sum = [&](size_t at) {
    float all = 0;
    for (int r = 0; r < p.ranks; ++r)
      all += valueOf(r, at);
    return all;
  };
  switch (p.collective) {
  case Collective::AllReduce: return sum(i);
  case Collective::AllGather: return valueOf(static_cast<int>(i / block), i % block);
  case Collective::AllToAll: return valueOf(static_cast<int>(i / block), i % block + own);
  case Collective::ReduceScatter: return sum(own + i);
  case Collective::Broadcast: return valueOf(0, i);
  }
  return 0;
}

/// Checks a rank's output, which is at `output`.
inline void check(const Point &p, int rank, const float *output, const char *who) {
  const size_t count = p.collective == Collective::ReduceScatter ? p.block() : p.elements();
  for (size_t i = 0; i < count; ++i)
    if (output[i] != expectedAt(p, rank, i))
      fail(std::string(who) + ": wrong element " + std::to_string(i) + " of " + nameOf(p.collective));
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
  case Collective::ReduceScatter: // adds its half of both inputs, and stores it to its own output
    traffic<streaming, true, false>(outputOf(p, rank, b[rank]), nullptr, in[rank] + mine, in[other] + mine, half);
    return;
  case Collective::Broadcast: // copies its half of the root's buffer to the other rank
    traffic<streaming, false, false>(b[1].recv + mine, nullptr, b[0].recv + mine, nullptr, half);
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
