// SPDX-License-Identifier: Apache-2.0
// Chooses a place for every chunk on every rank that has the chunk at some time, and turns sends into operations on
// places.
#include "Places.h"
#include <algorithm>
#include <array>
#include <numeric>

namespace gc3::algorithm {

topology::Lattice latticeOfLoops(const topology::Topology &topology) {
  return topology.lattice.size() > 1 ? topology::Lattice(topology) : topology::Lattice({topology.ranks});
}

uint32_t blockSize(const ir::Collective &collective, ir::BufferId buffer) {
  if (buffer > ir::OutputBuffer)
    return 0;
  const ir::Shape &shape = buffer == ir::InputBuffer ? collective.input : collective.output;
  if (shape.blocks == collective.ranks)
    return shape.chunks;
  // Between its two phases, an Allreduce has scattered the sum: each rank has a part of it.
  const ir::Postcondition &post = collective.post;
  const bool isAllreduce = collective.input.blocks == 1 && collective.output.blocks == 1 && post.valueCount() > 0 &&
                           post.contributions(0) > 1 && shape.chunks == post.valueCount();
  return isAllreduce && shape.chunks % collective.ranks == 0 ? shape.chunks / collective.ranks : 0;
}

uint32_t relativeIndex(const topology::Lattice &lattice, const ir::Collective &collective, const Location &location,
                       uint32_t rank) {
  const uint32_t size = blockSize(collective, location.buffer);
  return size ? lattice.difference(location.index / size, rank) * size + location.index % size : location.index;
}

namespace {

class Placement {
public:
  Placement(const topology::Topology &topology, const ir::Collective &collective, const Demand &demand,
            const Algorithm &algorithm)
      : topology(topology), lattice(latticeOfLoops(topology)), collective(collective), demand(demand),
        algorithm(algorithm), scratchSize(demand.ranks, 0), freeScratch(demand.ranks) {}

  Operations run() {
    // The order matters: the places of chunks in outputs must be known before chunks are moved.
    findLastUses();
    if (collective.inPlace())
      findOverlaps();
    for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
      placeChunk(chunk);
    for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
      prepare(chunk);
    for (uint32_t step = 0; step < algorithm.steps(); ++step) {
      addStep(step);
      freePlaces(step);
    }
    for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
      finish(chunk);
    return std::move(result);
  }

private:
  static uint64_t key(uint32_t chunk, uint32_t rank) { return static_cast<uint64_t>(chunk) << 32 | rank; }
  bool combines(uint32_t chunk) const { return demand.sourcesOf(chunk).size() > 1; }

  Location canonical(const Location &location) const {
    const ir::Location place = ir::canonical(collective, {location.rank, location.buffer, location.index});
    return {place.rank, place.buffer, place.index};
  }
  static bool same(const Location &a, const Location &b) {
    return a.rank == b.rank && a.buffer == b.buffer && a.index == b.index;
  }

  /// Returns true if `chunk`, kept at `location` from its arrival on, would overwrite another input chunk that is sent
  /// in the same step or later. Always true if one of the two is a sum, which grows in the input, or if the rank has
  /// `chunk` from the beginning, because that chunk would be moved before all sends.
  bool overwritesInput(const Location &location, uint32_t chunk) {
    if (!collective.inPlace() || collective.aliases[location.rank].kind == ir::RankAlias::None)
      return false;
    const auto found = inputs.find(key(canonical(location).index, location.rank));
    if (found == inputs.end() || found->second == chunk)
      return false;
    const auto arrival = arrivals.find(key(chunk, location.rank));
    if (combines(chunk) || combines(found->second) || arrival == arrivals.end())
      return true;
    const auto last = lastUse.find(key(found->second, location.rank)); // none: the chunk is moved before the first step
    return last != lastUse.end() && last->second >= arrival->second;
  }

