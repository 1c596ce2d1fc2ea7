// SPDX-License-Identifier: Apache-2.0
// A captured call is a launch with its arguments; counters in device memory go on from replay to replay, and scalars in
// device memory are read anew.
#include "OnGpu.h"

#include <algorithm>
#include <cuda_runtime_api.h>

namespace gc3::test {

namespace {

/// Captures one call into an executable graph.
std::string capture(const Subject &subject, const DeviceBuffers &buffers, cudaGraphExec_t &executable) {
  if (cudaError_t error = cudaStreamBeginCapture(subject.stream, cudaStreamCaptureModeThreadLocal);
      error != cudaSuccess)
    return cudaGetErrorString(error);
  const host::Outcome outcome = subject.world.call(buffers.requests(), subject.stream);
  cudaGraph_t graph = nullptr;
  cudaError_t error = cudaStreamEndCapture(subject.stream, &graph);
  if (error == cudaSuccess && outcome.ok())
    error = cudaGraphInstantiate(&executable, graph, 0);
  if (graph)
    cudaGraphDestroy(graph);
  return !outcome.ok() ? outcome.text : error == cudaSuccess ? "" : cudaGetErrorString(error);
}

/// `beside` is the same on another stream: its calls come behind the replay that has just been launched, by themselves.
std::string replay(const Subject &subject, const Subject &beside, cudaGraphExec_t executable, Trial &trial,
                   DeviceBuffers &buffers) {
  constexpr int replays = 20;
  for (int i = 0; i < replays; ++i) {
    trial.drawScalars(static_cast<uint64_t>(i));
    std::string problem = buffers.fill();
    if (problem.empty())
      if (cudaError_t error = cudaGraphLaunch(executable, subject.stream); error != cudaSuccess)
        problem = cudaGetErrorString(error);
    if (problem.empty() && i % 2 == 1)
      problem = callOnce(beside, {.count = 300 + static_cast<uint64_t>(i), .seed = static_cast<uint64_t>(i)});
    if (problem.empty())
      problem = finish(subject);
    if (problem.empty())
      problem = buffers.compare();
    if (problem.empty() && i % 4 == 0) // connections go on from there
      problem = callOnce(subject, {.count = 100 + static_cast<uint64_t>(i), .seed = static_cast<uint64_t>(i)});
    if (!problem.empty())
      return "replay " + std::to_string(i) + ": " + problem;
  }
  return {};
}

std::string captureAndReplay(const Subject &subject, const TrialOptions &options) {
  if (std::string problem = callOnce(subject, options); !problem.empty())
    return problem;
  Trial trial(subject.file, subject.index, subject.loaded, options);
  std::string problem = trial.prepare();
  DeviceBuffers buffers(trial);
  if (problem.empty())
    problem = buffers.make();
  cudaGraphExec_t executable = nullptr;
  if (problem.empty())
    problem = capture(subject, buffers, executable);
  cudaStream_t other = nullptr;
  if (cudaError_t error = cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
      problem.empty() && error != cudaSuccess)
    problem = cudaGetErrorString(error);
  if (problem.empty())
    problem = replay(subject, {subject.file, subject.index, subject.loaded, subject.world, other}, executable, trial,
                     buffers);
  if (other)
    cudaStreamDestroy(other);
  if (executable)
    cudaGraphExecDestroy(executable);
  return problem;
}

} // namespace

std::string replayGraph(const Subject &subject) {
  TrialOptions options{.count = std::min<uint64_t>(12345, mostCount(subject)), .inPlace = true, .seed = 3};
  for (Scalars scalars : {Scalars::None, Scalars::InMemory}) {
    options.scalars = scalars;
    if (std::string problem = captureAndReplay(subject, options); !problem.empty())
      return "graph: " + problem;
  }
  return {};
}

} // namespace gc3::test
