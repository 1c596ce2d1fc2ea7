// SPDX-License-Identifier: Apache-2.0
#include "NcclJob.h"

namespace gc3::test {

namespace {

constexpr int ncclInt32 = 2, ncclSum = 0;
constexpr int32_t untouched = -1;

std::string errorText(cudaError_t error, const char *doing) {
  return error == cudaSuccess ? "" : std::string(doing) + ": " + cudaGetErrorString(error);
}

/// Returns the element that a rank sends at index `place`. It is not negative, and below 1000003, so that a sum over 32
/// ranks does not overflow.
int32_t valueAt(size_t rank, size_t place) {
  return static_cast<int32_t>((place * 31 + rank * 1009) % 1000003);
}

int32_t wanted(JobCollective collective, size_t ranks, size_t rank, size_t count, size_t place) {
  const size_t block = count == 0 ? 0 : place / count, within = count == 0 ? 0 : place % count;
  int32_t sum = 0;
  switch (collective) {
  case JobCollective::AllGather: return valueAt(block, within);
  case JobCollective::AllToAll: return valueAt(block, rank * count + within);
  case JobCollective::AllReduce:
    for (size_t other = 0; other < ranks; ++other)
      sum += valueAt(other, place);
    return sum;
  case JobCollective::ReduceScatter:
    for (size_t other = 0; other < ranks; ++other)
      sum += valueAt(other, rank * count + place);
    return sum;
  }
  return sum;
}

} // namespace

const char *nameOf(JobCollective collective) {
  switch (collective) {
  case JobCollective::AllReduce: return "AllReduce";
  case JobCollective::AllGather: return "AllGather";
  case JobCollective::ReduceScatter: return "ReduceScatter";
  case JobCollective::AllToAll: return "AllToAll";
  }
  return "";
}

std::string NcclJob::make(const std::vector<int> &devices, size_t mostCount) {
  const size_t bytes = (mostCount * devices.size() + 1) * sizeof(int32_t);
  for (int device : devices) {
    Rank &rank = ranks.emplace_back();
    rank.device = device;
    std::string problem = errorText(cudaSetDevice(device), "choosing a GPU");
    if (problem.empty())
      problem = errorText(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking), "creating a stream");
    if (problem.empty())
      problem = errorText(cudaEventCreateWithFlags(&rank.joined, cudaEventDisableTiming), "creating an event");
    for (int32_t **buffer : {&rank.send, &rank.recv})
      if (problem.empty())
        problem = errorText(cudaMalloc(reinterpret_cast<void **>(buffer), bytes), "allocating memory");
    if (!problem.empty())
      return problem;
  }
  if (std::string problem = errorText(cudaSetDevice(devices[0]), "choosing a GPU"); !problem.empty())
    return problem;
  if (std::string problem = errorText(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming), "creating an event");
      !problem.empty())
    return problem;
  std::vector<void *> comms(devices.size());
  if (int result = nccl.commInitAll(comms.data(), static_cast<int>(devices.size()), devices.data()); result != 0)
    return std::string("ncclCommInitAll: ") + nccl.getErrorString(result);
  for (size_t i = 0; i < ranks.size(); ++i)
    ranks[i].comm = comms[i];
  return {};
}

std::string NcclJob::attach(gc3Bundle_t bundle) {
  gc3Result_t result = gc3GroupStart();
  for (Rank &rank : ranks) {
    cudaSetDevice(rank.device);
    if (result == gc3Success)
      result = gc3CommInit(&rank.gc3, bundle, rank.comm, nullptr);
  }
  const gc3Result_t end = gc3GroupEnd();
  result = result == gc3Success ? end : result;
  return result == gc3Success ? "" : std::string("gc3CommInit: ") + gc3GetLastError(nullptr);
}

NcclJob::~NcclJob() {
  for (Rank &rank : ranks) {
    cudaSetDevice(rank.device);
    gc3CommDestroy(rank.gc3);
    if (rank.comm)
      nccl.commDestroy(rank.comm);
    cudaFree(rank.send);
    cudaFree(rank.recv);
    if (rank.joined)
      cudaEventDestroy(rank.joined);
    if (rank.stream)
      cudaStreamDestroy(rank.stream);
  }
  if (begun)
    cudaEventDestroy(begun);
}

