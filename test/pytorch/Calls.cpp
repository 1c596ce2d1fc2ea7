// SPDX-License-Identifier: Apache-2.0
// Makes the calls that PyTorch makes, without PyTorch, on four ranks. Each rank has its own thread. The fake NCCL moves
// no data, so correct results prove that programs ran the calls.
#include "shim/Exports.h"

#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

using namespace gc3::ncclapi;

extern "C" {
Result ncclGetUniqueId(UniqueId *id);
signature::CommInitRankConfig ncclCommInitRankConfig;
signature::CommSplit ncclCommSplit;
int cudaSetDevice(int device);
int cudaMalloc(void **memory, size_t bytes);
int cudaStreamCreateWithPriority(Stream *stream, unsigned flags, int priority);
int cudaStreamQuery(Stream stream);
int cudaStreamSynchronize(Stream stream);
}

namespace {

constexpr int ranks = 4;
constexpr size_t count = 1000, all = ranks * count;
constexpr float sum = 0 + 1 + 2 + 3;
constexpr auto type = DataType::Float32;

void expect(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::_Exit(1);
}

/// Waits until a call that returned `result` has completed. Expects success.
void awaitCompletion(Comm comm, Result result, const char *what) {
  while (result == Result::InProgress)
    expect(ncclCommGetAsyncError(comm, &result) == Result::Success, what);
  expect(result == Result::Success, what);
}

/// A rank. It accesses its device buffers directly, because the emulated machine's device memory is host memory.
struct Rank {
  void expectData(Comm comm, Result result, const char *what, float first, float step = 0, size_t elements = count) {
    awaitCompletion(comm, result, what);
    expect(cudaStreamSynchronize(stream) == 0, what);
    for (size_t i = 0; i < elements; ++i)
      expect(std::exchange(recv[i], -1.0F) == first + step * static_cast<float>(i / count), what);
  }
  void collectives(Comm comm) {
    expectData(comm, ncclAllReduce(send, recv, count, type, RedOp::Sum, comm, stream), "AllReduce", sum);
    expectData(comm, ncclAllGather(send, recv, count, type, comm, stream), "AllGather", 0, 1, all);
    expectData(comm, ncclReduceScatter(send, recv, count, type, RedOp::Sum, comm, stream), "ReduceScatter", sum);
    for (int root = 0; root < ranks; ++root) {
      expectData(comm, ncclBroadcast(send, recv, count, type, root, comm, stream), "Broadcast",
                 static_cast<float>(root));
      const Result result = ncclReduce(send, recv, count, type, RedOp::Sum, root, comm, stream);
      expectData(comm, result, "Reduce", sum, 0, rank == root ? count : 0);
    }
  }
  void split(Comm parent) {
    Comm child = nullptr;
    expect(ncclCommSplit(parent, 1, rank, &child, &config) == Result::Success, "CommSplit");
    while (!std::atomic_ref(child).load())
      std::this_thread::yield();
    collectives(child);
    awaitCompletion(child, ncclCommFinalize(child), "CommFinalize");
    expect(ncclCommDestroy(child) == Result::Success, "CommDestroy");
  }
  /// Makes a last call on rank 0 only. The call's kernel waits for the other ranks until the abort.
  void abort(Comm comm, std::barrier<> &together) {
    if (rank == 0)
      awaitCompletion(comm, ncclAllReduce(send, recv, count, type, RedOp::Sum, comm, stream), "the last AllReduce");
    together.arrive_and_wait();
    expect((cudaStreamQuery(stream) != 0) == (rank == 0), "the last AllReduce waits");
    expect(ncclCommAbort(comm) == Result::Success, "CommAbort");
    expect(cudaStreamSynchronize(stream) == 0, "the last AllReduce ends");
  }
  void run(const UniqueId &id, std::barrier<> &together) {
    cudaSetDevice(rank);
    cudaStreamCreateWithPriority(&stream, 1, 0);
    for (float **buffer : {&send, &recv})
      cudaMalloc(reinterpret_cast<void **>(buffer), all * sizeof(float));
    for (size_t i = 0; i < all; ++i)
      send[i] = static_cast<float>(rank);
    Comm comm = nullptr;
    awaitCompletion(comm, ncclCommInitRankConfig(&comm, ranks, id, rank, &config), "CommInitRankConfig");
    collectives(comm);
    split(comm);
    abort(comm, together);
  }

  const int rank;
  Config config;
  Stream stream = nullptr;
  float *send = nullptr, *recv = nullptr;
};

} // namespace

int main() {
  constexpr int none = configUndefined;
  for (int blocking : {1, 0}) {
    UniqueId id;
    std::barrier<> together(ranks);
    std::vector<std::jthread> threads;
    expect(ncclGetUniqueId(&id) == Result::Success, "GetUniqueId");
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([=, &together] {
        const Config config{sizeof(Config), configMagic, configVersion, blocking, none, none, none, nullptr, none};
        Rank{rank, config}.run(id, together);
      });
  }
}
