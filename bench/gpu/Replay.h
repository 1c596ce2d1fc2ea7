// SPDX-License-Identifier: Apache-2.0
// Times what is put on a stream, replayed from a graph, so that no time of the host's is in it.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// What ends a section, and leaves the others.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Throws a Failure.
[[noreturn]] void fail(const std::string &what);
/// Fails if a call of CUDA's did: `doing` says what it was for.
void check(cudaError_t error, const char *doing);

/// `count` floats on the GPU, given back at the end.
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

/// Some calls, captured.
class Replay {
public:
  /// `enqueue` puts one call on the stream; it has been made before, outside of a graph.
  Replay(cudaStream_t stream, int calls, const std::function<void()> &enqueue);
  ~Replay();
  Replay(const Replay &) = delete;
  Replay &operator=(const Replay &) = delete;

  /// Microseconds of a call, the mean of one replay, by the GPU's clock: from one call to the next, without the launch.
  double sample();
  /// Microseconds of one replay by the host's clock: from before it is launched to when the stream is seen idle.
  double launchToEnd();

private:
  void capture(const std::function<void()> &enqueue);

  cudaStream_t stream;
  int calls;
  cudaGraphExec_t executable = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
};

/// The medians of `samples` samples of each, taken in turns: what disturbs one disturbs all.
std::vector<double> inTurns(std::span<Replay *const> replays, int samples);
/// The median of as many launches, each waited for.
double medianLaunchToEnd(Replay &replay, int samples);

} // namespace bench
