// SPDX-License-Identifier: Apache-2.0
// Times work on a stream by replaying it from a graph, so that no time of the host is included.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// The exception that ends a section of the benchmark. Other sections still run.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Throws a Failure.
[[noreturn]] void fail(const std::string &what);
/// Fails if a CUDA call failed. `doing` describes the purpose of the call.
void check(cudaError_t error, const char *doing);

/// An array of `count` floats on the GPU. The destructor frees it.
class DeviceFloats {
public:
  explicit DeviceFloats(size_t count);
  ~DeviceFloats() { cudaFree(memory); }
  DeviceFloats(const DeviceFloats &) = delete;
  DeviceFloats &operator=(const DeviceFloats &) = delete;
  float *get() const { return memory; }

private:
  float *memory = nullptr;
};

/// A graph of `calls` captured calls.
class Replay {
public:
  /// `enqueue` enqueues one call on the stream. It must have been called before, outside of a graph.
  Replay(cudaStream_t stream, int calls, const std::function<void()> &enqueue);
  ~Replay();
  Replay(const Replay &) = delete;
  Replay &operator=(const Replay &) = delete;

  /// Returns the microseconds of a call by the GPU's clock: the mean over one replay, without the launch.
  double sample();
  /// Returns the microseconds of one replay by the host's clock, from before the launch until the stream is seen idle.
  double launchToEnd();

private:
  void capture(const std::function<void()> &enqueue);

  cudaStream_t stream;
  int calls;
  cudaGraphExec_t executable = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
};

/// Returns the medians of `samples` samples of each replay. Samples of all replays alternate, so that disturbances
/// affect all replays.
std::vector<double> timeAlternating(std::span<Replay *const> replays, int samples);
/// Returns the median time of `samples` launches. Waits for each launch to end before the next launch.
double medianLaunchToEnd(Replay &replay, int samples);

} // namespace bench
