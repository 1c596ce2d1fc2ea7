// SPDX-License-Identifier: Apache-2.0
#include "Whole.h"
#include <algorithm>

namespace gc3::simulate {

using topology::LinkKind;

namespace {

/// Adds a use, or weight to an earlier use of the same resource.
void addUse(std::vector<ResourceUse> &list, uint32_t resource, double weight) {
  if (resource == Fabric::None || weight == 0)
    return;
  for (ResourceUse &use : list)
    if (use.resource == resource) {
      use.weight += weight;
      return;
    }
  list.push_back({resource, weight});
}

/// Lists the resources of steps and puts.
class UseLists {
public:
  UseLists(const Fabric &fabric, const std::vector<Route> &routes, double wire, Whole &whole)
      : fabric(fabric), routes(routes), wire(wire), whole(whole) {}

  void listUses();

private:
  uint32_t addList(const std::vector<ResourceUse> &list);
  std::vector<ResourceUse> usesOfStep(const Whole::Block &block, const kernel::OpcodeFlags &flags) const;
  std::vector<ResourceUse> usesOfPut(uint32_t connection) const;

  const Fabric &fabric;
  const std::vector<Route> &routes; ///< by connection
  const double wire;
  Whole &whole;
};

uint32_t UseLists::addList(const std::vector<ResourceUse> &list) {
  whole.uses.insert(whole.uses.end(), list.begin(), list.end());
  whole.usesBegin.push_back(static_cast<uint32_t>(whole.uses.size()));
  return static_cast<uint32_t>(whole.usesBegin.size()) - 2;
}

/// Returns what a step uses: the route of its message, the memory of its rank, and the memory of the receiver, which
/// has the slots.
std::vector<ResourceUse> UseLists::usesOfStep(const Whole::Block &block, const kernel::OpcodeFlags &flags) const {
  std::vector<ResourceUse> list;
  double own = flags.reads() + flags.accumulates() + flags.writes() + (flags.readsSlot() ? wire : 0);
  if (flags.sends()) {
    const Workload::Connection &out = whole.connections[block.out];
    if (out.isNetwork)
      own += wire;
    else {
      for (uint32_t resource : routes[block.out].resources)
        addUse(list, resource, wire);
      addUse(list, fabric.memoryOf(whole.blocks[out.receiver].rank), wire);
    }
  }
  addUse(list, fabric.memoryOf(block.rank), own);
  return list;
}

std::vector<ResourceUse> UseLists::usesOfPut(uint32_t connection) const {
  const Workload::Connection &over = whole.connections[connection];
  std::vector<ResourceUse> list;
  for (uint32_t resource : routes[connection].resources)
    addUse(list, resource, wire);
  addUse(list, fabric.memoryOf(whole.blocks[over.sender].rank), wire);
  addUse(list, fabric.memoryOf(whole.blocks[over.receiver].rank), wire);
  return list;
}

void UseLists::listUses() {
  for (Whole::Block &block : whole.blocks) {
    block.firstUses = static_cast<uint32_t>(whole.usesBegin.size()) - 1;
    for (const kernel::OpcodeFlags &flags : whole.table.lists[block.steps].kinds)
      addList(usesOfStep(block, flags));
  }
  for (uint32_t i = 0; i < whole.connections.size(); ++i)
    if (whole.connections[i].isNetwork)
      whole.connections[i].putUses = addList(usesOfPut(i));
}

/// Reads the thread blocks and their steps.
class StepReader {
public:
  StepReader(const Call &call, const kernel::KernelArgs &geometry, Whole &whole)
      : program(call.program), call(call), arguments(geometry), whole(whole) {
    for (std::byte *&buffer : arguments.memory[0].buffers)
      buffer = &address;
  }

  void readSteps();

private:
  void readRank(uint32_t rank);
  void readBlock(uint32_t rank, const kernel::BlockImage &image, const bundle::fbs::Wait *waits);
  void readRuns(const kernel::StepImage &image, Workload::Step &step, uint32_t firstRun);
  void readWaits(const bundle::fbs::Wait *first, uint32_t count, uint32_t firstBlock, uint32_t firstAwaited);

