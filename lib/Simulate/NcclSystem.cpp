// SPDX-License-Identifier: Apache-2.0
// Finds machines, bandwidths and channels as NCCL's topology search does (NCCL 2.30.7, src/graph/search.cc and topo.h).
// NCCL searches for paths; this file only divides the bandwidth of a GPU's port and of the network cards by the speeds
// that NCCL tries.
#include "gc3/Simulate/NcclModel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include <algorithm>
#include <cmath>

namespace gc3::simulate {

using topology::Link;
using topology::LinkKind;
using topology::Switch;
using topology::Topology;

namespace {

constexpr uint32_t MostChannels = 32, MostNvlsChannels = 32;

/// Bandwidths of a channel in GB/s that NCCL tries, in its order.
struct Speeds {
  llvm::ArrayRef<double> inside, between;
};
constexpr double VoltaInside[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr double VoltaBetween[] = {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12};
constexpr double HopperInside[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr double HopperBetween[] = {48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12};
constexpr double BlackwellInside[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
constexpr double BlackwellBetween[] = {96, 86,   80, 48, 45.1, 42, 40,  30,  24,   22,
                                       20, 17.5, 15, 12, 6,    3,  2.4, 1.2, 0.24, 0.12};

Speeds speedsOf(GpuGeneration generation) {
  switch (generation) {
  case GpuGeneration::Volta:
  case GpuGeneration::Ampere: return {VoltaInside, VoltaBetween};
  case GpuGeneration::Hopper: return {HopperInside, HopperBetween};
  case GpuGeneration::Blackwell: return {BlackwellInside, BlackwellBetween};
  }
  return {};
}

/// NCCL's figure for all NVLinks of a GPU, in GB/s.
double nvLinksOf(GpuGeneration generation) {
  switch (generation) {
  case GpuGeneration::Volta: return 6 * 20;
  case GpuGeneration::Ampere: return 12 * 20;
  case GpuGeneration::Hopper: return 18 * 20.6;
  case GpuGeneration::Blackwell: return 18 * 40.1;
  }
  return 0;
}

/// The limits are between the data sheets' 150, 300, 450 and 900 GB/s, with room for measured figures.
GpuGeneration generationOf(double port) {
  return port < 180   ? GpuGeneration::Volta
         : port < 330 ? GpuGeneration::Ampere
         : port < 600 ? GpuGeneration::Hopper
                      : GpuGeneration::Blackwell;
}

/// Converts microseconds per million bytes to GB/s.
double linkRate(double beta) {
  return beta > 0 ? 1000 / beta : topology::Unlimited;
}

/// What all ports of a switch do at the same time: send to the next port, to each other port, or out of the trunk.
enum class Pattern : uint8_t { Ring, AllToAll, Away };

/// Returns the number of ports of a trunk whose data leave it, on average.
double portsInTrunk(const Switch &of, Pattern pattern) {
  const double ports = of.ports(), ofTrunk = of.trunkPorts;
  switch (pattern) {
  case Pattern::Ring: return 1; // it leaves each trunk once
  case Pattern::AllToAll: return ofTrunk * (ports - ofTrunk) / (ports - 1);
  case Pattern::Away: return ofTrunk;
  }
  return 0;
}

/// Returns the GB/s of a port that its trunk permits.
double portRate(const Switch &of, Pattern pattern) {
  const double rate = linkRate(of.beta);
  if (of.trunks() < 2)
    return rate;
  return std::min(rate, rate * of.trunkBandwidth / of.bandwidth / portsInTrunk(of, pattern));
}

bool isNvLink(LinkKind kind) {
  return kind == LinkKind::NvLink || kind == LinkKind::NvSwitch || kind == LinkKind::Xgmi;
}

bool isInside(LinkKind kind) {
  return kind != LinkKind::Network;
}

/// Groups ranks by the links and switches of some kinds.
llvm::EquivalenceClasses<uint32_t> groupBy(const Topology &topology, bool (*counts)(LinkKind)) {
  llvm::EquivalenceClasses<uint32_t> groups;
  for (uint32_t rank = 0; rank < topology.ranks; ++rank)
    groups.insert(rank);
  for (const Link &link : topology.links)
    if (link.ofSwitch == Link::NoSwitch && counts(link.kind))
      groups.unionSets(link.from, link.to);
  for (const Switch &each : topology.switches)
    if (counts(each.kind))
      for (const uint32_t rank : each.portRanks)
        groups.unionSets(each.portRanks[0], rank);
  return groups;
}

/// Bandwidths of a rank's links in its machine, in GB/s: to other ranks, and from them.
struct Port {
  double out = 0, in = 0;
};

/// Returns the bandwidth of the slowest rank, counting only links that are of NVLink, or only others.
double findPort(const Topology &topology, bool ofNvLink, Pattern pattern) {
  std::vector<Port> ports(topology.ranks);
  for (const Link &link : topology.links)
    if (link.ofSwitch == Link::NoSwitch && link.kind != LinkKind::Network && isNvLink(link.kind) == ofNvLink) {
      ports[link.from].out += linkRate(link.beta);
      ports[link.to].in += linkRate(link.beta);
    }
  for (const Switch &each : topology.switches) {
    if (each.kind == LinkKind::Network || isNvLink(each.kind) != ofNvLink)
      continue;
    for (uint32_t port = 0; port < each.ports(); ++port)
      for (uint32_t i = each.portBegin[port]; i < each.portBegin[port + 1]; ++i) {
        const double rate = portRate(each, pattern) / (each.portBegin[port + 1] - each.portBegin[port]);
        ports[each.portRanks[i]].out += rate;
        ports[each.portRanks[i]].in += rate;
      }
  }
  double slowest = topology::Unlimited;
  for (const Port &port : ports)
    slowest = std::min({slowest, port.out, port.in});
  return slowest;
}

/// Finds the network cards of the first machine: ports of switches of a network, or ranks with links of a network.
void findCards(const Topology &topology, const llvm::EquivalenceClasses<uint32_t> &machines, NcclSystem &system) {
  const auto isFirst = [&](uint32_t rank) { return machines.isEquivalent(0, rank); };
  for (const Switch &each : topology.switches)
    if (each.kind == LinkKind::Network)
      for (uint32_t port = 0; port < each.ports(); ++port)
        if (isFirst(each.portRanks[each.portBegin[port]])) {
          ++system.cards;
          system.card = portRate(each, Pattern::Away);
        }
  if (system.cards != 0)
    return;
  std::vector<double> out(topology.ranks);
  for (const Link &link : topology.links)
    if (link.kind == LinkKind::Network && isFirst(link.from) && !isFirst(link.to))
      out[link.from] = std::max(out[link.from], linkRate(link.beta));
  for (const double rate : out)
    if (rate > 0) {
      ++system.cards;
      system.card = std::max(system.card, rate);
    }
}

/// Returns the number of channels of this speed that ports and cards have room for. A channel uses one card.
uint32_t channelsAt(const NcclSystem &system, double speed, uint32_t most) {
  double channels = most;
  if (system.perMachine > 1)
    channels = std::min(channels, std::floor(system.port / speed));
  if (system.machines > 1)
    channels = std::min(channels, system.cards * std::floor(system.card / speed));
  return static_cast<uint32_t>(channels);
}

/// Returns the channels with the largest bandwidth together. NCCL tries slower channels while they are at least half as
/// fast as the best ones. If none fits, returns one channel as fast as the hardware.
NcclGraph search(const NcclSystem &system, uint32_t most) {
  const Speeds speeds = speedsOf(system.generation);
  NcclGraph best;
  for (const double speed : system.machines > 1 ? speeds.between : speeds.inside) {
    if (best.channels != 0 && speed <= best.inside * 0.49)
      break;
    const uint32_t channels = channelsAt(system, speed, most);
    if (channels * speed > best.channels * best.inside)
      best = {channels, speed, speed};
  }
  if (best.channels == 0) {
    const double speed = system.machines > 1 ? system.card : system.port;
    best = {speed > 0 ? 1u : 0u, speed, speed};
  }
  return best;
}

/// Splits fast channels in two, as NCCL does.
void splitChannels(NcclGraph &graph, GpuGeneration generation) {
  if (graph.channels == 0 || graph.inside < 25 ||
      (generation > GpuGeneration::Ampere && graph.inside < 50 && graph.channels > 4))
    return;
  const uint32_t channels = std::min(2 * graph.channels, MostChannels);
  const uint32_t parts = (channels + graph.channels - 1) / graph.channels;
  graph = {channels, graph.inside / parts, graph.between / parts};
}

/// Trees have the channels of rings. Over a network they may be faster inside a machine: up to the first speed that is
/// at least twice the network's.
NcclGraph treesFrom(const NcclSystem &system) {
  NcclGraph trees = system.rings;
  if (system.machines == 1)
    return trees;
  for (const double speed : llvm::reverse(speedsOf(system.generation).between))
    if (speed > trees.inside && trees.inside < 2 * trees.between && speed * trees.channels <= system.port)
      trees.inside = speed;
  return trees;
}

/// Each GPU is the head of one channel. NCCL raises the speed between machines, which also limits one machine.
NcclGraph findNvls(const NcclSystem &system) {
  if (!system.hasNvSwitch || system.generation < GpuGeneration::Hopper || system.perMachine < 2)
    return {};
  const uint32_t heads = std::min(MostNvlsChannels, system.perMachine);
  const Speeds speeds = speedsOf(system.generation);
  NcclGraph nvls = {heads, 0, 0};
  for (const double speed : llvm::reverse(system.machines > 1 ? speeds.between : speeds.inside)) {
    const bool fitsCards = system.machines == 1 || channelsAt(system, speed, heads) == heads;
    if (heads * speed <= system.port && fitsCards)
      nvls.inside = nvls.between = speed;
    else if (nvls.between < 2 * nvls.inside && (system.machines == 1 || speed <= system.card * system.cards / heads))
      nvls.between = speed;
  }
  return nvls.inside > 0 ? nvls : NcclGraph();
}

} // namespace

NcclSystem findNcclSystem(const Topology &topology) {
  NcclSystem system;
  const llvm::EquivalenceClasses<uint32_t> machines = groupBy(topology, isInside);
  system.ranks = topology.ranks, system.machines = machines.getNumClasses();
  system.perMachine = system.ranks / std::max(system.machines, 1u);
  // NVLinks between some GPUs only, such as bridges of two, do not help: the slowest hop limits a ring.
  const double nvLinks = findPort(topology, true, Pattern::Ring);
  system.hasNvLink = system.perMachine > 1 && groupBy(topology, isNvLink).getNumClasses() == system.machines;
  const auto portFor = [&](Pattern pattern) {
    return system.perMachine > 1 ? findPort(topology, system.hasNvLink, pattern) : 0;
  };
  system.port = portFor(Pattern::Ring), system.share = portFor(Pattern::AllToAll);
  const auto isSwitch = [](const auto &each) { return each.kind == LinkKind::NvSwitch; };
  system.hasNvSwitch = system.hasNvLink && (std::any_of(topology.switches.begin(), topology.switches.end(), isSwitch) ||
                                            std::any_of(topology.links.begin(), topology.links.end(), isSwitch));
  system.generation = generationOf(nvLinks > 0 ? nvLinks : system.port);
  system.port = std::min(system.port, nvLinksOf(system.generation));
  system.share = std::min(system.share, system.port);
  findCards(topology, machines, system);
  system.rings = search(system, MostChannels);
  splitChannels(system.rings, system.generation);
  system.trees = treesFrom(system);
  system.nvls = findNvls(system);
  return system;
}

} // namespace gc3::simulate
