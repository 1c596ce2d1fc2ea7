// SPDX-License-Identifier: Apache-2.0
// The latency is the launch plus the longest path of messages. The time per byte is that of the part of the topology
// whose traffic takes longest. Both count less than the simulator: no steps, no memory, no thread blocks' rates.
//
// The bounds for every program: some message crosses the fastest hop; a rank's data leaves over all its links and ports
// at once; and all ranks together send the bound's slots over all links and ports.
#include "MachineCosts.h"
#include "gc3/Simulate/Carries.h"
#include <algorithm>
#include <numeric>

using namespace gc3;
using namespace gc3::driver;
using topology::Link;
using topology::Topology;

/// Bytes on a link for a byte of data, by protocol: LL has 4 bytes of flags for 4 of data, LL128 8 for 120.
static constexpr double wireBytes[topology::ProtocolCount] = {1, 2, 128.0 / 120};

std::string driver::findMisfit(const ir::Program &program, const simulate::Fabric &fabric) {
  const Topology &topology = fabric.topology();
  const std::string subject = "program '" + program.info->name + "' ";
  if (program.ranks() != topology.ranks)
    return subject + "is for " + std::to_string(program.ranks()) + " ranks, but topology '" + topology.name + "' has " +
           std::to_string(topology.ranks);
  for (const emit::Traffic &each : emit::trafficOf(program))
    if (!fabric.route(each.from, each.to))
      return subject + "sends from rank " + std::to_string(each.from) + " to rank " + std::to_string(each.to) +
             ", but topology '" + topology.name + "' has no link or switch between them";
  return {};
}

std::string driver::whySimple(const ir::Program &program, const simulate::Fabric &fabric) {
  const auto protocol = static_cast<kernel::Protocol>(program.info->protocol);
  for (const emit::Traffic &each : emit::trafficOf(program))
    if (std::string reason = simulate::whyNotCarried(fabric, protocol, each.from, each.to); !reason.empty())
      return reason;
  return {};
}

namespace {

/// Bytes per microsecond that each rank can send and receive at most, over all its links and ports. A shared port
/// counts fully for each of its ranks.
struct Capacities {
  std::vector<double> out, in;

  explicit Capacities(const Topology &topology) : out(topology.ranks), in(topology.ranks) {
    for (const Link &link : topology.links)
      if (link.ofSwitch == Link::NoSwitch)
        out[link.from] += 1e6 / link.beta, in[link.to] += 1e6 / link.beta; // infinite if beta is 0
    for (const topology::Switch &each : topology.switches)
      for (const uint32_t rank : each.portRanks)
        out[rank] += 1e6 / each.beta, in[rank] += 1e6 / each.beta;
  }
};

/// Returns the largest quotient of a rank's slots and its capacity, and of the sum of slots and that of capacities.
double slowest(const std::vector<uint64_t> &slots, uint64_t all, const std::vector<double> &capacities) {
  double most = static_cast<double>(all) / std::accumulate(capacities.begin(), capacities.end(), 0.0);
  for (size_t rank = 0; rank < slots.size(); ++rank)
    most = std::max(most, slots[rank] == 0 ? 0 : static_cast<double>(slots[rank]) / capacities[rank]);
  return most;
}

double smallestAlpha(const Topology &topology) {
  double least = topology::Unlimited;
  for (const Link &link : topology.links)
    least = std::min(least, link.alpha);
  for (const topology::Switch &each : topology.switches)
    least = std::min(least, each.alpha);
  return least;
}

} // namespace

emit::MachineCost driver::machineCost(const ir::Program &program, const emit::Cost &cost,
                                      const simulate::Fabric &fabric) {
  const Topology &topology = fabric.topology();
  emit::MachineCost result;
  result.machine = topology.name, result.whySimple = whySimple(program, fabric);
  result.protocol = result.whySimple.empty() ? program.info->protocol : ir::Protocol::Simple;
  const auto protocol = static_cast<size_t>(result.protocol);
  const auto call = static_cast<double>(std::max<uint64_t>(cost.slotsOfCall, 1)); // slots
  result.latency = topology.costs.launch + emit::longestPath(program, [&](uint32_t from, uint32_t to) {
                     const simulate::Route route = *fabric.route(from, to);
                     return route.alpha + topology.costs.protocols[protocol].hop[static_cast<size_t>(route.kind)];
                   });
  std::vector<double> slots(fabric.resources().size());
  for (const emit::Traffic &each : emit::trafficOf(program)) {
    const simulate::Route route = *fabric.route(each.from, each.to);
    for (const uint32_t resource : route.resources)
      slots[resource] += static_cast<double>(each.slots);
  }
  for (uint32_t i = 0; i < slots.size(); ++i) {
    const double time = 1e6 * wireBytes[protocol] * slots[i] / call / fabric.resources()[i].capacity;
    if (time > result.perMegabyte)
      result.perMegabyte = time, result.busiest = fabric.nameOf(i);
  }
  if (cost.bounds) {
    const Capacities capacities(topology);
    result.leastLatency = topology.costs.launch + (cost.bounds->messages != 0 ? smallestAlpha(topology) : 0);
    result.leastPerMegabyte = 1e6 / call *
                              std::max(slowest(cost.bounds->slotsOut, cost.bounds->slotsSent, capacities.out),
                                       slowest(cost.bounds->slotsIn, cost.bounds->slotsSent, capacities.in));
  }
  return result;
}
