// SPDX-License-Identifier: Apache-2.0
// Chooses a place for every chunk on every rank that ever holds the chunk, and turns the sends into operations on these
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
  // The buffers of an Allreduce have one block. Between the two phases of an Allreduce, however, each rank holds a part
  // of the sum. Here, such a part counts as a block.
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
    // placeChunk() must have chosen the places of all chunks in outputs before prepare() and addStep() copy chunks.
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

  /// Returns true if `chunk`, stored at `location` on its arrival, would overwrite another input chunk too early. There
  /// are three cases. First, the rank sends the other chunk in the same step or later. Second, one of the two chunks is
  /// a sum, because sums accumulate in the input. Third, the rank has `chunk` from the start, because prepare() would
  /// copy `chunk` before all sends.
  bool overwritesInput(const Location &location, uint32_t chunk) {
    if (!collective.inPlace() || collective.aliases[location.rank].kind == ir::RankAlias::None)
      return false;
    const auto found = inputs.find(key(canonical(location).index, location.rank));
    if (found == inputs.end() || found->second == chunk)
      return false;
    const auto arrival = arrivals.find(key(chunk, location.rank));
    if (combines(chunk) || combines(found->second) || arrival == arrivals.end())
      return true;
    // No entry if the rank never sends the chunk, or if prepare() copies the chunk before the first step.
    const auto last = lastUse.find(key(found->second, location.rank));
    return last != lastUse.end() && last->second >= arrival->second;
  }

  /// Records the place of each input chunk and the arrival of each chunk, for in-place programs.
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

  /// Returns a scratch place that an earlier step has freed, or a new one.
  Location newScratch(uint32_t rank) {
    std::vector<uint32_t> &free = freeScratch[rank];
    if (free.empty())
      return {rank, ir::FirstScratchBuffer, scratchSize[rank]++};
    const uint32_t index = free.back();
    free.pop_back();
    return {rank, ir::FirstScratchBuffer, index};
  }

  /// Records the last send of each chunk by a rank that does not need the chunk in its output. Such a rank can then
  /// reuse the chunk's place.
  void findLastUses() {
    for (uint32_t i = 0; i < algorithm.sends.size(); ++i) {
      const Send &send = algorithm.sends[i];
      const uint32_t rank = topology.links[send.link].from;
      if (!combines(send.chunk) && !isTarget(send.chunk, rank))
        lastUse[key(send.chunk, rank)] = i;
    }
  }

  /// Frees the scratch places of chunks that this step sends for the last time. Chunks of later steps can use these
  /// places.
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
    // Ranks that perform the same operations must free places in the same order, so that they number scratch equally
    // and a loop can print their operations.
    std::sort(places.begin(), places.end(), std::greater<>());
    for (const auto &[rank, index] : places)
      freeScratch[rank].push_back(index);
  }

  /// Returns the rank's place for copies of the chunk. Allocates scratch if the chunk has no such place yet.
  Location keptAt(uint32_t chunk, uint32_t rank) {
    const auto found = kept.find(key(chunk, rank));
    if (found != kept.end())
      return found->second;
    return kept[key(chunk, rank)] = newScratch(rank);
  }

  static void addLocal(std::vector<Operation> &operations, const Location &from, const Location &to) {
    operations.push_back({from, to, SendKind::Copy, 1});
  }

  /// Sets the place of the chunk on each rank that has it at the start. If this rank's output must hold the chunk, adds
  /// a copy before the first step. The copy goes to the output, or to scratch if it would overwrite an input chunk in
  /// the output.
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

  /// Returns the place where the rank has the chunk now. A sum accumulates in the input. If a copy needs the sum, moves
  /// the sum to the rank's place for copies first.
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

  /// Returns the sends of a step in an order that depends only on their form relative to the sending rank. So ranks
  /// that perform the same operations number scratch equally.
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
        sums.erase(key(send.chunk, link.to)); // the copy replaces the sum
      operations.push_back({from,
                            reduces ? current(operations, send.chunk, link.to, send.kind) : keptAt(send.chunk, link.to),
                            send.kind, 1});
    }
  }

  /// Copies the chunk to the outputs that do not hold it yet.
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
  std::vector<uint32_t> scratchSize;                            ///< number of scratch chunks, by rank
  std::vector<std::vector<uint32_t>> freeScratch;               ///< indices of free scratch chunks, by rank
  llvm::DenseMap<uint64_t, uint32_t, PackedKeyInfo> lastUse;    ///< last send of a chunk by a rank, by chunk and rank
  llvm::DenseMap<uint64_t, Location, PackedKeyInfo> kept, sums; ///< places of copies and of sums, by chunk and rank
  llvm::DenseMap<uint64_t, uint32_t, PackedKeyInfo> inputs;     ///< chunk that an input place holds, by place and rank
  /// first send of the step in which a chunk arrives at a rank, by chunk and rank
  llvm::DenseMap<uint64_t, uint32_t, PackedKeyInfo> arrivals;
  Operations result;
};

} // namespace

Operations placeOperations(const topology::Topology &topology, const ir::Collective &collective, const Demand &demand,
                           const Algorithm &algorithm) {
  return Placement(topology, collective, demand, algorithm).run();
}

} // namespace gc3::algorithm