  const core::Program &program;
  const Call &call;
  kernel::KernelArgs arguments;
  Whole &whole;
  std::byte address{}; ///< of all memory: the simulation uses no addresses
};

/// Makes the image of each rank, and copies what the simulation needs.
void StepReader::readSteps() {
  plan::ConnectionPool pool(program.ranks());
  const std::vector<uint32_t> numbers = pool.add(program, call.slots);
  const plan::ConnectionPool::Parts parts(pool.pieces(), std::vector<std::byte *>(program.ranks(), &address));
  const plan::ConnectionEnds ends(pool, numbers, parts);
  std::vector<std::byte> memory;
  for (uint32_t rank = 0; rank < program.ranks(); ++rank) {
    const plan::ProgramImage image(program, {rank, rank + 1}, call.slots.slots);
    memory.resize(image.bytes());
    const std::vector<std::byte> constants = image.constants(memory.data(), ends, arguments);
    std::copy(constants.begin(), constants.end(), memory.begin());
    readRank(rank);
  }
}

void StepReader::readRank(uint32_t rank) {
  const bundle::fbs::Wait *waits = program.rank(rank).waits.data();
  for (uint32_t i = program.firstThreadBlock(rank); i < program.firstThreadBlock(rank + 1); ++i)
    readBlock(rank, arguments.blocks[i - program.firstThreadBlock(rank)], waits);
}

/// `waits` are those of the rank.
void StepReader::readBlock(uint32_t rank, const kernel::BlockImage &image, const bundle::fbs::Wait *waits) {
  const auto number = static_cast<uint32_t>(whole.blocks.size());
  const auto firstAwaited = static_cast<uint32_t>(whole.awaited.size());
  StepTable &table = whole.table;
  table.begin();
  const auto firstWait = static_cast<uint32_t>(table.waits.size()), firstRun = static_cast<uint32_t>(table.runs.size());
  for (uint32_t i = 0; i < image.stepCount; ++i) {
    const kernel::StepImage &from = image.steps[i];
    const uint32_t first = static_cast<uint32_t>(table.waits.size()) - firstWait;
    table.steps.push_back({from.flags, from.isAwaited, from.count, first, from.waitCount, Whole::None, Whole::None, 0});
    readRuns(from, table.steps.back(), firstRun);
    readWaits(waits + from.firstWait, from.waitCount, program.firstThreadBlock(rank), firstAwaited);
  }
  whole.blocks.push_back({rank, table.end(), program.outgoing(number), program.incoming(number), image.in.batch,
                          firstAwaited, static_cast<uint32_t>(whole.awaited.size()) - firstAwaited, Whole::None});
}

/// Keeps the runs of a step if one of them has a short slot.
void StepReader::readRuns(const kernel::StepImage &image, Workload::Step &step, uint32_t firstRun) {
  std::vector<kernel::SlotRun> &runs = whole.table.runs;
  const auto first = static_cast<uint32_t>(runs.size());
  bool isShort = false;
  for (uint32_t done = 0; done < image.count; done += runs.back().slots) {
    kernel::SlotRun run = kernel::slotRun<kernel::Reach::Slots>(arguments, 0, call.elementBytes, image, done);
    run.source = nullptr, run.target = nullptr, run.atPeer = nullptr;
    isShort |= run.bytes < run.slots * arguments.slotElements * call.elementBytes;
    runs.push_back(run);
  }
  if (isShort)
    step.firstRun = first - firstRun, step.runCount = static_cast<uint32_t>(runs.size()) - first;
  else
    runs.resize(first);
}

/// Numbers the awaited blocks in the order in which this thread block first waits for them.
void StepReader::readWaits(const bundle::fbs::Wait *first, uint32_t count, uint32_t firstBlock, uint32_t firstAwaited) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t block = firstBlock + first[i].thread_block();
    const auto known = std::find(whole.awaited.begin() + firstAwaited, whole.awaited.end(), block);
    const auto number = static_cast<uint32_t>(known - whole.awaited.begin()) - firstAwaited;
    if (known == whole.awaited.end())
      whole.awaited.push_back(block);
    whole.table.waits.push_back({number, first[i].step()});
  }
}

} // namespace

std::optional<std::pair<uint32_t, uint32_t>> addRoutes(const Fabric &fabric, kernel::Protocol protocol, double wire,
                                                       Whole &whole) {
  const topology::ProtocolCosts &own = fabric.topology().costs.protocols[static_cast<size_t>(protocol)];
  std::vector<Route> routes;
  for (Workload::Connection &each : whole.connections) {
    const uint32_t from = whole.blocks[each.sender].rank, to = whole.blocks[each.receiver].rank;
    std::optional<Route> route = fabric.route(from, to);
    if (!route)
      return {{from, to}};
    each.isNetwork = route->kind == LinkKind::Network;
    each.hop = route->alpha + own.hop[static_cast<size_t>(route->kind)];
    routes.push_back(std::move(*route));
  }
  for (const Resource &resource : fabric.resources())
    whole.capacities.push_back(resource.capacity);
  UseLists(fabric, routes, wire, whole).listUses();
  return {};
}

std::string readWhole(const Call &call, const Fabric &fabric, const kernel::KernelArgs &arguments, double wire,
                      Whole &whole) {
  StepReader(call, arguments, whole).readSteps();
  for (const core::Connection &each : call.program.connections())
    whole.connections.push_back({each.sender, each.receiver, false, 0, Whole::None});
  if (const auto ends = addRoutes(fabric, call.slots.protocol, wire, whole))
    return "program '" + call.program.info().name()->str() + "' sends from rank " + std::to_string(ends->first) +
           " to rank " + std::to_string(ends->second) + ", but topology '" + fabric.topology().name +
           "' has no link or switch between them";
  return {};
}

} // namespace gc3::simulate
