// SPDX-License-Identifier: Apache-2.0
// The part of NCCL that uses profiler plugins: the events of a call's launch, and of the work of two channels
// (src/plugin/profiler.cc of github.com/NVIDIA/nccl).
#pragma once

#include "FakeNccl.h"
#include "tuner/ProfilerAbi.h"

namespace gc3::test {

class Profiler {
public:
  /// Calls init for one rank of a communicator. Ends the process if the file has no version that this version of NCCL
  /// and this program know.
  Profiler(const PluginFile &file, const std::string &nccl, const Shape &shape, int rank);
  Profiler(const Profiler &) = delete;
  Profiler &operator=(const Profiler &) = delete;
  /// Calls finalize, if init made a context.
  ~Profiler();

  int version() const { return found; }
  /// Reports a call. Its time in µs is 10 * (3 * algorithm + protocol + 1), three times that for each fourth call.
  void report(const Choice &choice, size_t ranks, unsigned number);

private:
  template <typename Functions, typename Kind>
  void send(const Functions &functions, const tuner::abi::CollDescription &coll, uint64_t time);

  int found = 0;
  int mask = 0;
  void *context = nullptr;
  const tuner::abi::ProfilerV4 *v4 = nullptr;
  const tuner::abi::ProfilerV5 *v5 = nullptr;
};

} // namespace gc3::test
