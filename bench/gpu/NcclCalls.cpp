// SPDX-License-Identifier: Apache-2.0
#include "NcclCalls.h"

#include "Replay.h"

#include <cstdlib>

namespace bench {

namespace {

constexpr int ncclFloat32 = 7, ncclSum = 0;

} // namespace

std::string NcclCalls::make(uint32_t ranks) {
  if (std::string problem = nccl.find(); !problem.empty())
    return "no NCCL: " + problem;
  shownVersion = std::to_string(nccl.version / 10000) + "." + std::to_string(nccl.version / 100 % 100) + "." +
                 std::to_string(nccl.version % 100);
  if (nccl.version < gc3::test::severalRanksOnAGpu)
    return "NCCL " + shownVersion + " takes one rank on a GPU; 2.30.3 takes several";
  gc3::test::shareGpu(static_cast<int>(ranks));
  std::vector<void *> made(ranks);
  const std::vector<int> devices(ranks, 0);
  if (int result = nccl.commInitAll(made.data(), static_cast<int>(ranks), devices.data()); result != 0)
    return "NCCL " + shownVersion + " can't have " + std::to_string(ranks) +
           " ranks on this GPU: " + nccl.getErrorString(result);
  comms = std::move(made);
  streams.resize(ranks);
  joined.resize(ranks);
  for (cudaStream_t &stream : streams)
    bench::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  for (cudaEvent_t &event : joined)
    bench::check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  bench::check(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming), "making an event");
  return {};
}

NcclCalls::~NcclCalls() {
  for (void *comm : comms)
    nccl.commDestroy(comm);
  for (cudaStream_t stream : streams)
    cudaStreamDestroy(stream);
  for (cudaEvent_t event : joined)
    cudaEventDestroy(event);
  if (begun)
    cudaEventDestroy(begun);
}

void NcclCalls::check(int result) const {
  if (result != 0)
    fail("NCCL " + shownVersion + ": " + nccl.getErrorString(result));
}

void NcclCalls::allReduce(const Buffers &buffers, size_t count, cudaStream_t stream) {
  bench::check(cudaEventRecord(begun, stream), "forking streams");
  for (cudaStream_t own : streams)
    bench::check(cudaStreamWaitEvent(own, begun, 0), "forking streams");
  check(nccl.groupStart());
  for (size_t rank = 0; rank < comms.size(); ++rank)
    check(nccl.allReduce(buffers.outputs[rank], buffers.outputs[rank], count, ncclFloat32, ncclSum, comms[rank],
                         streams[rank]));
  check(nccl.groupEnd());
  for (size_t rank = 0; rank < comms.size(); ++rank) {
    bench::check(cudaEventRecord(joined[rank], streams[rank]), "joining streams");
    bench::check(cudaStreamWaitEvent(stream, joined[rank], 0), "joining streams");
  }
}

} // namespace bench
