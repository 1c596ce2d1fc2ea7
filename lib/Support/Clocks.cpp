// SPDX-License-Identifier: Apache-2.0
// The functions recurse as deep as the tree: to the base-4 logarithm of the number of thread blocks.
#include "gc3/Support/Clocks.h"
#include <algorithm>

using namespace gc3;

Clocks::Clocks(uint32_t blocks) : nodes(1) {
  while (levels * fanBits < 32 && blocks > 1u << (levels * fanBits))
    ++levels;
}

/// Returns a node with `child` at `place`: `node` itself, or a copy of it if it belongs to a finished clock.
uint32_t Clocks::set(uint32_t node, uint32_t place, uint32_t child) {
  if (nodes[node][place] == child)
    return node;
  if (node < firstDraft) {
    nodes.push_back(Node(nodes[node]));
    node = static_cast<uint32_t>(nodes.size()) - 1;
  }
  nodes[node][place] = child;
  return node;
}

uint32_t Clocks::with(uint32_t node, uint32_t block, uint32_t steps, uint32_t level) {
  if (level == 0)
    return std::max(node, steps);
  uint32_t place = block >> ((level - 1) * fanBits) & (fan - 1);
  uint32_t child = with(nodes[node][place], block, steps, level - 1);
  return set(node, place, child);
}

uint32_t Clocks::join(uint32_t a, uint32_t b, uint32_t level) {
  if (level == 0)
    return std::max(a, b);
  if (a == b || b == Nothing)
    return a;
  if (a == Nothing)
    return b;
  for (uint32_t i = 0; i != fan; ++i) {
    uint32_t child = join(nodes[a][i], nodes[b][i], level - 1);
    a = set(a, i, child);
  }
  return a;
}
