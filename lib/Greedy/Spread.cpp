// SPDX-License-Identifier: Apache-2.0
// Moves chunks to paths that are shortest if the length of a resource grows exponentially with its load. The exponent
// grows from pass to pass. This converges to a multi-commodity flow of nearly the least congestion (Aspnes et al.
// 1997).
#include "Spread.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>

namespace gc3::greedy {

Spread::Spread(const topology::Topology &topology, const algorithm::Demand &demand)
    : topology(topology), boundsOf(boundsOfLinks(topology)), outgoing(linksFrom(topology)), chunksOf(topology.ranks),
      routes(demand.chunks()), lengths(topology.linkCount(), 0) {
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
    chunksOf[demand.sourcesOf(chunk)[0].rank].push_back(chunk);
    targets.push_back(demand.targetsOf(chunk)[0].rank);
  }
  for (const topology::Link &link : topology.links)
    capacity.push_back(link.bandwidth);
  capacity.insert(capacity.end(), topology.boundBandwidth.begin(), topology.boundBandwidth.end());
  load.assign(capacity.size(), 0);
}

/// Returns the rounds that the most loaded resource needs.
double Spread::pressure() const {
  double most = 0;
  for (size_t i = 0; i < load.size(); ++i)
    most = std::max(most, load[i] / capacity[i]);
  return most;
}

/// Returns weights of resources that grow exponentially with the rounds that their loads need. The weights of loads
/// that differ by `scale` rounds differ by a factor of e.
std::vector<double> Spread::weightsOf(const std::vector<double> &loads, double scale) const {
  std::vector<double> weights;
  for (size_t i = 0; i < loads.size(); ++i)
    weights.push_back(loads[i] / capacity[i]);
  const double most = *std::max_element(weights.begin(), weights.end());
  for (double &weight : weights)
    weight = std::exp((weight - most) / scale);
  return weights;
}

/// Sets the lengths of links so that a resource provides its weight in a round.
void Spread::setLengths(const std::vector<double> &weights) {
  for (uint32_t link = 0; link < topology.linkCount(); ++link) {
    lengths[link] = weights[link] / capacity[link];
    for (uint32_t i = boundsOf.begin[link]; i < boundsOf.begin[link + 1]; ++i) {
      const uint32_t bound = topology.linkCount() + boundsOf.bounds[i];
      lengths[link] += weights[bound] / capacity[bound];
    }
  }
}

/// Dijkstra's method.
void Spread::findPaths(uint32_t source) {
  using Entry = std::pair<double, uint32_t>;
  distance.assign(topology.ranks, std::numeric_limits<double>::infinity());
  arrival.assign(topology.ranks, UINT32_MAX);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distance[source] = 0;
  queue.emplace(0, source);
  while (!queue.empty()) {
    const auto [length, rank] = queue.top();
    queue.pop();
    if (length > distance[rank])
      continue;
    for (uint32_t i = outgoing.begin[rank]; i < outgoing.begin[rank + 1]; ++i) {
      const uint32_t link = outgoing.links[i], to = topology.links[link].to;
      if (length + lengths[link] >= distance[to])
        continue;
      distance[to] = length + lengths[link];
      arrival[to] = link;
      queue.emplace(distance[to], to);
    }
  }
}

void Spread::addLoad(const std::vector<uint32_t> &route, double chunks, std::vector<double> &loads) const {
  for (uint32_t link : route) {
    loads[link] += chunks;
    for (uint32_t i = boundsOf.begin[link]; i < boundsOf.begin[link + 1]; ++i)
      loads[topology.linkCount() + boundsOf.bounds[i]] += chunks;
  }
}

/// Returns the links of the path to the rank, the last one first.
std::vector<uint32_t> Spread::pathTo(uint32_t rank) const {
  std::vector<uint32_t> path;
  for (; arrival[rank] != UINT32_MAX; rank = topology.links[arrival[rank]].from)
    path.push_back(arrival[rank]);
  return path;
}

/// Moves the chunk to the shortest path if that is shorter than its route.
void Spread::reroute(uint32_t chunk) {
  double length = 0;
  for (uint32_t link : routes[chunk])
    length += lengths[link];
  if (!routes[chunk].empty() && length <= distance[targets[chunk]])
    return;
  addLoad(routes[chunk], -1, load);
  routes[chunk] = pathTo(targets[chunk]);
  addLoad(routes[chunk], 1, load);
}

