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

/// Whether log() prints. At the beginning it does.
void setLogging(bool isOn);

class TunerPlugin {
public:
  /// Opens the file, and looks up the versions that this version of NCCL knows, from the newest to the oldest. Returns
  /// nothing and sets `error` if there is none.
  static std::optional<TunerPlugin> open(const std::string &path, const std::string &nccl, std::string &error);
  TunerPlugin(TunerPlugin &&other) noexcept;
  TunerPlugin(const TunerPlugin &) = delete;
  TunerPlugin &operator=(const TunerPlugin &) = delete;
  /// Closes the file, as NCCL does after its last communicator.
  ~TunerPlugin();

  const std::string &symbol() const { return found; }
  const char *name() const;
  void *init(size_t ranks, size_t nodes) const;
  tuner::abi::GetCollInfo getCollInfo() const;
  void finalize(void *context) const;

private:
  TunerPlugin() = default;
  void *file = nullptr;
  std::string found;
  const tuner::abi::TunerV4 *v4 = nullptr;
  const tuner::abi::TunerV5 *v5 = nullptr;
  const tuner::abi::TunerV6 *v6 = nullptr;
};

struct Shape {
  size_t ranks = 0, nodes = 0;
};

class Communicator {
public:
  Communicator(const TunerPlugin &plugin, const Shape &shape)
      : plugin(plugin), context(plugin.init(shape.ranks, shape.nodes)) {}
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;
  ~Communicator() { plugin.finalize(context); }

  /// Returns what NCCL runs for a call: "COLLECTIVE BYTES: ALGORITHM PROTOCOL", and " on N channels" if the plugin sets
  /// their number. NCCL can't use the combinations "ALGORITHM/PROTOCOL" in `without`.
  std::string run(const std::string &collective, uint64_t bytes, const std::vector<std::string> &without) const;

private:
  const TunerPlugin &plugin;
  void *context;
};

} // namespace gc3::test
