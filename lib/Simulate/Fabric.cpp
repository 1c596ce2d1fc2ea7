// SPDX-License-Identifier: Apache-2.0
// Numbers the resources of a topology. A switch has the resources of its ports in pairs (out, in), then those of its
// trunks.
#include "gc3/Simulate/Fabric.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace gc3::simulate {

using topology::Link;
using topology::LinkKind;
using topology::Switch;

/// How good a link or a switch is as the way between two ranks it joins; less is better. A network is for ranks that
/// nothing else joins, even if its cards are faster.
using Preference = std::pair<bool, double>;

template <class LinkOrSwitch>
static Preference preferenceOf(const LinkOrSwitch &way) {
  return {way.kind == LinkKind::Network, way.beta};
}

/// Returns bytes per microsecond for a time in microseconds per million bytes. Returns a number above 0: a transfer at
/// the rate 0 would never end.
static double rateOf(double beta) {
  return std::max(1e6 / beta, std::numeric_limits<double>::min());
}

Fabric::Fabric(const topology::Topology &topology) : whole(topology), boundsOf(boundsOfLinks(topology)) {
  addLinks();
  addBounds();
  addSwitches();
  if (std::isfinite(whole.costs.processors.count))
    ofProcessors = add(ResourceKind::Processors, 0, 0, whole.costs.processors.count);
  if (!std::isfinite(whole.costs.memory))
    return;
  firstMemory = static_cast<uint32_t>(all.size());
  for (uint32_t rank = 0; rank < whole.ranks; ++rank)
    add(ResourceKind::Memory, rank, 0, whole.costs.memory * 1000);
}

uint32_t Fabric::add(ResourceKind kind, uint32_t owner, uint32_t part, double capacity) {
  all.push_back({kind, owner, part, capacity});
  return static_cast<uint32_t>(all.size()) - 1;
}

void Fabric::addLinks() {
  resourceOfLink.assign(whole.links.size(), None);
  for (uint32_t number = 0; number < whole.linkCount(); ++number) {
    const Link &link = whole.links[number];
    if (link.ofSwitch != Link::NoSwitch)
      continue;
    linkOrder.push_back(number);
    if (link.beta > 0)
      resourceOfLink[number] = add(ResourceKind::Link, number, 0, rateOf(link.beta));
  }
  std::stable_sort(linkOrder.begin(), linkOrder.end(), [&](uint32_t a, uint32_t b) {
    const Link &left = whole.links[a], &right = whole.links[b];
    return std::tuple(left.from, left.to, preferenceOf(left)) < std::tuple(right.from, right.to, preferenceOf(right));
  });
}

/// A bound of b chunks per round has b times the rate at which its fastest link moves the chunks of one round.
void Fabric::addBounds() {
  resourceOfBound.assign(whole.boundCount(), None);
  uint32_t number = 0; // as in the file, which does not list the bounds of switches
  for (uint32_t bound = 0; bound < whole.boundCount(); ++bound) {
    if (whole.boundSwitch[bound] != Link::NoSwitch)
      continue;
    double chunk = topology::Unlimited; // microseconds per million bytes of one chunk per round
    for (uint32_t i = whole.boundBegin[bound]; i < whole.boundBegin[bound + 1]; ++i) {
      const Link &link = whole.links[whole.boundLinks[i]];
      chunk = std::min(chunk, link.beta * link.bandwidth);
    }
    if (chunk > 0 && std::isfinite(chunk))
      resourceOfBound[bound] = add(ResourceKind::Bound, number, 0, whole.boundBandwidth[bound] * rateOf(chunk));
    ++number;
  }
}