size_t NcclJob::sendElements(JobCollective collective, size_t count) const {
  const bool several = collective == JobCollective::ReduceScatter || collective == JobCollective::AllToAll;
  return several ? count * ranks.size() : count;
}

size_t NcclJob::recvElements(JobCollective collective, size_t count) const {
  const bool several = collective == JobCollective::AllGather || collective == JobCollective::AllToAll;
  return several ? count * ranks.size() : count;
}

std::pair<int32_t *, int32_t *> NcclJob::buffers(const Rank &rank, size_t number, JobCollective collective,
                                                 size_t count, bool inPlace) const {
  if (!inPlace)
    return {rank.send, rank.recv};
  const size_t part = number * count;
  return {rank.recv + (collective == JobCollective::AllGather ? part : 0),
          rank.recv + (collective == JobCollective::ReduceScatter ? part : 0)};
}

std::string NcclJob::fill(JobCollective collective, size_t count, bool inPlace) {
  for (size_t number = 0; number < ranks.size(); ++number) {
    std::vector<int32_t> data(sendElements(collective, count));
    for (size_t place = 0; place < data.size(); ++place)
      data[place] = valueAt(number, place);
    const auto [send, recv] = buffers(ranks[number], number, collective, count, inPlace);
    std::string problem =
        errorText(cudaMemset(ranks[number].recv, 0xff, (count * ranks.size() + 1) * sizeof(int32_t)), "filling");
    if (problem.empty())
      problem = errorText(cudaMemcpy(send, data.data(), data.size() * sizeof(int32_t), cudaMemcpyDefault), "filling");
    if (!problem.empty())
      return problem;
  }
  return synchronize();
}

std::string NcclJob::callRank(size_t number, JobCollective collective, size_t count, bool inPlace) {
  const Rank &rank = ranks[number];
  const auto [send, recv] = buffers(rank, number, collective, count, inPlace);
  int result = 0;
  switch (collective) {
  case JobCollective::AllReduce:
    result = rank.gc3 ? gc3AllReduce(send, recv, count, gc3Int32, gc3Sum, rank.gc3, rank.stream)
                      : nccl.allReduce(send, recv, count, ncclInt32, ncclSum, rank.comm, rank.stream);
    break;
  case JobCollective::AllGather:
    result = rank.gc3 ? gc3AllGather(send, recv, count, gc3Int32, rank.gc3, rank.stream)
                      : nccl.allGather(send, recv, count, ncclInt32, rank.comm, rank.stream);
    break;
  case JobCollective::ReduceScatter:
    result = rank.gc3 ? gc3ReduceScatter(send, recv, count, gc3Int32, gc3Sum, rank.gc3, rank.stream)
                      : nccl.reduceScatter(send, recv, count, ncclInt32, ncclSum, rank.comm, rank.stream);
    break;
  case JobCollective::AllToAll:
    result = rank.gc3 ? gc3AllToAll(send, recv, count, gc3Int32, rank.gc3, rank.stream)
                      : nccl.alltoAll(send, recv, count, ncclInt32, rank.comm, rank.stream);
    break;
  }
  if (result == 0)
    return {};
  return rank.gc3 ? gc3GetLastError(rank.gc3) : nccl.getErrorString(result);
}

std::string NcclJob::call(JobCollective collective, size_t count, bool inPlace) {
  const bool ours = ranks[0].gc3 != nullptr;
  int result = ours ? gc3GroupStart() : nccl.groupStart();
  std::string problem;
  for (size_t number = 0; number < ranks.size() && result == 0 && problem.empty(); ++number)
    problem = callRank(number, collective, count, inPlace);
  result = ours ? gc3GroupEnd() : nccl.groupEnd();
  if (!problem.empty() || result == 0)
    return problem;
  return ours ? gc3GetLastError(ranks[0].gc3) : nccl.getErrorString(result);
}

