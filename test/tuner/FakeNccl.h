// SPDX-License-Identifier: Apache-2.0
// The part of NCCL that uses tuner plugins: it opens a plugin, looks up the versions that one version of NCCL knows,
// makes tables of costs, and chooses by them (src/plugin/tuner.cc and src/enqueue.cc of github.com/NVIDIA/nccl).
#pragma once

#include "tuner/TunerAbi.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gc3::test {

/// NCCL's logger. Prints a line unless setLogging(false) was called.
void log(int level, unsigned long subsystems, const char *file, int line, const char *format, ...);
void setLogging(bool isOn);
/// Ends the process if a plugin returns an error: NCCL would fail the application's call.
void demandSuccess(tuner::abi::Result result, const char *function);

/// A plugin's file. NCCL closes it after its last communicator.
class PluginFile {
public:
  /// Opens the file. Ends the process if there is none.
  explicit PluginFile(const std::string &path);
  PluginFile(const PluginFile &) = delete;
  PluginFile &operator=(const PluginFile &) = delete;
  ~PluginFile();

  /// Looks up PREFIXn for n from `newest` down to 1. Returns the first n that exists, and its address, or 0.
  int find(const std::string &prefix, int newest, const void *&address) const;

private:
  void *file;
};

/// A tuner plugin.
class Tuner {
public:
  /// Ends the process if the file has no version that this version of NCCL and this program know.
  Tuner(const PluginFile &file, const std::string &nccl);

  int version() const { return found; }
  const char *name() const;
  void *init(size_t ranks, size_t nodes) const;
  tuner::abi::GetCollInfo getCollInfo() const;
  void finalize(void *context) const;

private:
  int found = 0;
  const tuner::abi::TunerV4 *v4 = nullptr;
  const tuner::abi::TunerV5 *v5 = nullptr;
  const tuner::abi::TunerV6 *v6 = nullptr;
};

struct Shape {
  size_t ranks = 0, nodes = 0;
};

/// What NCCL runs for a call.
struct Choice {
  std::string collective;
  uint64_t bytes = 0;
  int algorithm = 0, protocol = 0;
  int channels = 0; ///< 0: NCCL's number

  /// Returns "COLLECTIVE BYTES: ALGORITHM PROTOCOL", and " on N channels".
  std::string text() const;
};

class Communicator {
public:
  Communicator(const Tuner &tuner, const Shape &shape) : tuner(tuner), context(tuner.init(shape.ranks, shape.nodes)) {}
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;
  ~Communicator() { tuner.finalize(context); }

  /// Chooses as NCCL does. NCCL can't use the combinations "ALGORITHM/PROTOCOL" in `without`.
  Choice choose(const std::string &collective, uint64_t bytes, const std::vector<std::string> &without) const;
  /// Returns the time of getCollInfo for this call, in nanoseconds.
  double timeOf(const Choice &choice) const;

private:
  /// Calls getCollInfo. `costs` has all algorithms and protocols.
  void ask(const std::string &collective, uint64_t bytes, float *costs, int &channels) const;

  const Tuner &tuner;
  void *context;
};

} // namespace gc3::test
