// SPDX-License-Identifier: Apache-2.0
// Longest paths from the beginning and to the end, and two counting sorts.
#include "Priorities.h"
#include <algorithm>
#include <numeric>

using namespace gc3::ir;

/// Longest paths from the beginning, by instruction.
static std::vector<uint32_t> depths(const InstructionDag &dag) {
  std::vector<uint32_t> depth(dag.instructions.size());
  for (uint32_t i = 0; i != depth.size(); ++i) {
    uint32_t deepest = 0;
    for (uint32_t edge = dag.edges.begin[i]; edge != dag.edges.begin[i + 1]; ++edge)
      deepest = std::max(deepest, depth[dag.edges.edges[edge].node()] + 1);
    if (uint32_t sender = dag.instructions[i].sender; sender != None)
      deepest = std::max(deepest, depth[sender] + 1);
    depth[i] = deepest;
  }
  return depth;
}

/// Longest paths to an end, by instruction.
static std::vector<uint32_t> distances(const InstructionDag &dag) {
  std::vector<uint32_t> distance(dag.instructions.size());
  for (auto i = static_cast<uint32_t>(distance.size()); i-- != 0;) {
    uint32_t next = distance[i] + 1;
    for (uint32_t edge = dag.edges.begin[i]; edge != dag.edges.begin[i + 1]; ++edge) {
      uint32_t &before = distance[dag.edges.edges[edge].node()];
      before = std::max(before, next);
    }
    if (uint32_t sender = dag.instructions[i].sender; sender != None)
      distance[sender] = std::max(distance[sender], next);
  }
  return distance;
}

/// Sorts `items` by `key[item]`, keeping the order of equals. Linear in the items and the greatest key.
static void stableSort(std::vector<uint32_t> &items, const std::vector<uint32_t> &key, bool descending) {
  uint32_t greatest = key.empty() ? 0 : *std::max_element(key.begin(), key.end());
  auto bucket = [&](uint32_t item) { return descending ? greatest - key[item] : key[item]; };
  std::vector<uint32_t> place(size_t(greatest) + 2);
  for (uint32_t item : items)
    ++place[bucket(item) + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<uint32_t> sorted(items.size());
  for (uint32_t item : items)
    sorted[place[bucket(item)]++] = item;
  items = std::move(sorted);
}

std::vector<uint32_t> gc3::schedule::byPriority(const InstructionDag &dag) {
  std::vector<uint32_t> order(dag.instructions.size());
  std::iota(order.begin(), order.end(), 0);
  stableSort(order, distances(dag), true);
  stableSort(order, depths(dag), false);
  return order;
}