void Fabric::addSwitches() {
  std::vector<std::pair<uint32_t, RankPort>> byRank;
  for (uint32_t number = 0; number < whole.switches.size(); ++number) {
    const Switch &each = whole.switches[number];
    for (uint32_t port = 0; port < each.ports(); ++port)
      for (uint32_t i = each.portBegin[port]; i < each.portBegin[port + 1]; ++i)
        byRank.push_back({each.portRanks[i], {number, port}});
    firstOfSwitch.push_back(each.beta > 0 ? static_cast<uint32_t>(all.size()) : None);
    if (each.beta <= 0)
      continue;
    for (uint32_t port = 0; port < each.ports(); ++port)
      for (ResourceKind kind : {ResourceKind::PortOut, ResourceKind::PortIn})
        add(kind, number, port, rateOf(each.beta));
    for (uint32_t trunk = 0; trunk < each.trunks(); ++trunk)
      for (ResourceKind kind : {ResourceKind::TrunkOut, ResourceKind::TrunkIn})
        add(kind, number, trunk, each.trunkBandwidth * rateOf(each.beta * each.bandwidth));
  }
  std::stable_sort(byRank.begin(), byRank.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  portsBegin.assign(whole.ranks + 1, 0);
  for (const auto &[rank, port] : byRank) {
    ++portsBegin[rank + 1];
    ports.push_back(port);
  }
  for (uint32_t rank = 0; rank < whole.ranks; ++rank)
    portsBegin[rank + 1] += portsBegin[rank];
}

uint32_t Fabric::findLink(uint32_t from, uint32_t to) const {
  const auto found = std::lower_bound(linkOrder.begin(), linkOrder.end(), std::pair(from, to),
                                      [&](uint32_t link, const std::pair<uint32_t, uint32_t> &ends) {
                                        return std::pair(whole.links[link].from, whole.links[link].to) < ends;
                                      });
  const bool isThere = found != linkOrder.end() && whole.links[*found].from == from && whole.links[*found].to == to;
  return isThere ? *found : None;
}

const Fabric::RankPort *Fabric::findPort(uint32_t rank, uint32_t ofSwitch) const {
  const auto first = ports.begin() + portsBegin[rank], last = ports.begin() + portsBegin[rank + 1];
  const auto found = std::lower_bound(first, last, ofSwitch,
                                      [](const RankPort &port, uint32_t number) { return port.ofSwitch < number; });
  return found != last && found->ofSwitch == ofSwitch ? &*found : nullptr;
}

Route Fabric::overLink(uint32_t number) const {
  const Link &link = whole.links[number];
  Route route{link.kind, link.alpha, {}};
  if (resourceOfLink[number] != None)
    route.resources.push_back(resourceOfLink[number]);
  for (uint32_t i = boundsOf.begin[number]; i < boundsOf.begin[number + 1]; ++i)
    if (const uint32_t bound = resourceOfBound[boundsOf.bounds[i]]; bound != None)
      route.resources.push_back(bound);
  return route;
}

/// Bounds outside the switch that list a link of the switch do not apply: a switch has other limits.
Route Fabric::overSwitch(uint32_t number, uint32_t portFrom, uint32_t portTo) const {
  const Switch &over = whole.switches[number];
  Route route{over.kind, over.alpha, {}};
  const uint32_t first = firstOfSwitch[number];
  if (first == None)
    return route;
  route.resources = {first + 2 * portFrom, first + 2 * portTo + 1};
  if (over.trunkPorts == 0)
    return route;
  const uint32_t trunkFrom = portFrom / over.trunkPorts, trunkTo = portTo / over.trunkPorts;
  const uint32_t firstTrunk = first + 2 * over.ports();
  if (trunkFrom != trunkTo)
    route.resources.insert(route.resources.end(), {firstTrunk + 2 * trunkFrom, firstTrunk + 2 * trunkTo + 1});
  return route;
}

std::optional<Route> Fabric::route(uint32_t from, uint32_t to) const {
  const uint32_t link = findLink(from, to);
  std::optional<Preference> best;
  if (link != None)
    best = preferenceOf(whole.links[link]);
  const RankPort *sender = nullptr, *receiver = nullptr;
  for (uint32_t i = portsBegin[from]; i < portsBegin[from + 1]; ++i) {
    const RankPort *other = findPort(to, ports[i].ofSwitch);
    const Preference each = preferenceOf(whole.switches[ports[i].ofSwitch]);
    if (other && (!best || each < *best))
      best = each, sender = &ports[i], receiver = other;
  }
  if (sender)
    return overSwitch(sender->ofSwitch, sender->port, receiver->port);
  return link == None ? std::nullopt : std::optional(overLink(link));
}

std::string Fabric::nameOf(uint32_t number) const {
  const Resource &resource = all[number];
  const auto ranksOf = [&](uint32_t port) {
    const Switch &over = whole.switches[resource.owner];
    std::string text;
    for (uint32_t i = over.portBegin[port]; i < over.portBegin[port + 1]; ++i)
      text += (text.empty() ? " of rank " : ", ") + std::to_string(over.portRanks[i]);
    return text;
  };
  switch (resource.kind) {
  case ResourceKind::Link: {
    const Link &link = whole.links[resource.owner];
    return std::string(name(link.kind)) + " link from rank " + std::to_string(link.from) + " to rank " +
           std::to_string(link.to);
  }
  case ResourceKind::Bound: return "bound " + std::to_string(resource.owner);
  case ResourceKind::PortOut:
  case ResourceKind::PortIn:
    return std::string(name(whole.switches[resource.owner].kind)) + " port" + ranksOf(resource.part) +
           (resource.kind == ResourceKind::PortOut ? ", out" : ", in");
  case ResourceKind::TrunkOut:
  case ResourceKind::TrunkIn:
    return std::string(name(whole.switches[resource.owner].kind)) + " trunk " + std::to_string(resource.part) +
           (resource.kind == ResourceKind::TrunkOut ? ", out" : ", in");
  case ResourceKind::Memory: return "memory of rank " + std::to_string(resource.owner);
  case ResourceKind::Processors: return "processors";
  }
  return "";
}

} // namespace gc3::simulate
