// SPDX-License-Identifier: Apache-2.0
// Prepares a call for the engine: reads all of it, finds its classes, and merges each class.
#include "Symmetry.h"
#include "core/Layout.h"
#include <algorithm>

namespace gc3::simulate {

std::string Workload::prepare(const Call &call, const Fabric &fabric, bool useSymmetry) {
  const topology::Topology &topology = fabric.topology();
  if (call.program.ranks() != topology.ranks)
    return "program '" + call.program.info().name()->str() + "' is for " + std::to_string(call.program.ranks()) +
           " ranks, but topology '" + topology.name + "' has " + std::to_string(topology.ranks);
  kernel::KernelArgs geometry{};
  if (std::string problem = setGeometry(call.program, call.count, call.elementBytes, call.slots, geometry);
      !problem.empty())
    return problem;
  const double data = static_cast<double>(core::callBytes(call.program, call.count, call.elementBytes).value_or(0));
  setCosts(geometry, call.elementBytes, call.slots.protocol, topology.costs, data * call.program.ranks());
  Whole whole;
  if (std::string problem = readWhole(call, fabric, geometry, *this, whole); !problem.empty())
    return problem;
  Partition partition = useSymmetry ? findSymmetry(whole) : withoutSymmetry(whole);
  merge(std::move(whole), std::move(partition));
  return {};
}

void Workload::merge(Whole whole, Partition partition) {
  for (uint32_t first : partition.resources.first)
    capacities.push_back(whole.capacities[first]);
  for (uint32_t i = 0; i < partition.blocks.count(); ++i)
    mergeBlock(whole, partition, i);
  for (uint32_t i = 0; i < partition.connections.count(); ++i)
    mergeConnection(whole, partition, i);
  runs = std::move(whole.table.runs);
  resourceOf = std::move(partition.resources.of);
}

void Workload::mergeBlock(const Whole &whole, const Partition &partition, uint32_t ofClass) {
  const Whole::Block &from = whole.blocks[partition.blocks.first[ofClass]];
  const StepTable::List &list = whole.table.lists[from.steps];
  const auto connection = [&](uint32_t number) { return number == None ? None : partition.connections.of[number]; };
  blocks.push_back({from.rank, static_cast<uint32_t>(steps.size()), list.stepCount, connection(from.out),
                    connection(from.in), from.batch, None});
  const auto firstWait = static_cast<uint32_t>(waits.size()), firstList = static_cast<uint32_t>(usesBegin.size()) - 1;
  for (uint32_t i = 0; i < whole.listsOf(from); ++i)
    blocks.back().stepUses =
        addList(whole.usesOf(from.firstUses + i), partition.blocks.sizes[ofClass], partition.resources);
  for (uint32_t i = 0; i < list.stepCount; ++i) {
    Step step = whole.table.steps[list.firstStep + i];
    step.firstWait += firstWait, step.uses += firstList;
    if (step.firstRun != None)
      step.firstRun += list.firstRun;
    steps.push_back(step);
  }
  for (uint32_t i = 0; i < list.waitCount; ++i) {
    const Wait &wait = whole.table.waits[list.firstWait + i];
    waits.push_back({partition.blocks.of[whole.awaited[from.firstAwaited + wait.block]], wait.step});
  }
}

void Workload::mergeConnection(const Whole &whole, const Partition &partition, uint32_t ofClass) {
  Connection merged = whole.connections[partition.connections.first[ofClass]];
  merged.sender = partition.blocks.of[merged.sender], merged.receiver = partition.blocks.of[merged.receiver];
  if (merged.putUses != None)
    merged.putUses = addList(whole.usesOf(merged.putUses), partition.connections.sizes[ofClass], partition.resources);
  connections.push_back(merged);
}

/// Adds the list of resources of a class with `users` members.
uint32_t Workload::addList(std::span<const ResourceUse> list, uint32_t users, const Classes &resources) {
  for (const ResourceUse &use : list) {
    const uint32_t ofClass = resources.of[use.resource];
    const double weight = use.weight * users / resources.sizes[ofClass];
    const auto isSame = [&](const ResourceUse &other) { return other.resource == ofClass; };
    const auto known = std::find_if(uses.begin() + usesBegin.back(), uses.end(), isSame);
    if (known != uses.end())
      known->weight += weight;
    else
      uses.push_back({ofClass, weight});
  }
  longestList = std::max(longestList, uses.size() - usesBegin.back());
  usesBegin.push_back(static_cast<uint32_t>(uses.size()));
  return static_cast<uint32_t>(usesBegin.size()) - 2;
}

} // namespace gc3::simulate
