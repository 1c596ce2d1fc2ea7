// SPDX-License-Identifier: Apache-2.0
// Size of the network: steps times (ranks + links). A chunk that cannot reach the root in the remaining steps needs no
// node.
#include "Layers.h"
#include <algorithm>
#include <map>

namespace gc3::flow {

uint64_t Cut::limit(const std::vector<uint32_t> &rounds) const {
  uint64_t sum = fixed;
  for (size_t step = 0; step < rounds.size(); ++step)
    sum += perRound[step] * rounds[step];
  return sum;
}

Layers::Layers(const StepGraph &graph, const std::vector<uint32_t> &supply, const std::function<bool()> &stops)
    : graph(graph), supply(supply), stops(stops) {
  for (uint32_t chunks : supply)
    total += chunks;
  constexpr uint32_t mostHops = 64; // with longer paths, it is usually better to begin at the source
  fromSink = *std::max_element(graph.hops.begin(), graph.hops.end()) <= mostHops;
}

void Layers::build(const std::vector<uint32_t> &rounds, const Shares &shares) {
  network = {.nodes = 2, .source = 0, .sink = 1, .arcs = {}};
  arcOf.clear(), stepBegin.clear();
  addSteps(rounds, shares);
  stepBegin.push_back(network.arcs.size());
}

/// Adds the arcs of all steps. Adds arcs for chunks that stay on their rank, and arcs from the source to the ranks.
void Layers::addSteps(const std::vector<uint32_t> &rounds, const Shares &shares) {
  const auto steps = static_cast<uint32_t>(rounds.size()), everything = static_cast<uint32_t>(total);
  std::vector<uint32_t> nodeOf(graph.nodes, None); // by node of the step's graph: the node of the network
  const auto numbered = [&](uint32_t node) {
    if (nodeOf[node] == None)
      nodeOf[node] = network.nodes++;
    return nodeOf[node];
  };
  for (uint32_t rank = 0; rank < graph.ranks; ++rank)
    if (supply[rank] != 0) {
      network.arcs.push_back({network.source, numbered(rank), supply[rank]});
      arcOf.push_back(None);
    }
  for (uint32_t step = 0; step < steps; ++step) {
    const uint32_t left = steps - step;
    stepBegin.push_back(network.arcs.size());
    nodeOf[graph.ranks + graph.root] = network.sink;
    for (uint32_t i = 0; i < graph.arcs.size(); ++i) {
      const StepArc &arc = graph.arcs[i];
      if (arc.hops > left)
        continue;
      uint64_t capacity = uint64_t{arc.bandwidth} * rounds[step];
      if (arc.share != None)
        capacity = std::min<uint64_t>(capacity, shares.of(step, arc.share));
      network.arcs.push_back({numbered(arc.from), numbered(arc.to), static_cast<uint32_t>(std::min(capacity, total))});
      arcOf.push_back(i);
    }
    for (uint32_t rank = 0; rank < graph.ranks; ++rank)
      if (rank != graph.root && nodeOf[rank] != None && graph.hops[rank] < left) {
        network.arcs.push_back({nodeOf[rank], numbered(graph.ranks + rank), everything});
        arcOf.push_back(None);
      }
    std::copy_n(nodeOf.begin() + graph.ranks, graph.ranks, nodeOf.begin());
    std::fill(nodeOf.begin() + graph.ranks, nodeOf.end(), None);
  }
}

std::vector<std::vector<Load>> Layers::loadsOf(const std::vector<uint32_t> &flow) const {
  std::vector<std::vector<Load>> loads(steps());
  for (uint32_t step = 0; step < steps(); ++step)
    for (size_t i = stepBegin[step]; i < stepBegin[step + 1]; ++i)
      if (arcOf[i] != None && flow[i] != 0)
        loads[step].push_back({arcOf[i], flow[i]});
  return loads;
}

/// Returns the condition that the minimum cut stands for. The shares of a divided bound together carry at most the
/// bound's bandwidth, whatever the division is.
Cut Layers::cutOf(const std::vector<uint8_t> &isBefore) const {
  Cut cut;
  const auto crosses = [&](const Arc &arc) { return isBefore[arc.from] && !isBefore[arc.to]; };
  for (size_t i = 0; i < stepBegin[0]; ++i)
    cut.fixed += crosses(network.arcs[i]) ? network.arcs[i].capacity : 0;
  for (uint32_t step = 0; step < steps(); ++step) {
    uint64_t &sum = cut.perRound.emplace_back(0);
    std::map<uint32_t, uint64_t> ofDivided;
    for (size_t i = stepBegin[step]; i < stepBegin[step + 1]; ++i)
      if (arcOf[i] != None && crosses(network.arcs[i])) {
        const StepArc &arc = graph.arcs[arcOf[i]];
        (arc.share == None ? sum : ofDivided[graph.boundOfShare[arc.share]]) += arc.bandwidth;
      }
    for (const auto &[bound, bandwidth] : ofDivided)
      sum += std::min<uint64_t>(bandwidth, graph.dividedBandwidth[bound]);
  }
  return cut;
}

std::vector<std::vector<Shares::Use>> Layers::usesOf(const MaxFlow &found) const {
  std::vector<std::vector<Shares::Use>> result(steps(), std::vector<Shares::Use>(graph.boundOfShare.size()));
  for (uint32_t step = 0; step < steps(); ++step)
    for (size_t i = stepBegin[step]; i < stepBegin[step + 1]; ++i)
      if (arcOf[i] != None && graph.arcs[arcOf[i]].share != None)
        result[step][graph.arcs[arcOf[i]].share] = {
            found.isBefore[network.arcs[i].from] && !found.isBefore[network.arcs[i].to], found.flow[i]};
  return result;
}

bool Layers::isTooLarge(uint64_t steps) const {
  constexpr uint64_t mostArcs = 1 << 23; // about 100 bytes each
  return steps * (graph.arcs.size() + graph.ranks) > mostArcs;
}

Attempt Layers::attempt(const std::vector<uint32_t> &rounds) {
  constexpr int mostDivisions = 150;
  Attempt result;
  if (isTooLarge(rounds.size()))
    return result;
  Shares shares(graph, rounds);
  for (int i = 0; i < mostDivisions; ++i) {
    build(rounds, shares);
    const std::optional<MaxFlow> found = maxFlow(network, total, fromSink, workDone, stops);
    if (!found)
      return result;
    result.delivered = std::max(result.delivered, found->value);
    if (found->value == total) {
      result.loads = loadsOf(found->flow);
      return result;
    }
    Cut cut = cutOf(found->isBefore);
    if (cut.limit(rounds) < total) {
      result.cut = std::move(cut);
      return result;
    }
    if (!shares.shift(usesOf(*found), total - found->value))
      break;
  }
  return result;
}

} // namespace gc3::flow
