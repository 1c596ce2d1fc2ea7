// SPDX-License-Identifier: Apache-2.0
#include "Replay.h"

#include <algorithm>
#include <chrono>

namespace bench {

void fail(const std::string &what) {
  throw Failure(what);
}

void check(cudaError_t error, const char *doing) {
  if (error != cudaSuccess)
    fail(std::string(doing) + ": " + cudaGetErrorString(error));
}

DeviceFloats::DeviceFloats(size_t count) {
  check(cudaMalloc(reinterpret_cast<void **>(&memory), count * sizeof(float)), "taking memory");
  check(cudaMemset(memory, 0, count * sizeof(float)), "clearing memory");
}

Replay::Replay(cudaStream_t onStream, int callsEach, const std::function<void()> &enqueue)
    : stream(onStream), calls(callsEach) {
  capture(enqueue);
  check(cudaEventCreate(&begin), "making an event");
  check(cudaEventCreate(&end), "making an event");
  sample(); // the first launch is slow, because it loads the kernels
}

void Replay::capture(const std::function<void()> &enqueue) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a graph");
  try {
    for (int i = 0; i < calls; ++i)
      enqueue();
  } catch (const Failure &) { // ends the capture, so that later calls can use the stream
    cudaStreamEndCapture(stream, &graph);
    cudaGraphDestroy(graph);
    throw;
  }
  check(cudaStreamEndCapture(stream, &graph), "ending a graph");
  check(cudaGraphInstantiate(&executable, graph, 0), "making a graph");
  check(cudaGraphDestroy(graph), "freeing a graph");
}

Replay::~Replay() {
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaGraphExecDestroy(executable);
}

double Replay::sample() {
  check(cudaEventRecord(begin, stream), "noting the time");
  check(cudaGraphLaunch(executable, stream), "launching a graph");
  check(cudaEventRecord(end, stream), "noting the time");
  check(cudaEventSynchronize(end), "waiting for a graph");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end), "reading the time");
  return static_cast<double>(milliseconds) * 1e3 / calls;
}

double Replay::launchToEnd() {
  const auto start = std::chrono::steady_clock::now();
  check(cudaGraphLaunch(executable, stream), "launching a graph");
  cudaError_t error;
  while ((error = cudaStreamQuery(stream)) == cudaErrorNotReady) {
  }
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  check(error, "waiting for a graph");
  return time.count();
}

static double medianOf(std::vector<double> &times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

double medianLaunchToEnd(Replay &replay, int samples) {
  std::vector<double> times;
  for (int i = 0; i < samples; ++i)
    times.push_back(replay.launchToEnd());
  return medianOf(times);
}

std::vector<double> timeAlternating(std::span<Replay *const> replays, int samples) {
  std::vector<std::vector<double>> times(replays.size());
  for (int i = 0; i < samples; ++i)
    for (size_t which = 0; which < replays.size(); ++which)
      times[which].push_back(replays[which]->sample());
  std::vector<double> medians;
  for (std::vector<double> &of : times)
    medians.push_back(medianOf(of));
  return medians;
}

} // namespace bench
