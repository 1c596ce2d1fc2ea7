// SPDX-License-Identifier: Apache-2.0
// A program of a bundle, called through the C API with all ranks on one GPU.
#pragma once

#include "gc3.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// Where calls of all ranks read and write; in place where both are the same.
struct Buffers {
  std::vector<float *> inputs, outputs;
};

/// Whether graphs have events that order their replays with other calls, as they do by default. The kernels that gc3's
/// are compared with have none.
enum class Graphs : uint8_t { Alone, Ordered };

class Gc3Calls {
public:
  /// The one program of the bundle at `path`.
  explicit Gc3Calls(const std::string &path, Graphs graphs = Graphs::Alone);
  ~Gc3Calls();
  Gc3Calls(const Gc3Calls &) = delete;
  Gc3Calls &operator=(const Gc3Calls &) = delete;

  /// Puts a call of all ranks on the stream; the sum of floats, `count` elements per block (gc3.h).
  void call(const Buffers &buffers, size_t count, cudaStream_t stream);
  /// Fails if a call that has ended was stopped by the watchdog (GC3_TIMEOUT_MS): says what it waited for.
  void checkEnded() const;

private:
  gc3Bundle_t bundle = nullptr;
  gc3ProgramInfo_t program{};
  std::vector<gc3Comm_t> comms;
};

} // namespace bench
