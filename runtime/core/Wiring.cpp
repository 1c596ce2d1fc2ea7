// SPDX-License-Identifier: Apache-2.0
#include "core/Wiring.h"

#include "core/Log.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gc3::core {

namespace {

/// Returns the nodes of the ranks, numbered in the order of their first ranks.
std::vector<uint32_t> numberNodes(std::span<const uint64_t> nodeOfRank) {
  std::map<uint64_t, uint32_t> numbers;
  std::vector<uint32_t> numbered;
  for (const uint64_t node : nodeOfRank)
    numbered.push_back(numbers.emplace(node, static_cast<uint32_t>(numbers.size())).first->second);
  return numbered;
}

RankOrder orderOf(std::span<const uint32_t> nodeOfRank, uint32_t nodes, uint32_t ranksOfNode) {
  bool isBlocked = true, isCyclic = true;
  for (uint32_t r = 0; r < nodeOfRank.size(); ++r) {
    isBlocked &= nodeOfRank[r] == r / ranksOfNode;
    isCyclic &= nodeOfRank[r] == r % nodes;
  }
  return isBlocked ? RankOrder::Blocked : isCyclic ? RankOrder::Cyclic : RankOrder::Other;
}

/// Returns the numbers of the ranks if each node had consecutive ranks.
std::vector<uint32_t> placesOf(std::span<const uint32_t> nodeOfRank, uint32_t nodes, uint32_t ranksOfNode) {
  std::vector<uint32_t> next(nodes), places;
  for (const uint32_t node : nodeOfRank)
    places.push_back(node * ranksOfNode + next[node]++);
  return places;
}

/// Returns whether a program is for as many nodes and ranks of a node, whatever the order of the ranks.
bool hasNodesOf(const bundle::fbs::Program &program, const Wiring &wiring) {
  return program.nodes() != 0 && program.nodes() == wiring.nodes &&
         wiring.ranksOfNode == program.ranks() / program.nodes();
}

std::string nodesText(uint32_t nodes, uint32_t ranksOfNode) {
  return std::to_string(nodes) + (nodes == 1 ? " node of " : " nodes of ") + std::to_string(ranksOfNode) +
         (ranksOfNode == 1 ? " rank" : " ranks");
}

} // namespace

Wiring Wiring::of(std::span<const uint64_t> nodeOfRank) {
  const std::vector<uint32_t> numbered = numberNodes(nodeOfRank);
  std::vector<uint32_t> sizes;
  for (const uint32_t node : numbered) {
    sizes.resize(std::max<size_t>(sizes.size(), size_t{node} + 1));
    ++sizes[node];
  }
  Wiring wiring;
  wiring.nodes = static_cast<uint32_t>(sizes.size());
  if (std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to()) != sizes.end())
    return wiring;
  wiring.ranksOfNode = sizes.front();
  wiring.order = orderOf(numbered, wiring.nodes, wiring.ranksOfNode);
  if (wiring.order != RankOrder::Blocked)
    wiring.places = placesOf(numbered, wiring.nodes, wiring.ranksOfNode);
  return wiring;
}

Wiring Wiring::ofBlocks(uint32_t ranks, uint32_t nodes) {
  return {nodes, ranks / nodes, RankOrder::Blocked, {}};
}

std::string Wiring::text() const {
  if (nodes == 0)
    return "unknown nodes";
  if (ranksOfNode == 0)
    return std::to_string(nodes) + " nodes with different numbers of ranks";
  std::string text = nodesText(nodes, ranksOfNode);
  switch (order) {
  case RankOrder::Blocked: return text;
  case RankOrder::Cyclic: return text + " in cyclic order";
  case RankOrder::Other: return text + " in no regular order";
  }
  __builtin_unreachable();
}

Outcome checkNodes(uint64_t nodes, uint32_t ranks) {
  if (nodes == 0 || (nodes <= ranks && ranks % nodes == 0))
    return {};
  return {gc3InvalidArgument, "the config has " + std::to_string(nodes) + " nodes, among which " +
                                  std::to_string(ranks) + " ranks can't be divided equally"};
}

WiringFit fitOf(const bundle::fbs::Program &program, const Wiring &wiring) {
  if (program.nodes() == 0)
    return WiringFit::Any;
  const bool isInOrder = hasNodesOf(program, wiring) && wiring.order == RankOrder::Blocked;
  return isInOrder || isRenumbered(program, wiring) ? WiringFit::Exact : WiringFit::None;
}

Wiring withoutPlaces(Wiring wiring) {
  wiring.places.clear();
  return wiring;
}

bool isRenumbered(const bundle::fbs::Program &program, const Wiring &wiring) {
  return hasNodesOf(program, wiring) && !wiring.places.empty() && program.collective()->string_view() == "allreduce";
}

std::string misfitText(const bundle::fbs::Program &program, const Wiring &wiring) {
  const uint32_t ranksOfNode = program.ranks() / program.nodes();
  std::string text =
      "is for " + nodesText(program.nodes(), ranksOfNode) + ", but the communicator has " + wiring.text();
  if (hasNodesOf(program, wiring))
    text += ": start consecutive ranks on each node, as with --distribution=block of Slurm";
  return text;
}

void sortByFit(std::vector<uint32_t> &programs, const bundle::BundleFile &file, const Wiring &wiring) {
  std::ranges::sort(programs, {}, [&](uint32_t index) { return std::pair(fitOf(file.program(index), wiring), index); });
}

void logWiring(Files files, uint32_t ranks, const Wiring &wiring, const std::string &name) {
  if (!isInfoEnabled())
    return;
  const std::string communicator =
      "communicator " + (name.empty() ? "" : "'" + name + "' ") + "of " + std::to_string(ranks) + " ranks: ";
  forEachProgram(files, [&](const bundle::fbs::Program &program) {
    if (program.ranks() != ranks || program.nodes() == 0)
      return;
    logOnce(communicator + wiring.text());
    if (fitOf(program, wiring) == WiringFit::None)
      logOnce(communicator + "program '" + program.name()->str() + "' " + misfitText(program, wiring));
    else if (isRenumbered(program, wiring))
      logOnce(communicator + "program '" + program.name()->str() + "' runs with renumbered ranks");
  });
}

} // namespace gc3::core
