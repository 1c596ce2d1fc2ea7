// SPDX-License-Identifier: Apache-2.0
// Colour refinement. A colour is a hash. In each round, a part's new colour depends on its own and on the colours of
// all parts to which it has a relation. When the number of colours no longer grows, they are the coarsest equitable
// partition, unless two hashes were equal by accident. So the result is checked without hashes.
#include "Symmetry.h"
#include "Hash.h"
#include <algorithm>
#include <numeric>

namespace gc3::simulate {

namespace {

/// A chain of ranks needs a round for each rank. A program with much symmetry needs few.
constexpr uint32_t mostRounds = 64;

class Refinement {
public:
  explicit Refinement(const Whole &whole) : whole(whole) {
    for (const Whole::Block &block : whole.blocks)
      blocks.push_back(Hash::of(uint64_t{0}, uint64_t{block.steps} << 32 | block.batch));
    for (const Workload::Connection &each : whole.connections)
      connections.push_back(Hash::of(uint64_t{1}, uint64_t{each.isNetwork}, each.hop));
    for (const double capacity : whole.capacities)
      resources.push_back(Hash::of(uint64_t{2}, capacity));
  }

  /// Returns false if there is too little symmetry.
  bool run() {
    size_t before = 0;
    for (uint32_t i = 0; i < mostRounds; ++i) {
      const size_t different = count(blocks);
      if (different * 2 > blocks.size())
        return false;
      const size_t all = different + count(connections) + count(resources);
      if (all == before)
        return true;
      before = all;
      round();
    }
    return false;
  }

  std::vector<uint64_t> blocks, connections, resources; ///< colours

private:
  static size_t count(std::vector<uint64_t> colours) {
    std::sort(colours.begin(), colours.end());
    return static_cast<size_t>(std::unique(colours.begin(), colours.end()) - colours.begin());
  }

  /// Returns a number that does not depend on the order of the uses.
  uint64_t colourOf(uint32_t list) const {
    uint64_t sum = 0;
    for (const ResourceUse &use : whole.usesOf(list))
      sum += Hash::of(resources[use.resource], use.weight);
    return sum;
  }

  uint64_t colourOfConnection(uint32_t number) const { return number == Whole::None ? 0 : connections[number]; }

  uint64_t nextOf(uint32_t number) const {
    const Whole::Block &block = whole.blocks[number];
    Hash hash;
    hash.add(blocks[number]);
    hash.add(colourOfConnection(block.out)), hash.add(colourOfConnection(block.in));
    for (uint32_t i = 0; i < block.awaitedCount; ++i)
      hash.add(blocks[whole.awaited[block.firstAwaited + i]]);
    for (uint32_t i = 0; i < whole.listsOf(block); ++i)
      hash.add(colourOf(block.firstUses + i));
    return hash.value();
  }

  void round() {
    std::vector<uint64_t> nextBlocks(blocks.size()), nextConnections(connections.size()), nextResources(resources);
    const auto addUser = [&](uint32_t list, uint64_t user) {
      for (const ResourceUse &use : whole.usesOf(list))
        nextResources[use.resource] += Hash::of(user, use.weight);
    };
    for (uint32_t i = 0; i < blocks.size(); ++i) {
      nextBlocks[i] = nextOf(i);
      for (uint32_t list = 0; list < whole.listsOf(whole.blocks[i]); ++list)
        addUser(whole.blocks[i].firstUses + list, Hash::of(blocks[i], uint64_t{list}));
    }
    for (uint32_t i = 0; i < connections.size(); ++i) {
      const Workload::Connection &each = whole.connections[i];
      nextConnections[i] = Hash::of(connections[i], blocks[each.sender], blocks[each.receiver],
                                    each.putUses == Whole::None ? 0 : colourOf(each.putUses));
      if (each.putUses != Whole::None)
        addUser(each.putUses, connections[i]);
    }
    blocks.swap(nextBlocks), connections.swap(nextConnections), resources.swap(nextResources);
  }

