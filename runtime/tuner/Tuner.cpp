// SPDX-License-Identifier: Apache-2.0
#include "tuner/Tuner.h"

#include "bundle/Container.h"

#include <cinttypes>

namespace gc3::tuner {

// A macro, because the logger is variadic.
#define GC3_LOG(level, format, ...)                                                                                    \
  if (logger)                                                                                                          \
  logger(abi::level, abi::logInit | abi::logTuning, __FILE__, __LINE__, "gc3: " format, __VA_ARGS__)

Tuner::Tuner(const std::string &path, size_t ranks, size_t nodes, abi::Logger logger) {
  if (path.empty()) {
    GC3_LOG(LogInfo, "%s", "NCCL chooses algorithms, because GC3_TUNER_TABLE is not set");
    return;
  }
  std::string text;
  std::vector<Row> rows;
  if (const std::string problem = readTable(path, text, rows); !problem.empty()) {
    GC3_LOG(LogWarn, "NCCL chooses algorithms, because GC3_TUNER_TABLE can't be used: %s", problem.c_str());
    return;
  }
  choices = Choices(rows, static_cast<uint32_t>(ranks), static_cast<uint32_t>(nodes));
  GC3_LOG(LogInfo, "%s has %u rows for this communicator (ranks: %zu, nodes: %zu); digest %016" PRIx64, path.c_str(),
          choices.count(), ranks, nodes, bundle::checksum(text.data(), text.size()));
}

void Tuner::choose(int collective, uint64_t bytes, const CostTable &costs, int &channels) const {
  const Arm *arm = prefer(choices.arms(collective, bytes), costs);
  if (arm && arm->channels != 0)
    channels = arm->channels;
}

} // namespace gc3::tuner
