// SPDX-License-Identifier: Apache-2.0
// The push-relabel method of LEMON, with the highest label first: O(nodes^2 * sqrt(arcs)) at worst.
#include "MaxFlow.h"
#include <lemon/preflow.h>
#include <lemon/static_graph.h>
#include <utility>

namespace gc3::flow {

/// Returns the position of each arc after a stable sort by its first end, in linear time. lemon::StaticDigraph needs
/// this order.
static std::vector<uint32_t> positionsOf(const Network &network, uint32_t Arc::*end) {
  std::vector<uint32_t> next(network.nodes + 1, 0), position(network.arcs.size());
  for (const Arc &arc : network.arcs)
    ++next[arc.*end + 1];
  for (uint32_t node = 0; node < network.nodes; ++node)
    next[node + 1] += next[node];
  for (size_t i = 0; i < position.size(); ++i)
    position[i] = next[network.arcs[i].*end]++;
  return position;
}

using Graph = lemon::StaticDigraph;

namespace {

/// Thrown to end LEMON's method.
struct Exceeded {};

/// LEMON's method asks its elevator for each node that it handles. This elevator counts them, and ends the method at a
/// limit.
class LimitedElevator : public lemon::Elevator<Graph, Graph::Node> {
public:
  using Elevator::Elevator;

  Graph::Node highestActive() const {
    count();
    return Elevator::highestActive();
  }
  Graph::Node activeOn(int level) const {
    count();
    return Elevator::activeOn(level);
  }

  uint64_t limit = 0;                           ///< most nodes
  const std::function<bool()> *stops = nullptr; ///< never null when the method runs

  uint64_t visits() const { return counted; }

private:
  void count() const {
    constexpr uint64_t period = 1 << 14;
    if (++counted > limit || (counted % period == 0 && *stops && (*stops)()))
      throw Exceeded();
  }

  mutable uint64_t counted = 0; ///< visits of nodes
};

} // namespace

static std::optional<MaxFlow> tryOnce(const Network &network, uint64_t wanted, bool fromSink, uint64_t limit,
                                      uint64_t &work, const std::function<bool()> &stops) {
  const auto [from, to] = fromSink ? std::pair(&Arc::to, &Arc::from) : std::pair(&Arc::from, &Arc::to);
  const std::vector<uint32_t> position = positionsOf(network, from);
  std::vector<std::pair<int, int>> ends(network.arcs.size());
  for (size_t i = 0; i < ends.size(); ++i)
    ends[position[i]] = {static_cast<int>(network.arcs[i].*from), static_cast<int>(network.arcs[i].*to)};
  Graph graph;
  graph.build(static_cast<int>(network.nodes), ends.begin(), ends.end());
  Graph::ArcMap<int> capacity(graph);
  for (size_t i = 0; i < ends.size(); ++i)
    capacity[Graph::arc(static_cast<int>(position[i]))] = static_cast<int>(network.arcs[i].capacity);
  const auto first = Graph::node(static_cast<int>(fromSink ? network.sink : network.source)),
             last = Graph::node(static_cast<int>(fromSink ? network.source : network.sink));
  LimitedElevator elevator(graph, static_cast<int>(network.nodes));
  elevator.limit = limit, elevator.stops = &stops;
  lemon::Preflow<Graph, Graph::ArcMap<int>>::SetElevator<LimitedElevator>::Create method(graph, capacity, first, last);
  method.elevator(elevator);
  MaxFlow result;
  bool isComplete = true;
  try {
    method.runMinCut();
    result.value = static_cast<uint64_t>(method.flowValue());
    for (uint32_t node = 0; node < network.nodes && result.value < wanted; ++node)
      result.isBefore.push_back(method.minCut(Graph::node(static_cast<int>(node))) != fromSink);
    method.startSecondPhase();
  } catch (const Exceeded &) {
    isComplete = false;
  }
  work += network.arcs.size() + elevator.visits();
  if (!isComplete)
    return {};
  for (uint32_t place : position)
    result.flow.push_back(static_cast<uint32_t>(method.flow(Graph::arc(static_cast<int>(place)))));
  return result;
}

std::optional<MaxFlow> maxFlow(const Network &network, uint64_t wanted, bool &fromSink, uint64_t &work,
                               const std::function<bool()> &stops) {
  constexpr uint64_t nodesFirst = 64; // visits of each node in the first tries
  for (uint64_t limit = nodesFirst * network.nodes;; limit *= 2)
    for (bool reverse : {false, true}) {
      if (stops && stops())
        return {};
      if (std::optional<MaxFlow> found = tryOnce(network, wanted, fromSink != reverse, limit, work, stops)) {
        fromSink ^= reverse;
        return found;
      }
    }
}

} // namespace gc3::flow
