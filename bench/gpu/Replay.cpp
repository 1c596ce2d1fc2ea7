// SPDX-License-Identifier: Apache-2.0
#include "Replay.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace bench {

void fail(const std::string &what) {
  std::fprintf(stderr, "gpu-bench: %s\n", what.c_str());
  std::exit(1);
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
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a graph");
  for (int i = 0; i < calls; ++i)
    enqueue();
  check(cudaStreamEndCapture(stream, &graph), "ending a graph");
  check(cudaGraphInstantiate(&executable, graph, 0), "making a graph");
  check(cudaGraphDestroy(graph), "freeing a graph");
  check(cudaEventCreate(&begin), "making an event");
  check(cudaEventCreate(&end), "making an event");
  sample(); // loads what is loaded at the first launch
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

std::vector<double> inTurns(std::span<Replay *const> replays, int samples) {
  std::vector<std::vector<double>> times(replays.size());
  for (int i = 0; i < samples; ++i)
    for (size_t which = 0; which < replays.size(); ++which)
      times[which].push_back(replays[which]->sample());
  std::vector<double> medians;
  for (std::vector<double> &of : times) {
    std::nth_element(of.begin(), of.begin() + samples / 2, of.end());
    medians.push_back(of[static_cast<size_t>(samples) / 2]);
  }
  return medians;
}

} // namespace bench