  /// Finds the places of inputs and the arrivals of chunks, for in-place programs.
  void findOverlaps() {
    for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
      for (const BufferChunk &source : demand.sourcesOf(chunk)) {
        const Location place = canonical({source.rank, ir::InputBuffer, source.index});
        inputs[key(place.index, source.rank)] = chunk;
      }
    for (uint32_t step = 0; step < algorithm.steps(); ++step)
      for (uint32_t i = algorithm.stepBegin[step]; i < algorithm.stepBegin[step + 1]; ++i)
        arrivals.try_emplace(key(algorithm.sends[i].chunk, topology.links[algorithm.sends[i].link].to),
                             algorithm.stepBegin[step]);
  }

  void placeChunk(uint32_t chunk) {
    for (const BufferChunk &target : demand.targetsOf(chunk)) {
      const Location location = {target.rank, ir::OutputBuffer, target.index};
      if (!overwritesInput(location, chunk))
        kept.try_emplace(key(chunk, target.rank), location);
    }
  }

  bool isTarget(uint32_t chunk, uint32_t rank) const {
    return llvm::any_of(demand.targetsOf(chunk), [&](const BufferChunk &target) { return target.rank == rank; });
  }

  /// Returns a place that an earlier step has freed, or a new place.
  Location newScratch(uint32_t rank) {
    std::vector<uint32_t> &free = freeScratch[rank];
    if (free.empty())
      return {rank, ir::FirstScratchBuffer, scratchSize[rank]++};
    const uint32_t index = free.back();
    free.pop_back();
    return {rank, ir::FirstScratchBuffer, index};
  }

  /// Finds the last send that needs a chunk, for chunks that a rank only forwards.
  void findLastUses() {
    for (uint32_t i = 0; i < algorithm.sends.size(); ++i) {
      const Send &send = algorithm.sends[i];
      const uint32_t rank = topology.links[send.link].from;
      if (!combines(send.chunk) && !isTarget(send.chunk, rank))
        lastUse[key(send.chunk, rank)] = i;
    }
  }

  /// Frees the places of chunks that were sent for the last time in this step. Chunks of later steps can use them.
  void freePlaces(uint32_t step) {
    std::vector<std::pair<uint32_t, uint32_t>> places; // rank, index
    for (uint32_t i = algorithm.stepBegin[step]; i < algorithm.stepBegin[step + 1]; ++i) {
      const Send &send = algorithm.sends[i];
      const uint32_t rank = topology.links[send.link].from;
      const auto last = lastUse.find(key(send.chunk, rank));
      const Location place = kept.lookup(key(send.chunk, rank));
      if (last != lastUse.end() && last->second == i && place.buffer >= ir::FirstScratchBuffer)
        places.emplace_back(rank, place.index);
    }
    // Ranks that perform the same operations must free places in the same order.
    std::sort(places.begin(), places.end(), std::greater<>());
    for (const auto &[rank, index] : places)
      freeScratch[rank].push_back(index);
  }

  /// Returns the place where the rank keeps copies of the chunk, from the first copy on.
  Location keptAt(uint32_t chunk, uint32_t rank) {
    const auto found = kept.find(key(chunk, rank));
    if (found != kept.end())
      return found->second;
    return kept[key(chunk, rank)] = newScratch(rank);
  }

  static void addLocal(std::vector<Operation> &operations, const Location &from, const Location &to) {
    operations.push_back({from, to, SendKind::Copy, 1});
  }

  /// Sets the place of the chunk on each rank that has it from the beginning. Copies it to the output if the output of
  /// such a rank must hold it.
  void prepare(uint32_t chunk) {
    for (const BufferChunk &source : demand.sourcesOf(chunk)) {
      const Location input = {source.rank, ir::InputBuffer, source.index};
      const auto found = kept.find(key(chunk, source.rank));
      if (combines(chunk)) {
        sums[key(chunk, source.rank)] = input;
        continue;
      }
      const bool isKept = found != kept.end();
      if (isKept || isTarget(chunk, source.rank))
        addLocal(result.before, input, isKept ? found->second : keptAt(chunk, source.rank));
      else
        kept[key(chunk, source.rank)] = input;
    }
  }

