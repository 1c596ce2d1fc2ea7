// SPDX-License-Identifier: Apache-2.0
#include "tuner/Tuner.h"

#include "bundle/Container.h"
#include "tuner/LogLine.h"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace gc3::tuner {

Choices readChoices(const std::string &path, uint32_t ranks, uint32_t nodes, abi::Logger logger) {
  if (path.empty()) {
    logLine(logger, abi::LogInfo, "NCCL chooses algorithms, because GC3_TUNER_TABLE is not set");
    return {};
  }
  std::string text;
  std::vector<Row> rows;
  if (const std::string problem = readTable(path, text, rows); !problem.empty()) {
    logLine(logger, abi::LogWarn, "NCCL chooses algorithms, because GC3_TUNER_TABLE can't be used: " + problem);
    return {};
  }
  Choices choices(rows, ranks, nodes);
  std::array<char, 17> digest{};
  std::snprintf(digest.data(), digest.size(), "%016" PRIx64, bundle::checksum(text.data(), text.size()));
  logLine(logger, abi::LogInfo,
          path + " has " + std::to_string(choices.count()) + " rows for this communicator (ranks: " +
              std::to_string(ranks) + ", nodes: " + std::to_string(nodes) + "); digest " + digest.data());
  return choices;
}

void Tuner::choose(int collective, uint64_t bytes, const CostTable &costs, int &channels) const {
  const Arm *arm = prefer(choices.arms(collective, bytes), costs);
  if (arm && arm->channels != 0)
    channels = arm->channels;
}

} // namespace gc3::tuner
