// SPDX-License-Identifier: Apache-2.0
#include "gc3/Topology/Lattice.h"
#include <algorithm>
#include <numeric>
#include <tuple>

namespace gc3::topology {

/// Returns the number of ranks per point, or 0 if the ranks cannot be divided among the points.
static uint32_t cellOf(const Topology &topology) {
  uint64_t points = 1;
  for (uint32_t size : topology.lattice)
    points = std::min<uint64_t>(points * size, Topology::MaxRanks + 1);
  return topology.ranks % points == 0 ? topology.ranks / static_cast<uint32_t>(points) : 0;
}

Lattice::Lattice(const Topology &topology)
    : sizes(topology.lattice.empty() ? std::vector<uint32_t>{topology.ranks} : topology.lattice),
      ranksOfCell(topology.lattice.empty() ? 1 : cellOf(topology)) {}

uint32_t Lattice::add(uint32_t rank, uint32_t vector) const {
  uint32_t result = rank % ranksOfCell, stride = ranksOfCell, point = rank / ranksOfCell;
  vector /= ranksOfCell;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) {
    result += (point % sizes[i] + vector % sizes[i]) % sizes[i] * stride;
    point /= sizes[i], vector /= sizes[i];
  }
  return result;
}

uint32_t Lattice::difference(uint32_t rank, uint32_t origin) const {
  uint32_t result = rank % ranksOfCell, stride = ranksOfCell, point = rank / ranksOfCell;
  origin /= ranksOfCell;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) {
    result += (point % sizes[i] + sizes[i] - origin % sizes[i]) % sizes[i] * stride;
    point /= sizes[i], origin /= sizes[i];
  }
  return result;
}

std::vector<uint32_t> Lattice::differences(uint32_t origin) const {
  std::vector<uint32_t> result(ranksOfCell); // differences of ranks in the dimensions handled so far
  std::iota(result.begin(), result.end(), 0);
  uint32_t stride = ranksOfCell;
  origin /= ranksOfCell;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i], origin /= sizes[i]) {
    std::vector<uint32_t> larger;
    larger.reserve(result.size() * sizes[i]);
    for (uint32_t at = 0; at < sizes[i]; ++at)
      for (uint32_t vector : result)
        larger.push_back(vector + (at + sizes[i] - origin % sizes[i]) % sizes[i] * stride);
    result = std::move(larger);
  }
  return result;
}

std::optional<LinkClasses> linkClasses(const Topology &topology) {
  const uint32_t cell = topology.lattice.empty() ? 0 : cellOf(topology);
  if (cell == 0 || cell == topology.ranks || topology.links.size() % (topology.ranks / cell) != 0)
    return {};
  const Lattice lattice(topology);
  LinksOfRanks outgoing = linksFrom(topology);
  auto keyOf = [&](uint32_t number) {
    const Link &link = topology.links[number];
    return std::tuple(link.from % cell, lattice.difference(link.to, link.from), link.bandwidth, link.kind, link.alpha,
                      link.beta);
  };
  LinkClasses result;
  result.classes = static_cast<uint32_t>(topology.links.size() / (topology.ranks / cell));
  for (uint32_t rank = 0; rank < topology.ranks; rank += cell) {
    const auto first = outgoing.links.begin() + outgoing.begin[rank];
    if (outgoing.begin[rank + cell] - outgoing.begin[rank] != result.classes)
      return {};
    std::stable_sort(first, first + result.classes, [&](uint32_t a, uint32_t b) { return keyOf(a) < keyOf(b); });
    for (uint32_t i = 0; i < result.classes; ++i)
      if (keyOf(first[i]) != keyOf(outgoing.links[i]))
        return {};
  }
  result.links = std::move(outgoing.links);
  return result;
}

} // namespace gc3::topology
