// SPDX-License-Identifier: Apache-2.0
// Recursion goes as deep as the tree: half the bits of a number of thread blocks.
#include "Clocks.h"
#include <algorithm>

using namespace gc3::schedule;

void Clocks::reset(uint32_t blocks) {
  for (levels = 1; levels * fanBits < 32 && blocks > 1u << (levels * fanBits);)
    ++levels;
  nodes.assign(1, Node{});
}

uint32_t Clocks::add(const Node &node) {
  nodes.push_back(node);
  return static_cast<uint32_t>(nodes.size()) - 1;
}

uint32_t Clocks::with(uint32_t node, uint32_t block, uint32_t steps, uint32_t level) {
  if (level == 0)
    return std::max(node, steps);
  uint32_t place = block >> ((level - 1) * fanBits) & (fan - 1);
  uint32_t child = with(nodes[node][place], block, steps, level - 1);
  if (child == nodes[node][place])
    return node;
  Node copy = nodes[node];
  copy[place] = child;
  return add(copy);
}

uint32_t Clocks::join(uint32_t a, uint32_t b, uint32_t level) {
  if (level == 0)
    return std::max(a, b);
  if (a == b || b == Nothing)
    return a;
  if (a == Nothing)
    return b;
  Node joined;
  for (uint32_t i = 0; i != fan; ++i)
    joined[i] = join(nodes[a][i], nodes[b][i], level - 1);
  if (joined == nodes[a])
    return a;
  return joined == nodes[b] ? b : add(joined);
}
