// SPDX-License-Identifier: Apache-2.0
// Calls a program of a bundle through the C API, with all ranks on one GPU.
#pragma once

#include "gc3.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// The buffers of all ranks. Calls are in place if inputs and outputs are identical.
struct Buffers {
  std::vector<float *> inputs, outputs;
};

/// Ordered: graphs have events that order their replays with other calls, as they do by default. Alone: graphs have no
/// events, like those of the kernels with which gc3's kernel is compared.
enum class Graphs : uint8_t { Alone, Ordered };

class Gc3Calls {
public:
  /// Uses the first program of the bundle at `path`.
  explicit Gc3Calls(const std::string &path, Graphs graphs = Graphs::Alone);
  ~Gc3Calls();
  Gc3Calls(const Gc3Calls &) = delete;
  Gc3Calls &operator=(const Gc3Calls &) = delete;

  /// Enqueues a call of all ranks on the stream. The call sums floats, `count` elements per block (gc3.h).
  void call(const Buffers &buffers, size_t count, cudaStream_t stream);
  /// Fails if the watchdog (GC3_TIMEOUT_MS) has stopped a call. All calls must have ended. The message says what the
  /// call waited for.
  void checkEnded() const;

private:
  gc3Bundle_t bundle = nullptr;
  gc3ProgramInfo_t program{};
  std::vector<gc3Comm_t> comms;
};

} // namespace bench
