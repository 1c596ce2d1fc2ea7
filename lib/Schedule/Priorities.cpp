// SPDX-License-Identifier: Apache-2.0
// Computes the longest paths from the beginning and to the end, and sorts instructions by their lengths in two counting
// sorts.
#include "Stages.h"
#include <algorithm>
#include <numeric>

using namespace gc3::ir;

/// Returns, by instruction, the length of the longest path from the beginning to it.
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

/// Returns, by instruction, the length of the longest path from it to an end.
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

/// Returns, by key, the position of its first element when all elements are sorted by key.
static std::vector<uint32_t> firstPlaces(const std::vector<uint32_t> &keys) {
  uint32_t greatest = keys.empty() ? 0 : *std::max_element(keys.begin(), keys.end());
  std::vector<uint32_t> places(size_t(greatest) + 2);
  for (uint32_t key : keys)
    ++places[key + 1];
  std::partial_sum(places.begin(), places.end(), places.begin());
  return places;
}

std::vector<uint32_t> gc3::schedule::priorities(const InstructionDag &dag) {
  std::vector<uint32_t> depth = depths(dag);
  std::vector<uint32_t> keys = distances(dag);
  uint32_t longest = keys.empty() ? 0 : *std::max_element(keys.begin(), keys.end());
  for (uint32_t &key : keys)
    key = longest - key;
  struct Item {
    uint32_t instruction;
    uint32_t depth; // a copy, so that the second pass also reads from front to back
  };
  std::vector<Item> longestFirst(depth.size());
  std::vector<uint32_t> places = firstPlaces(keys);
  for (uint32_t i = 0; i != depth.size(); ++i)
    longestFirst[places[keys[i]]++] = {i, depth[i]};
  places = firstPlaces(depth);
  std::vector<uint32_t> result = std::move(keys);
  for (const Item &item : longestFirst)
    result[item.instruction] = places[item.depth]++;
  return result;
}
