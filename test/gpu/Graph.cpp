// SPDX-License-Identifier: Apache-2.0
// Tests CUDA graphs with captured calls. A graph contains a launch with its arguments, so every replay has the same
// arguments. Counters in device memory persist across replays. Each replay loads the scalars from device memory.
#include "OnGpu.h"

#include <algorithm>
#include <cuda_runtime_api.h>

namespace gc3::test {

namespace {

/// Captures one call, and instantiates it as `executable`. Returns an error message, or an empty string.
std::string capture(const Subject &subject, const DeviceBuffers &buffers, cudaGraphExec_t &executable) {
  if (cudaError_t error = cudaStreamBeginCapture(subject.stream, cudaStreamCaptureModeThreadLocal);
      error != cudaSuccess)
    return cudaGetErrorString(error);
  const core::Outcome outcome = subject.world.call(buffers.requests(), subject.stream);
  cudaGraph_t graph = nullptr;
  cudaError_t error = cudaStreamEndCapture(subject.stream, &graph);
  if (error == cudaSuccess && outcome.ok())
    error = cudaGraphInstantiate(&executable, graph, 0);
  if (graph)
    cudaGraphDestroy(graph);
  return !outcome.ok() ? outcome.text : error == cudaSuccess ? "" : cudaGetErrorString(error);
}

/// A call on another stream. gc3 must order the call after a replay that still runs, and later replays after the call.
class Beside {
public:
  explicit Beside(const Subject &subject)
      : subject(subject), trial(subject.file, subject.index, subject.loaded, {.count = 300, .seed = 7}),
        buffers(trial) {}
  ~Beside() { cudaStreamDestroy(other.stream); }
  Beside(const Beside &) = delete;
  Beside &operator=(const Beside &) = delete;

  std::string make() {
    if (cudaError_t error = cudaStreamCreateWithFlags(&other.stream, cudaStreamNonBlocking); error != cudaSuccess)
      return cudaGetErrorString(error);
    const std::string problem = trial.prepare();
    return problem.empty() ? buffers.make() : problem;
  }
  /// Fills the buffers and waits until the GPU is idle. Call it before the graph launch and the call, so that these can
  /// overlap.
  std::string fill() { return buffers.fill(); }
  std::string call() { return subject.world.call(buffers.requests(), other.stream).text; }
  std::string finishAndCompare() {
    const std::string problem = finish(other);
    return problem.empty() ? buffers.compare() : problem;
  }

private:
  const Subject &subject;
  Subject other{subject.file, subject.index, subject.loaded, subject.world, nullptr};
  Trial trial;
  DeviceBuffers buffers;
};

std::string launch(cudaGraphExec_t executable, cudaStream_t stream) {
  const cudaError_t error = cudaGraphLaunch(executable, stream);
  return error == cudaSuccess ? "" : cudaGetErrorString(error);
}

/// Launches the graph, and makes a call on another stream directly before it (`first`) or after it.
std::string launchBeside(const Subject &subject, cudaGraphExec_t executable, Beside &beside, bool first) {
  std::string problem = beside.fill();
  if (problem.empty() && first)
    problem = beside.call();
  if (problem.empty())
    problem = launch(executable, subject.stream);
  if (problem.empty() && !first)
    problem = beside.call();
  return problem.empty() ? beside.finishAndCompare() : problem;
}

std::string replay(const Subject &subject, Beside &beside, cudaGraphExec_t executable, Trial &trial,
                   DeviceBuffers &buffers) {
  constexpr int replays = 20;
  for (int i = 0; i < replays; ++i) {
    trial.drawScalars(static_cast<uint64_t>(i));
    std::string problem = buffers.fill();
    if (problem.empty())
      problem = i % 2 == 0 ? launch(executable, subject.stream) : launchBeside(subject, executable, beside, i % 4 == 1);
    if (problem.empty())
      problem = finish(subject);
    if (problem.empty())
      problem = buffers.compare();
    if (problem.empty() && i % 4 == 0) // an ordinary call on the connections that the replay used
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
  Beside beside(subject);
  if (problem.empty())
    problem = beside.make();
  if (problem.empty())
    problem = replay(subject, beside, executable, trial, buffers);
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
