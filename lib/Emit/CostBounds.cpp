// SPDX-License-Identifier: Apache-2.0
// Lower bounds on the slots that ranks send. A program cannot take a contribution out of a reduction again. So data
// that serves one value cannot serve another value, unless both values share contributions. Values that share
// contributions form a group, and the bounds of groups add up.
//
// A value whose contributions are on the ranks S, and which the ranks T need, takes at least |S \ {p}| + |T \ {p}|
// messages, where p is the first rank that has the whole value. Before that, every other rank of S has sent something.
// After that, every other rank of T receives something. Linear in the contributions and the output chunks.
#include "gc3/Emit/Cost.h"
#include <algorithm>
#include <numeric>

using namespace gc3::ir;
using namespace gc3::emit;

namespace {

class BoundsFinder {
public:
  BoundsFinder(const Collective &collective, uint32_t subdivision)
      : collective(collective), post(collective.post), subdivision(subdivision), values(collective.post.valueCount()) {}

  CostBounds run();

private:
  /// A value, with the ranks that contribute to it and those that need it.
  struct Value {
    uint32_t group;
    uint32_t sources = 0;        ///< |S|
    uint32_t targets = 0;        ///< |T|
    uint32_t firstTarget = None; ///< a rank of T
    bool meets = false;          ///< true if S and T share a rank
  };

  template <typename Visit>
  void eachContribution(uint32_t value, Visit visit) const;
  uint32_t rootOfGroup(uint32_t value);
  void joinGroups();
  void countSources();
  void countTargets();
  void addSends();

  const Collective &collective;
  const Postcondition &post;
  const uint32_t subdivision;
  std::vector<Value> values;
  std::vector<uint32_t> sourceBegin = {0}; // by value: its source ranks, without repetition
  std::vector<uint32_t> sources;
  CostBounds bounds;
};

} // namespace

template <typename Visit>
void BoundsFinder::eachContribution(uint32_t value, Visit visit) const {
  for (uint32_t i = post.valueBegin[value]; i != post.valueBegin[value + 1]; ++i) {
    const Run &run = post.runs[i];
    for (int64_t k = 0; k != run.length; ++k)
      visit(static_cast<uint32_t>(run.rank + k * run.rankStride),
            static_cast<uint32_t>(run.index + k * run.indexStride));
  }
}

uint32_t BoundsFinder::rootOfGroup(uint32_t value) {
  while (values[value].group != value)
    value = values[value].group = values[values[value].group].group;
  return value;
}

/// Joins values with a common contribution.
void BoundsFinder::joinGroups() {
  const uint64_t perRank = collective.input.total();
  std::vector<uint32_t> userOf(collective.ranks * perRank, None); // by input chunk: a value that it contributes to
  for (uint32_t value = 0; value != values.size(); ++value)
    values[value].group = value;
  for (uint32_t value = 0; value != values.size(); ++value)
    eachContribution(value, [&](uint32_t rank, uint32_t index) {
      uint32_t &user = userOf[rank * perRank + index];
      if (user == None)
        user = value;
      else
        values[rootOfGroup(value)].group = rootOfGroup(user);
    });
  for (uint32_t value = 0; value != values.size(); ++value)
    values[value].group = rootOfGroup(value);
}

void BoundsFinder::countSources() {
  for (uint32_t value = 0; value != values.size(); ++value) {
    eachContribution(value, [&](uint32_t rank, uint32_t) { sources.push_back(rank); });
    auto begin = sources.begin() + sourceBegin.back();
    std::sort(begin, sources.end());
    sources.erase(std::unique(begin, sources.end()), sources.end());
    values[value].sources = static_cast<uint32_t>(sources.size()) - sourceBegin.back();
    sourceBegin.push_back(static_cast<uint32_t>(sources.size()));
  }
}

/// Counts the ranks that need each value, and the groups of which each rank must receive something.
void BoundsFinder::countTargets() {
  std::vector<uint32_t> lastRank(values.size(), None), lastEntry(values.size(), None); // by value; by group
  for (uint32_t rank = 0; rank != collective.ranks; ++rank)
    for (uint32_t index = 0; index != collective.size(rank, OutputBuffer); ++index) {
      const uint32_t wanted = post.wanted(rank, index);
      if (wanted == Postcondition::Anything || lastRank[wanted - 1] == rank)
        continue;
      lastRank[wanted - 1] = rank;
      Value &value = values[wanted - 1];
      const bool isSource =
          std::binary_search(sources.begin() + sourceBegin[wanted - 1], sources.begin() + sourceBegin[wanted], rank);
      value.firstTarget = value.targets++ == 0 ? rank : value.firstTarget;
      value.meets |= isSource;
      if (value.sources != uint32_t(isSource) && lastEntry[value.group] != rank) {
        lastEntry[value.group] = rank;
        bounds.slotsIn[rank] += subdivision;
      }
    }
}

/// Adds up the sends of each group, and counts the groups of which each rank must send something.
void BoundsFinder::addSends() {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return values[a].group < values[b].group; });
  std::vector<uint32_t> most(values.size()), lastExit(collective.ranks, None); // by group; by rank
  for (uint32_t index : order) {
    const Value &value = values[index];
    const uint32_t sends = value.sources + value.targets - 1 - value.meets;
    most[value.group] = std::max(most[value.group], sends);
    bounds.messages = std::max<uint32_t>(bounds.messages, sends != 0);
    for (uint32_t i = sourceBegin[index]; i != sourceBegin[index + 1]; ++i) {
      const uint32_t rank = sources[i];
      const bool staysHere = value.targets == 1 && value.firstTarget == rank;
      if (!staysHere && lastExit[rank] != value.group) {
        lastExit[rank] = value.group;
        bounds.slotsOut[rank] += subdivision;
      }
    }
  }
  bounds.slotsSent = std::accumulate(most.begin(), most.end(), uint64_t(0)) * subdivision;
}

CostBounds BoundsFinder::run() {
  bounds.slotsOut.resize(collective.ranks);
  bounds.slotsIn.resize(collective.ranks);
  joinGroups();
  countSources();
  countTargets();
  addSends();
  return std::move(bounds);
}

std::optional<CostBounds> gc3::emit::costBounds(const Collective &collective, uint32_t subdivision) {
  constexpr uint64_t mostContributions = 1 << 26;
  uint64_t contributions = 0;
  for (const Run &run : collective.post.runs)
    contributions += run.length;
  if (contributions > mostContributions)
    return std::nullopt;
  return BoundsFinder(collective, subdivision).run();
}