/// Raises the bound to the one that follows from these weights.
void Spread::raiseBound(const std::vector<double> &weights) {
  setLengths(weights);
  double sum = 0;
  for (uint32_t source = 0; source < topology.ranks; ++source) {
    if (chunksOf[source].empty())
      continue;
    findPaths(source);
    for (uint32_t chunk : chunksOf[source])
      sum += distance[targets[chunk]];
  }
  constexpr double error = 1e-6; // more than the rounding errors of the sums
  const double inRound = std::accumulate(weights.begin(), weights.end(), 0.0);
  least = std::max(least, static_cast<uint64_t>(std::ceil(sum / inRound * (1 - error))));
}

/// Moves the chunks of a source in several parts, with new lengths for each part. So not all of them move to the same
/// links. Keeps the best routes.
void Spread::choose(const std::function<bool()> &stops) {
  constexpr uint32_t passes = 14;
  constexpr uint64_t work = 20'000'000; // links that all searches for paths together examine
  const auto parts = std::clamp<uint64_t>(work / passes / (topology.ranks * (topology.linkCount() + 1ull)), 4, 64);
  std::vector<std::vector<uint32_t>> best;
  double leastPressure = std::numeric_limits<double>::infinity();
  for (uint32_t pass = 0; pass < passes && !(stops && stops()); ++pass) {
    const double share = pass == 0 ? 1 : 0.25 * std::pow(0.77, pass - 1); // of the rounds of the fullest resource
    for (uint64_t part = 0; part < parts; ++part)
      for (uint32_t source = 0; source < topology.ranks; ++source) {
        if (chunksOf[source].empty())
          continue;
        setLengths(weightsOf(load, std::max(1.0, pressure()) * share));
        findPaths(source);
        for (uint64_t i = (part + source) % parts; i < chunksOf[source].size(); i += parts)
          reroute(chunksOf[source][i]);
      }
    if (const double now = pressure(); now < leastPressure && pass != 0)
      leastPressure = now, best = routes;
  }
  routes = best.empty() ? routes : std::move(best);
  std::fill(load.begin(), load.end(), 0);
  for (const std::vector<uint32_t> &route : routes)
    addLoad(route, 1, load);
}

/// Adds up the loads of shortest paths, and averages the weights that follow from these sums.
void Spread::prove(const std::function<bool()> &stops) {
  const uint32_t phases = topology.ranks <= 100 ? 160 : 40; // large problems take seconds
  const double scale = std::max(1.0, pressure()) * 6;
  std::vector<double> sums(capacity.size(), 0), average(capacity.size(), 0);
  for (uint32_t phase = 1; phase <= phases && static_cast<double>(least) < pressure() && !(stops && stops()); ++phase) {
    for (uint32_t source = 0; source < topology.ranks; ++source) {
      if (chunksOf[source].empty())
        continue;
      setLengths(weightsOf(sums, scale));
      findPaths(source);
      for (uint32_t chunk : chunksOf[source])
        addLoad(pathTo(targets[chunk]), 1, sums);
    }
    const std::vector<double> weights = weightsOf(sums, scale);
    const double inAll = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (size_t i = 0; i < weights.size(); ++i)
      average[i] += weights[i] / inAll;
    if (phase % 20 == 0) {
      raiseBound(average);
      raiseBound(weights);
    }
    if (phase == 20 || phase == 60)
      std::fill(average.begin(), average.end(), 0); // the first weights are far from the best
  }
}

uint32_t Spread::urgency(uint32_t link) const {
  constexpr double most = 15;
  double share = load[link] / capacity[link];
  for (uint32_t i = boundsOf.begin[link]; i < boundsOf.begin[link + 1]; ++i) {
    const uint32_t bound = topology.linkCount() + boundsOf.bounds[i];
    share = std::max(share, load[bound] / capacity[bound]);
  }
  return 1 + static_cast<uint32_t>(most * share / std::max(1.0, pressure()));
}

void Spread::run(const std::function<bool()> &stops) {
  choose(stops);
  for (std::vector<uint32_t> &route : routes)
    std::reverse(route.begin(), route.end());
  prove(stops);
}

} // namespace gc3::greedy
