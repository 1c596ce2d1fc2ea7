// SPDX-License-Identifier: Apache-2.0
#include "Sharing.h"
#include <algorithm>
#include <cassert>
#include <limits>

namespace gc3::simulate {

static constexpr uint32_t mostUses = 12; ///< places of a transfer in the lists of its resources

Sharing::Sharing(std::vector<double> capacities, uint32_t actors)
    : transfers(actors), places(static_cast<size_t>(actors) * mostUses), moved(capacities.size()), fixed(actors) {
  resources.resize(capacities.size());
  for (size_t i = 0; i < capacities.size(); ++i)
    resources[i].capacity = capacities[i];
  for (uint32_t actor = 0; actor < actors; ++actor)
    transfers[actor].firstPlace = actor * mostUses;
}

/// Notes that the demand on a resource has changed.
void Sharing::touch(uint32_t resource, bool wasExceeded) {
  if (wasExceeded || resources[resource].isExceeded())
    changedResources.push_back(resource);
}

void Sharing::add(uint32_t actor, std::span<const ResourceUse> uses, double limit, double bytes, double now) {
  assert(uses.size() <= mostUses);
  Transfer &transfer = transfers[actor];
  transfer.limitedBy = None;
  for (const ResourceUse &use : uses)
    if (const double most = resources[use.resource].capacity / use.weight; most < limit)
      limit = most, transfer.limitedBy = use.resource;
  transfer.uses = uses, transfer.limit = limit, transfer.remaining = bytes, transfer.since = now;
  transfer.rate = 0, transfer.restrictedBy = transfer.slowest = None, transfer.slowestTime = 0;
  for (uint32_t i = 0; i < uses.size(); ++i) {
    State &resource = resources[uses[i].resource];
    const bool wasExceeded = resource.isExceeded();
    places[transfer.firstPlace + i] = static_cast<uint32_t>(resource.users.size());
    resource.users.push_back({actor, i});
    resource.demand += limit * uses[i].weight;
    moved[uses[i].resource] += bytes * uses[i].weight;
    touch(uses[i].resource, wasExceeded);
  }
  added.push_back(actor);
}

void Sharing::remove(uint32_t actor, double now) {
  Transfer &transfer = transfers[actor];
  noteRate(transfer, now);
  for (uint32_t i = 0; i < transfer.uses.size(); ++i) {
    State &resource = resources[transfer.uses[i].resource];
    const bool wasExceeded = resource.isExceeded();
    const uint32_t place = places[transfer.firstPlace + i];
    const auto last = resource.users.back();
    resource.users[place] = last;
    places[transfers[last.first].firstPlace + last.second] = place;
    resource.users.pop_back();
    resource.demand = resource.users.empty() ? 0 : resource.demand - transfer.limit * transfer.uses[i].weight;
    touch(transfer.uses[i].resource, wasExceeded);
  }
  transfer.uses = {}, transfer.limit = 0;
}

/// Collects the transfers whose rates can change: the new ones, and all that share a resource in excess demand with one
/// that changes.
void Sharing::reach() {
  reached.clear(), reachedResources.clear();
  ++visits;
  const auto reachTransfer = [&](uint32_t actor) {
    if (transfers[actor].visit == visits)
      return;
    transfers[actor].visit = visits;
    reached.push_back(actor);
  };
  const auto reachResource = [&](uint32_t number) {
    if (resources[number].visit == visits)
      return;
    resources[number].visit = visits;
    if (resources[number].isExceeded())
      reachedResources.push_back(number);
    for (const auto &[actor, use] : resources[number].users)
      reachTransfer(actor);
  };
  for (uint32_t actor : added)
    if (transfers[actor].limit > 0)
      reachTransfer(actor);
  for (uint32_t resource : changedResources)
    reachResource(resource);
  for (size_t next = 0; next < reached.size(); ++next)
    for (const ResourceUse &use : transfers[reached[next]].uses)
      if (resources[use.resource].isExceeded())
        reachResource(use.resource);
}

/// Returns the rate at which the first of the resources is full, if all open transfers have it.
double Sharing::fillLevel() const {
  double level = std::numeric_limits<double>::infinity();
  for (uint32_t number : reachedResources)
    level = std::min(level, resources[number].level());
  return level;
}

/// Computes the rates of the transfers reached. In each round, the open transfers rise to the lowest level: that of a
/// full resource, or their own limit.
void Sharing::fill() {
  for (uint32_t number : reachedResources) {
    State &resource = resources[number];
    resource.free = resource.capacity, resource.weights = 0;
    for (const auto &[actor, use] : resource.users)
      resource.weights += transfers[actor].uses[use].weight;
  }
  open = reached;
  for (double filled = 0; !open.empty();) {
    const double level = std::max(filled, fillLevel()); // levels only rise, except by rounding errors
    const auto isLimited = [&](uint32_t actor) { return transfers[actor].limit <= level; };
    if (std::any_of(open.begin(), open.end(), isLimited)) {
      fixIf(isLimited, [&](uint32_t actor) { return Fixed{transfers[actor].limit, transfers[actor].limitedBy}; });
      continue;
    }
    filled = level;
    for (uint32_t number : reachedResources)
      resources[number].isFull = resources[number].level() <= level * (1 + tolerance);
    const auto fullOf = [&](uint32_t actor) {
      for (const ResourceUse &use : transfers[actor].uses)
        if (resources[use.resource].isFull)
          return use.resource;
      return None;
    };
    fixIf([&](uint32_t actor) { return fullOf(actor) != None; },
          [&](uint32_t actor) {
            return Fixed{level, fullOf(actor)};
          });
    for (uint32_t number : reachedResources)
      resources[number].isFull = false;
  }
}

/// Fixes the rates of the open transfers for which `condition` is true.
template <typename Condition, typename Rate>
void Sharing::fixIf(Condition condition, Rate rate) {
  size_t kept = 0;
  for (uint32_t actor : open)
    if (condition(actor)) {
      fixed[actor] = rate(actor);
      for (const ResourceUse &use : transfers[actor].uses)
        resources[use.resource].free -= fixed[actor].rate * use.weight, resources[use.resource].weights -= use.weight;
    } else {
      open[kept++] = actor;
    }
  open.resize(kept);
}

/// Keeps in mind what restricted the transfer for the longest time since its rate last changed.
void Sharing::noteRate(Transfer &transfer, double now) {
  const double time = now - transfer.since;
  if (transfer.rate > 0 && time > transfer.slowestTime)
    transfer.slowestTime = time, transfer.slowest = transfer.restrictedBy;
}

void Sharing::change(uint32_t actor, double now, std::vector<std::pair<uint32_t, double>> &ends) {
  Transfer &transfer = transfers[actor];
  const Fixed &next = fixed[actor];
  if (next.rate == transfer.rate)
    return;
  noteRate(transfer, now);
  transfer.remaining = std::max(0.0, transfer.remaining - transfer.rate * (now - transfer.since));
  transfer.rate = next.rate, transfer.since = now, transfer.restrictedBy = next.restrictedBy;
  ends.push_back({actor, now + transfer.remaining / transfer.rate});
}

void Sharing::settle(double now, std::vector<std::pair<uint32_t, double>> &ends) {
  if (added.empty() && changedResources.empty())
    return;
  reach();
  fill();
  for (uint32_t actor : reached)
    change(actor, now, ends);
  added.clear(), changedResources.clear();
}

} // namespace gc3::simulate