std::string NcclJob::synchronize() {
  for (const Rank &rank : ranks) {
    cudaSetDevice(rank.device);
    if (std::string problem = errorText(cudaDeviceSynchronize(), "waiting for a GPU"); !problem.empty())
      return problem;
    gc3Result_t result = gc3Success;
    if (rank.gc3 && (gc3CommGetAsyncError(rank.gc3, &result) != gc3Success || result != gc3Success))
      return gc3GetLastError(rank.gc3);
  }
  return {};
}

std::string NcclJob::compare(JobCollective collective, size_t count, bool inPlace) {
  for (size_t number = 0; number < ranks.size(); ++number) {
    const int32_t *recv = buffers(ranks[number], number, collective, count, inPlace).second;
    std::vector<int32_t> data(recvElements(collective, count) + 1);
    if (std::string problem = errorText(cudaMemcpy(data.data(), recv, data.size() * sizeof(int32_t), cudaMemcpyDefault),
                                        "reading results");
        !problem.empty())
      return problem;
    for (size_t place = 0; place + 1 < data.size(); ++place)
      if (int32_t value = wanted(collective, ranks.size(), number, count, place); data[place] != value)
        return "rank " + std::to_string(number) + " has " + std::to_string(data[place]) + " at " +
               std::to_string(place) + ", not " + std::to_string(value);
    if (!inPlace && data.back() != untouched)
      return "rank " + std::to_string(number) + " wrote behind its buffer";
  }
  return {};
}

std::string NcclJob::callAndCompare(JobCollective collective, size_t count, bool inPlace) {
  std::string problem = fill(collective, count, inPlace);
  if (problem.empty())
    problem = call(collective, count, inPlace);
  if (problem.empty())
    problem = synchronize();
  return problem.empty() ? compare(collective, count, inPlace) : problem;
}

/// Enqueues `calls` so that a capture of the first rank's stream contains the streams of all ranks. First, the other
/// streams wait for the first rank's stream. In the end, that stream waits for the others.
std::string NcclJob::forkAndJoin(const std::function<std::string()> &calls) {
  std::string problem = errorText(cudaEventRecord(begun, ranks[0].stream), "forking streams");
  for (size_t i = 1; i < ranks.size() && problem.empty(); ++i)
    problem = errorText(cudaStreamWaitEvent(ranks[i].stream, begun, 0), "forking streams");
  if (problem.empty())
    problem = calls();
  for (size_t i = 1; i < ranks.size() && problem.empty(); ++i) {
    problem = errorText(cudaEventRecord(ranks[i].joined, ranks[i].stream), "joining streams");
    if (problem.empty())
      problem = errorText(cudaStreamWaitEvent(ranks[0].stream, ranks[i].joined, 0), "joining streams");
  }
  return problem;
}

std::string NcclJob::capture(const std::function<std::string()> &calls, cudaGraphExec_t &executable) {
  std::string problem =
      errorText(cudaStreamBeginCapture(ranks[0].stream, cudaStreamCaptureModeThreadLocal), "beginning a graph");
  if (!problem.empty())
    return problem;
  problem = forkAndJoin(calls);
  cudaGraph_t graph = nullptr;
  std::string end = errorText(cudaStreamEndCapture(ranks[0].stream, &graph), "ending a graph");
  if (problem.empty())
    problem = end;
  if (problem.empty())
    problem = errorText(cudaGraphInstantiate(&executable, graph, 0), "instantiating a graph");
  if (graph)
    cudaGraphDestroy(graph);
  return problem;
}

std::string NcclJob::replayAndCompare(JobCollective collective, size_t count) {
  constexpr int replays = 5;
  cudaGraphExec_t executable = nullptr;
  std::string problem = capture([&] { return call(collective, count, false); }, executable);
  for (int i = 0; i < replays && problem.empty(); ++i) {
    problem = fill(collective, count, false);
    if (problem.empty())
      problem = errorText(cudaGraphLaunch(executable, ranks[0].stream), "launching a graph");
    if (problem.empty())
      problem = synchronize();
    if (problem.empty())
      problem = compare(collective, count, false);
    if (problem.empty()) // an ordinary call on the connections that the replay used
      problem = callAndCompare(collective, count / 2, false);
  }
  if (executable)
    cudaGraphExecDestroy(executable);
  return problem;
}

} // namespace gc3::test
