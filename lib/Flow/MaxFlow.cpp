// SPDX-License-Identifier: Apache-2.0
// The push-relabel method of LEMON, with the highest label first: O(nodes^2 * sqrt(arcs)) at worst.
#include "MaxFlow.h"
#include <lemon/preflow.h>
#include <lemon/static_graph.h>
#include <utility>

namespace gc3::flow {

/// Returns the position of each arc after a stable sort by source, in linear time. lemon::StaticDigraph needs this
/// order.
static std::vector<uint32_t> positionsBySource(uint32_t nodes, const std::vector<Arc> &arcs) {
  std::vector<uint32_t> next(nodes + 1, 0), position(arcs.size());
  for (const Arc &arc : arcs)
    ++next[arc.from + 1];
  for (uint32_t node = 0; node < nodes; ++node)
    next[node + 1] += next[node];
  for (size_t i = 0; i < arcs.size(); ++i)
    position[i] = next[arcs[i].from]++;
  return position;
}

MaxFlow maxFlow(uint32_t nodes, const std::vector<Arc> &arcs, uint32_t source, uint32_t sink, uint64_t wanted) {
  using Graph = lemon::StaticDigraph;
  const std::vector<uint32_t> position = positionsBySource(nodes, arcs);
  std::vector<std::pair<int, int>> ends(arcs.size());
  for (size_t i = 0; i < arcs.size(); ++i)
    ends[position[i]] = {static_cast<int>(arcs[i].from), static_cast<int>(arcs[i].to)};
  Graph graph;
  graph.build(static_cast<int>(nodes), ends.begin(), ends.end());
  Graph::ArcMap<int> capacity(graph);
  for (size_t i = 0; i < arcs.size(); ++i)
    capacity[Graph::arc(static_cast<int>(position[i]))] = static_cast<int>(arcs[i].capacity);
  lemon::Preflow<Graph, Graph::ArcMap<int>> method(graph, capacity, Graph::node(static_cast<int>(source)),
                                                   Graph::node(static_cast<int>(sink)));
  method.runMinCut();
  MaxFlow result;
  result.value = static_cast<uint64_t>(method.flowValue());
  for (uint32_t node = 0; node < nodes && result.value < wanted; ++node)
    result.isBefore.push_back(method.minCut(Graph::node(static_cast<int>(node))));
  method.startSecondPhase();
  for (size_t i = 0; i < arcs.size(); ++i)
    result.flow.push_back(static_cast<uint32_t>(method.flow(Graph::arc(static_cast<int>(position[i])))));
  return result;
}

} // namespace gc3::flow
