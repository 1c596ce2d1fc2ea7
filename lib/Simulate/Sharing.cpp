// SPDX-License-Identifier: Apache-2.0
#include "Sharing.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace gc3::simulate {

Sharing::Sharing(const std::vector<double> &capacities, uint32_t actors, size_t largestUses)
    : mostUses(largestUses), transfers(actors), places(actors * mostUses), moved(capacities.size()), fixed(actors) {
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

void Sharing::fix(uint32_t actor, double rate, uint32_t restrictedBy) {
  fixed[actor] = {rate, restrictedBy, visits};
  for (const ResourceUse &use : transfers[actor].uses)
    resources[use.resource].free -= rate * use.weight, resources[use.resource].weights -= use.weight;
}

/// Fixes the rates of all open transfers whose limit is at most `level`. Returns the smallest limit of the others.
double Sharing::fixLimited(double level) {
  size_t kept = 0;
  double least = std::numeric_limits<double>::infinity();
  for (uint32_t actor : open) {
    const Transfer &transfer = transfers[actor];
    if (fixed[actor].visit == visits)
      continue;
    if (transfer.limit <= level)
      fix(actor, transfer.limit, transfer.limitedBy);
    else
      least = std::min(least, transfer.limit), open[kept++] = actor;
  }
  open.resize(kept);
  return least;
}

/// Computes the rates of the transfers reached. All rise at the same pace. When a resource is full, its transfers keep
/// their rate, and so does a transfer that reaches its own limit. The level of a resource, at which it is full, only
/// rises while others are fixed. So the first one in the heap whose level is still the same is the next to be full.
void Sharing::fill() {
  const auto later = [](const Level &a, const Level &b) {
    return a.rate > b.rate || (a.rate == b.rate && a.resource > b.resource);
  };
  levels.clear();
  for (uint32_t number : reachedResources) {
    State &resource = resources[number];
    resource.free = resource.capacity, resource.weights = 0;
    for (const auto &[actor, use] : resource.users)
      resource.weights += transfers[actor].uses[use].weight;
    levels.push_back({resource.level(), number});
  }
  std::make_heap(levels.begin(), levels.end(), later);
  open = reached;
  double leastLimit = fixLimited(-1), filled = 0;
  while (!levels.empty()) {
    std::pop_heap(levels.begin(), levels.end(), later);
    const Level next = levels.back();
    levels.pop_back();
    const State &resource = resources[next.resource];
    if (resource.weights <= fewestWeights)
      continue;                                              // no open transfer uses it
    const double level = std::max(filled, resource.level()); // levels only rise, except by rounding errors
    if (level > next.rate && !levels.empty() && level > levels.front().rate) {
      levels.push_back({level, next.resource});
      std::push_heap(levels.begin(), levels.end(), later);
    } else if (leastLimit <= level) {
      leastLimit = fixLimited(level);
      levels.push_back({resource.level(), next.resource});
      std::push_heap(levels.begin(), levels.end(), later);
    } else {
      filled = level;
      for (const auto &[actor, use] : resource.users)
        if (fixed[actor].visit != visits)
          fix(actor, level, next.resource);
    }
  }
  fixLimited(std::numeric_limits<double>::infinity());
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
  if (std::abs(next.rate - transfer.rate) <= tolerance * transfer.rate)
    return;
  noteRate(transfer, now);
  transfer.remaining = std::max(0.0, transfer.remaining - transfer.rate * (now - transfer.since));
  transfer.rate = next.rate, transfer.since = now, transfer.restrictedBy = next.restrictedBy;
  ends.push_back({actor, now + transfer.remaining / transfer.rate});
}

void Sharing::setPatience(double now) {
  constexpr size_t many = 64;
  constexpr double share = 0.02;
  postponable = 0;
  if (reached.size() <= many)
    return;
  for (uint32_t actor : reached) {
    const Transfer &transfer = transfers[actor];
    postponable += std::max(0.0, transfer.remaining / transfer.rate - (now - transfer.since));
  }
  postponable *= share / static_cast<double>(reached.size());
}

void Sharing::settle(double now, std::vector<std::pair<uint32_t, double>> &ends) {
  if (added.empty() && changedResources.empty())
    return;
  reach();
  fill();
  for (uint32_t actor : reached)
    change(actor, now, ends);
  setPatience(now);
  added.clear(), changedResources.clear();
}

} // namespace gc3::simulate
