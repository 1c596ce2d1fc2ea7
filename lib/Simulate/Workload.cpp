// SPDX-License-Identifier: Apache-2.0
#include "Workload.h"
#include "kernel/LL128.h"
#include "kernel/LowLatency.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace gc3::simulate {

using kernel::Protocol;
using topology::LinkKind;

/// Returns the bytes that a protocol stores for a byte of data.
static double wireFactor(Protocol protocol) {
  switch (protocol) {
  case Protocol::Simple: return 1;
  case Protocol::LL: return static_cast<double>(kernel::lineBytesLL) / kernel::wordBytes;
  case Protocol::LL128: return static_cast<double>(kernel::lineBytesLL128) / kernel::lineDataLL128;
  }
  __builtin_unreachable();
}

std::string Workload::prepare(const Call &call, const Fabric &fabric) {
  const topology::Topology &topology = fabric.topology();
  if (call.program.ranks() != topology.ranks)
    return "program '" + call.program.info().name()->str() + "' is for " + std::to_string(call.program.ranks()) +
           " ranks, but topology '" + topology.name + "' has " + std::to_string(topology.ranks);
  elementBytes = call.elementBytes, slots = call.slots.slots;
  if (std::string problem = setGeometry(call.program, call.count, elementBytes, call.slots, arguments);
      !problem.empty())
    return problem;
  const topology::Costs &costs = topology.costs;
  const topology::ProtocolCosts &own = costs.protocols[static_cast<size_t>(call.slots.protocol)];
  launch = costs.launch, stepTime = costs.step, prepareTime = costs.prepare, waitTime = costs.wait;
  copyRate = own.copy * 1000, reduceRate = own.reduce * 1000;
  grain = own.grain;
  wire = wireFactor(call.slots.protocol);
  cutsThrough = call.slots.protocol != Protocol::Simple;
  readImage(call);
  if (std::string problem = connect(call.program, fabric); !problem.empty())
    return problem;
  for (Connection &connection : connections) {
    const Route &route = routes[&connection - connections.data()];
    connection.isNetwork = route.kind == LinkKind::Network;
    connection.hop = route.alpha + own.hop[static_cast<size_t>(route.kind)];
  }
  listUses(fabric);
  return {};
}

std::string Workload::connect(const core::Program &program, const Fabric &fabric) {
  for (const core::Connection &each : program.connections()) {
    const uint32_t from = blocks[each.sender].rank, to = blocks[each.receiver].rank;
    std::optional<Route> route = fabric.route(from, to);
    if (!route)
      return "program '" + program.info().name()->str() + "' sends from rank " + std::to_string(from) + " to rank " +
             std::to_string(to) + ", but topology '" + fabric.topology().name + "' has no link or switch between them";
    routes.push_back(std::move(*route));
    connections.push_back({each.sender, each.receiver, false, 0, None});
  }
  return {};
}

/// Makes the program's image, and copies what the simulation needs.
void Workload::readImage(const Call &call) {
  const core::Program &program = call.program;
  const plan::ProgramImage image(program, {0, program.ranks()}, slots);
  plan::ConnectionPool pool(program.ranks());
  const std::vector<uint32_t> numbers = pool.add(program, call.slots);
  std::byte address{}; // of all memory: the simulation uses no addresses
  const plan::ConnectionPool::Parts parts(pool.pieces(), std::vector<std::byte *>(program.ranks(), &address));
  std::vector<std::byte> memory(image.bytes());
  const std::vector<std::byte> constants =
      image.constants(memory.data(), plan::ConnectionEnds(pool, numbers, parts), arguments);
  std::copy(constants.begin(), constants.end(), memory.begin());
  for (std::byte *&buffer : arguments.memory[0].buffers)
    buffer = &address;
  for (uint32_t rank = 0; rank < program.ranks(); ++rank) {
    const auto firstWait = static_cast<uint32_t>(waits.size());
    const uint32_t firstBlock = program.firstThreadBlock(rank);
    for (uint32_t i = firstBlock; i < program.firstThreadBlock(rank + 1); ++i) {
      const kernel::BlockImage &block = arguments.blocks[i];
      blocks.push_back({rank, static_cast<uint32_t>(steps.size()), block.stepCount, program.outgoing(i),
                        program.incoming(i), block.in.batch});
      for (uint32_t s = 0; s < block.stepCount; ++s) {
        const kernel::StepImage &from = block.steps[s];
        steps.push_back(
            {from.flags, from.isAwaited, from.count, firstWait + from.firstWait, from.waitCount, None, None, 0});
        findShortSlots(from, steps.back());
        rankOfStep.push_back(rank);
      }
    }
    for (const bundle::fbs::Wait &wait : program.rank(rank).waits)
      waits.push_back({firstBlock + wait.thread_block(), wait.step()});
  }
  arguments.blocks = nullptr;
}

