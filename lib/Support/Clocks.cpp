// SPDX-License-Identifier: Apache-2.0
// The functions recurse as deep as the tree: to the base-4 logarithm of the number of thread blocks.
#include "gc3/Support/Clocks.h"
#include <algorithm>

using namespace gc3;

Clocks::Clocks(uint32_t blocks) : nodes(1) {
  while (levels * fanBits < 32 && blocks > 1u << (levels * fanBits))
    ++levels;
}

/// Returns the number of a node with these contents. Changes node `draft` if it belongs to the clock being built; else
/// adds a node.
uint32_t Clocks::put(uint32_t draft, const Node &contents) {
  if (draft >= firstDraft) {
    nodes[draft] = contents;
    return draft;
  }
  nodes.push_back(contents);
  return static_cast<uint32_t>(nodes.size()) - 1;
}

uint32_t Clocks::with(uint32_t node, uint32_t block, uint32_t steps, uint32_t level) {
  if (level == 0)
    return std::max(node, steps);
  Node changed = nodes[node];
  uint32_t &child = changed[block >> ((level - 1) * fanBits) & (fan - 1)];
  uint32_t updated = with(child, block, steps, level - 1);
  if (updated == child)
    return node;
  child = updated;
  return put(node, changed);
}

/// Returns `b` if it includes everything that `a` knows, so that clocks share more nodes.
uint32_t Clocks::join(uint32_t a, uint32_t b, uint32_t level) {
  if (a == b || b == Nothing)
    return a;
  if (a == Nothing)
    return b;
  Node joined = nodes[a];
  const Node other = nodes[b];
  for (uint32_t i = 0; i != fan; ++i)
    joined[i] = level == 1 ? std::max(joined[i], other[i]) : join(joined[i], other[i], level - 1);
  if (joined == nodes[a])
    return a;
  return joined == other ? b : put(a, joined);
}