  const Whole &whole;
};

Classes classesOf(const std::vector<uint64_t> &colours) {
  Classes classes;
  std::unordered_map<uint64_t, uint32_t> numbers;
  for (uint32_t i = 0; i < colours.size(); ++i) {
    const auto [number, isNew] = numbers.try_emplace(colours[i], classes.count());
    if (isNew)
      classes.first.push_back(i), classes.sizes.push_back(0);
    classes.of.push_back(number->second);
    ++classes.sizes[number->second];
  }
  return classes;
}

Classes allDifferent(size_t count) {
  Classes classes;
  classes.of.resize(count);
  std::iota(classes.of.begin(), classes.of.end(), 0);
  classes.first = classes.of;
  classes.sizes.assign(count, 1);
  return classes;
}

/// A class and a weight, or a class of users, a number of a list, and a weight.
using Relation = std::tuple<uint32_t, uint32_t, double>;

/// The relations of each part to classes, without hashes.
class Relations {
public:
  Relations(const Whole &whole, const Partition &partition)
      : whole(whole), partition(partition), users(whole.capacities.size()) {
    for (uint32_t i = 0; i < whole.blocks.size(); ++i)
      for (uint32_t list = 0; list < whole.listsOf(whole.blocks[i]); ++list)
        addUser(whole.blocks[i].firstUses + list, partition.blocks.of[i], list);
    for (uint32_t i = 0; i < whole.connections.size(); ++i)
      if (whole.connections[i].putUses != Whole::None)
        addUser(whole.connections[i].putUses, partition.connections.of[i], Whole::None);
    for (std::vector<Relation> &each : users)
      std::sort(each.begin(), each.end());
  }

  bool areEqualBlocks(uint32_t a, uint32_t b) const {
    const Whole::Block &x = whole.blocks[a], &y = whole.blocks[b];
    if (x.steps != y.steps || x.batch != y.batch || classOfConnection(x.out) != classOfConnection(y.out) ||
        classOfConnection(x.in) != classOfConnection(y.in) || x.awaitedCount != y.awaitedCount)
      return false;
    for (uint32_t i = 0; i < x.awaitedCount; ++i)
      if (partition.blocks.of[whole.awaited[x.firstAwaited + i]] !=
          partition.blocks.of[whole.awaited[y.firstAwaited + i]])
        return false;
    for (uint32_t list = 0; list < whole.listsOf(x); ++list)
      if (usesOf(x.firstUses + list) != usesOf(y.firstUses + list))
        return false;
    return true;
  }

  bool areEqualConnections(uint32_t a, uint32_t b) const {
    const Workload::Connection &x = whole.connections[a], &y = whole.connections[b];
    const std::vector<uint32_t> &of = partition.blocks.of;
    return x.isNetwork == y.isNetwork && x.hop == y.hop && of[x.sender] == of[y.sender] &&
           of[x.receiver] == of[y.receiver] && (!x.isNetwork || usesOf(x.putUses) == usesOf(y.putUses));
  }

  bool areEqualResources(uint32_t a, uint32_t b) const {
    return whole.capacities[a] == whole.capacities[b] && users[a] == users[b];
  }

private:
  /// `number` is that of the list among those of the block.
  void addUser(uint32_t list, uint32_t ofClass, uint32_t number) {
    for (const ResourceUse &use : whole.usesOf(list))
      users[use.resource].push_back({ofClass, number, use.weight});
  }
  uint32_t classOfConnection(uint32_t number) const {
    return number == Whole::None ? Whole::None : partition.connections.of[number];
  }
  std::vector<Relation> usesOf(uint32_t list) const {
    std::vector<Relation> result;
    for (const ResourceUse &use : whole.usesOf(list))
      result.push_back({partition.resources.of[use.resource], 0, use.weight});
    std::sort(result.begin(), result.end());
    return result;
  }

  const Whole &whole;
  const Partition &partition;
  std::vector<std::vector<Relation>> users; ///< by resource, sorted
};

template <typename AreEqual>
bool areUniform(const Classes &classes, const AreEqual &areEqual) {
  for (uint32_t i = 0; i < classes.of.size(); ++i)
    if (const uint32_t first = classes.first[classes.of[i]]; first != i && !areEqual(first, i))
      return false;
  return true;
}

} // namespace

Partition withoutSymmetry(const Whole &whole) {
  return {allDifferent(whole.blocks.size()), allDifferent(whole.connections.size()),
          allDifferent(whole.capacities.size())};
}

bool isEquitable(const Whole &whole, const Partition &partition) {
  const Relations relations(whole, partition);
  return areUniform(partition.blocks, [&](uint32_t a, uint32_t b) { return relations.areEqualBlocks(a, b); }) &&
         areUniform(partition.connections,
                    [&](uint32_t a, uint32_t b) { return relations.areEqualConnections(a, b); }) &&
         areUniform(partition.resources, [&](uint32_t a, uint32_t b) { return relations.areEqualResources(a, b); });
}

Partition findSymmetry(const Whole &whole) {
  Refinement refinement(whole);
  if (!refinement.run())
    return withoutSymmetry(whole);
  Partition partition{classesOf(refinement.blocks), classesOf(refinement.connections), classesOf(refinement.resources)};
  return isEquitable(whole, partition) ? partition : withoutSymmetry(whole);
}

} // namespace gc3::simulate