/// Keeps the runs of a step if one of them has a short slot.
void Workload::findShortSlots(const kernel::StepImage &image, Step &step) {
  const auto first = static_cast<uint32_t>(runs.size());
  bool isShort = false;
  for (uint32_t done = 0; done < image.count; done += runs.back().slots) {
    kernel::SlotRun run = kernel::slotRun<kernel::Reach::Slots>(arguments, 0, elementBytes, image, done);
    run.source = nullptr, run.target = nullptr, run.atPeer = nullptr;
    isShort |= run.bytes < run.slots * arguments.slotElements * elementBytes;
    runs.push_back(run);
  }
  if (isShort)
    step.firstRun = first, step.runCount = static_cast<uint32_t>(runs.size()) - first;
  else
    runs.resize(first);
}

double Workload::bytes(const Step &step, uint64_t tile) const {
  const kernel::TilePart part = kernel::tilePart(arguments, elementBytes, tile);
  if (step.firstRun == None)
    return static_cast<double>(step.count * part.bytes);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < step.runCount; ++i)
    sum += kernel::inTile(runs[step.firstRun + i], part, 0).bytes;
  return static_cast<double>(sum);
}

uint32_t Workload::addList(const std::vector<ResourceUse> &list) {
  uses.insert(uses.end(), list.begin(), list.end());
  longestList = std::max(longestList, list.size());
  usesBegin.push_back(static_cast<uint32_t>(uses.size()));
  return static_cast<uint32_t>(usesBegin.size()) - 2;
}

/// Adds a use, or weight to an earlier use of the same resource.
static void addUse(std::vector<ResourceUse> &list, uint32_t resource, double weight) {
  if (resource == Workload::None || weight == 0)
    return;
  for (ResourceUse &use : list)
    if (use.resource == resource) {
      use.weight += weight;
      return;
    }
  list.push_back({resource, weight});
}

/// Returns what a step uses: the route of its message, the memory of its rank, and the memory of the receiver, which
/// has the slots.
std::vector<ResourceUse> Workload::usesOfStep(const Fabric &fabric, const Block &block,
                                              const kernel::OpcodeFlags &flags) const {
  std::vector<ResourceUse> list;
  double own = flags.reads() + flags.accumulates() + flags.writes() + (flags.readsSlot() ? wire : 0);
  if (flags.sends()) {
    const Connection &out = connections[block.out];
    if (out.isNetwork)
      own += wire;
    else {
      for (uint32_t resource : routes[block.out].resources)
        addUse(list, resource, wire);
      addUse(list, fabric.memoryOf(blocks[out.receiver].rank), wire);
    }
  }
  addUse(list, fabric.memoryOf(block.rank), own);
  return list;
}

void Workload::listUses(const Fabric &fabric) {
  for (Block &block : blocks) {
    std::map<uint8_t, uint32_t> lists; // by flags
    for (uint32_t i = 0; i < block.stepCount; ++i) {
      Step &step = steps[block.firstStep + i];
      uint8_t bits;
      std::memcpy(&bits, &step.flags, 1);
      auto [known, isNew] = lists.try_emplace(bits, None);
      if (isNew)
        known->second = addList(usesOfStep(fabric, block, step.flags));
      step.uses = known->second;
    }
  }
  for (uint32_t i = 0; i < connections.size(); ++i) {
    if (!connections[i].isNetwork)
      continue;
    std::vector<ResourceUse> list;
    for (uint32_t resource : routes[i].resources)
      addUse(list, resource, wire);
    addUse(list, fabric.memoryOf(blocks[connections[i].sender].rank), wire);
    addUse(list, fabric.memoryOf(blocks[connections[i].receiver].rank), wire);
    connections[i].putUses = addList(list);
  }
}

} // namespace gc3::simulate
