// SPDX-License-Identifier: Apache-2.0
#include "NcclTable.h"
#include "gc3/Simulate/NcclModel.h"
#include "tuner/Table.h"
#include <algorithm>

namespace gc3::sim {

namespace {

template <size_t Count>
uint8_t indexOf(std::string_view name, const std::string_view (&names)[Count]) {
  return static_cast<uint8_t>(std::find(std::begin(names), std::end(names), name) - std::begin(names));
}

/// Appends the times of one collective and size. Leaves the number of channels to NCCL, as its model does.
void addRows(const simulate::NcclSystem &system, uint8_t collective, uint32_t bucket, std::vector<tuner::Row> &rows) {
  for (const simulate::NcclChoice &choice : listNccl(system, tuner::collectiveNames[collective], 1ULL << bucket)) {
    tuner::Row &row = rows.emplace_back();
    row.collective = static_cast<tuner::Collective>(collective), row.bucket = static_cast<uint8_t>(bucket);
    row.ranks = system.ranks, row.nodes = system.machines;
    row.arm.algorithm = static_cast<tuner::Algorithm>(indexOf(name(choice.algorithm), tuner::algorithmNames));
    row.arm.protocol =
        static_cast<tuner::Protocol>(indexOf(topology::ProtocolNames[choice.protocol], tuner::protocolNames));
    row.arm.time = static_cast<float>(choice.time);
  }
}

} // namespace

std::string ncclTableOf(const topology::Topology &topology, const CommandLine &line, std::string &error) {
  const simulate::NcclSystem system = simulate::findNcclSystem(topology);
  std::vector<tuner::Row> rows;
  for (uint8_t collective = 0; collective < tuner::collectiveCount; ++collective)
    for (uint32_t bucket = 0; bucket < tuner::bucketCount - 1; ++bucket)
      if (1ULL << bucket >= line.minBytes && 1ULL << bucket <= line.maxBytes)
        addRows(system, collective, bucket, rows);
  if (!chooseNccl(system, "allreduce", 1))
    error = "NCCL's model has no time on topology '" + line.topology + "'";
  else if (rows.empty())
    error = "there is no power of 2 from -b to -e";
  return printTable(rows);
}

} // namespace gc3::sim