  /// Returns the place where the rank has the chunk now. The first copy of a finished sum moves the sum to the place of
  /// copies.
  Location current(std::vector<Operation> &operations, uint32_t chunk, uint32_t rank, SendKind kind) {
    const auto sum = sums.find(key(chunk, rank));
    if (sum == sums.end())
      return keptAt(chunk, rank);
    const Location input = sum->second;
    if (kind == SendKind::Reduce)
      return input;
    const Location place = keptAt(chunk, rank);
    addLocal(operations, input, place);
    sums.erase(key(chunk, rank));
    return place;
  }

  /// Returns the sends of a step in an order that is the same for all ranks with the same operations, so that these
  /// ranks number scratch equally.
  std::vector<uint32_t> inOrder(uint32_t step) {
    std::vector<uint32_t> order(algorithm.stepBegin[step + 1] - algorithm.stepBegin[step]);
    std::iota(order.begin(), order.end(), algorithm.stepBegin[step]);
    std::vector<std::array<uint32_t, 4>> keys(order.size());
    for (uint32_t i : order) {
      const topology::Link &link = topology.links[algorithm.sends[i].link];
      const Location from = peek(algorithm.sends[i].chunk, link.from);
      keys[i - algorithm.stepBegin[step]] = {lattice.difference(link.to, link.from), from.buffer,
                                             relativeIndex(lattice, collective, from, link.from), link.from};
    }
    const uint32_t first = algorithm.stepBegin[step];
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return keys[a - first] < keys[b - first]; });
    return order;
  }

  /// Like current(), but does not move a sum.
  Location peek(uint32_t chunk, uint32_t rank) const {
    const auto sum = sums.find(key(chunk, rank));
    return sum != sums.end() ? sum->second : kept.lookup(key(chunk, rank));
  }

  void addStep(uint32_t step) {
    std::vector<Operation> &operations = result.steps.emplace_back();
    for (uint32_t i : inOrder(step)) {
      const Send &send = algorithm.sends[i];
      const topology::Link &link = topology.links[send.link];
      const Location from = current(operations, send.chunk, link.from, send.kind);
      const bool reduces = send.kind == SendKind::Reduce;
      if (!reduces)
        sums.erase(key(send.chunk, link.to)); // overwritten
      operations.push_back({from,
                            reduces ? current(operations, send.chunk, link.to, send.kind) : keptAt(send.chunk, link.to),
                            send.kind, 1});
    }
  }

  /// Moves the chunk to the outputs that do not hold it yet.
  void finish(uint32_t chunk) {
    for (const BufferChunk &target : demand.targetsOf(chunk)) {
      const Location output = {target.rank, ir::OutputBuffer, target.index};
      const Location from = current(result.after, chunk, target.rank, SendKind::Reduce);
      if (!same(from, output))
        addLocal(result.after, from, output);
    }
  }

  const topology::Topology &topology;
  const topology::Lattice lattice;
  const ir::Collective &collective;
  const Demand &demand;
  const Algorithm &algorithm;
  std::vector<uint32_t> scratchSize;                            ///< by rank
  std::vector<std::vector<uint32_t>> freeScratch;               ///< by rank
  llvm::DenseMap<uint64_t, uint32_t, PackedKeyInfo> lastUse;    ///< by chunk and rank
  llvm::DenseMap<uint64_t, Location, PackedKeyInfo> kept, sums; ///< by chunk and rank
  llvm::DenseMap<uint64_t, uint32_t, PackedKeyInfo> inputs;     ///< number of the chunk, by place and rank
  llvm::DenseMap<uint64_t, uint32_t, PackedKeyInfo> arrivals;   ///< by chunk and rank: the first send of the step in
                                                                ///< which the chunk arrives
  Operations result;
};

} // namespace

Operations placeOperations(const topology::Topology &topology, const ir::Collective &collective, const Demand &demand,
                           const Algorithm &algorithm) {
  return Placement(topology, collective, demand, algorithm).run();
}

} // namespace gc3::algorithm
