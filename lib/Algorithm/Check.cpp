// SPDX-License-Identifier: Apache-2.0
// Replays an algorithm. First checks that the rounds of each step have enough bandwidth for the step's sends. Then
// replays the sends of each chunk separately, and tracks the contributions that each rank has.
#include "gc3/Algorithm/Algorithm.h"
#include "gc3/Support/Quantity.h"
#include <algorithm>

namespace gc3::algorithm {

namespace {

std::string inStep(uint32_t step) {
  return "in step " + std::to_string(step + 1) + " ";
}

/// Counts the sends over each link and under each bound, step by step.
class Bandwidth {
public:
  Bandwidth(const topology::Topology &topology, const Algorithm &algorithm)
      : topology(topology), algorithm(algorithm), overLink(topology.links.size(), 0) {}

  std::string findError() {
    std::string problem;
    for (uint32_t step = 0; step < algorithm.steps() && problem.empty(); ++step) {
      std::fill(overLink.begin(), overLink.end(), 0);
      for (uint32_t i = algorithm.stepBegin[step]; i < algorithm.stepBegin[step + 1]; ++i)
        ++overLink[algorithm.sends[i].link];
      problem = findOverloadedLink(step);
      if (problem.empty())
        problem = findExceededBound(step);
    }
    return problem;
  }

private:
  std::string tooMany(uint32_t step, const std::string &where, uint64_t sent, uint64_t perRound) const {
    return inStep(step) + quantity(sent, "chunk") + " " + (sent == 1 ? "goes" : "go") + " over " + where +
           ", but the limit in " + quantity(algorithm.rounds[step], "round") + " is " +
           std::to_string(perRound * algorithm.rounds[step]);
  }

  std::string findOverloadedLink(uint32_t step) const {
    for (uint32_t i = 0; i < topology.linkCount(); ++i) {
      const topology::Link &link = topology.links[i];
      if (overLink[i] > static_cast<uint64_t>(link.bandwidth) * algorithm.rounds[step])
        return tooMany(step, "the link from " + std::to_string(link.from) + " to " + std::to_string(link.to),
                       overLink[i], link.bandwidth);
    }
    return {};
  }

  std::string findExceededBound(uint32_t step) const {
    for (uint32_t bound = 0; bound < topology.boundCount(); ++bound) {
      uint64_t sent = 0;
      for (uint32_t i = topology.boundBegin[bound]; i < topology.boundBegin[bound + 1]; ++i)
        sent += overLink[topology.boundLinks[i]];
      if (sent > static_cast<uint64_t>(topology.boundBandwidth[bound]) * algorithm.rounds[step])
        return tooMany(step, "the links of bound " + std::to_string(bound), sent, topology.boundBandwidth[bound]);
    }
    return {};
  }

  const topology::Topology &topology;
  const Algorithm &algorithm;
  std::vector<uint64_t> overLink;
};

/// Replays the sends of one chunk at a time, and tracks the contributions that each rank has.
class Contents {
public:
  Contents(const topology::Topology &topology, const Demand &demand, const Algorithm &algorithm)
      : topology(topology), demand(demand), algorithm(algorithm), writtenIn(demand.ranks, 0), readIn(demand.ranks, 0),
        wasReduced(demand.ranks, 0) {
    order = sendsByChunk(demand.chunks(), algorithm, begin);
    stepOf.reserve(algorithm.sends.size());
    for (uint32_t step = 0; step < algorithm.steps(); ++step)
      stepOf.insert(stepOf.end(), algorithm.stepBegin[step + 1] - algorithm.stepBegin[step], step);
  }

  std::string findError() {
    std::string problem;
    for (uint32_t chunk = 0; chunk < demand.chunks() && problem.empty(); ++chunk) {
      start(chunk);
      for (uint32_t i = begin[chunk]; i < begin[chunk + 1] && problem.empty(); ++i)
        problem = send(algorithm.sends[order[i]], stepOf[order[i]]);
      if (problem.empty())
        problem = findIncompleteTarget(chunk);
    }
    return problem;
  }

private:
  uint64_t *of(uint32_t rank) { return &have[static_cast<size_t>(rank) * words]; }
  bool isEmpty(uint32_t rank) {
    return std::all_of(of(rank), of(rank) + words, [](uint64_t word) { return word == 0; });
  }

  void start(uint32_t chunk) {
    const llvm::ArrayRef<BufferChunk> sources = demand.sourcesOf(chunk);
    words = (sources.size() + 63) / 64;
    have.assign(words * demand.ranks, 0);
    for (size_t i = 0; i < sources.size(); ++i)
      of(sources[i].rank)[i / 64] |= uint64_t(1) << i % 64;
    std::fill(writtenIn.begin(), writtenIn.end(), 0);
    std::fill(readIn.begin(), readIn.end(), 0);
  }

  std::string send(const Send &send, uint32_t step) {
    const uint32_t from = topology.links[send.link].from, to = topology.links[send.link].to;
    const std::string what = "chunk " + std::to_string(send.chunk);
    if (isEmpty(from))
      return inStep(step) + "rank " + std::to_string(from) + " sends " + what + ", which it does not have";
    const bool isReduction = send.kind == SendKind::Reduce;
    const uint32_t now = step + 1; // plus 1, because 0 means no step
    for (auto [rank, other] : {std::pair(from, &writtenIn), std::pair(to, &readIn)})
      if ((*other)[rank] == now)
        return inStep(step) + "rank " + std::to_string(rank) + " both receives and sends " + what;
    if (writtenIn[to] == now && !(isReduction && wasReduced[to]))
      return inStep(step) + "rank " + std::to_string(to) + " receives " + what + " twice";
    readIn[from] = writtenIn[to] = now;
    wasReduced[to] = isReduction;
    for (size_t word = 0; word < words; ++word) {
      if (isReduction && (of(to)[word] & of(from)[word]) != 0)
        return inStep(step) + "rank " + std::to_string(to) + " adds contributions to " + what + " that it already has";
      of(to)[word] = of(from)[word] | (isReduction ? of(to)[word] : 0);
    }
    return {};
  }

  std::string findIncompleteTarget(uint32_t chunk) {
    const auto whole = static_cast<uint64_t>(demand.sourcesOf(chunk).size());
    for (const BufferChunk &target : demand.targetsOf(chunk)) {
      uint64_t there = 0;
      for (size_t word = 0; word < words; ++word)
        there += static_cast<uint64_t>(__builtin_popcountll(of(target.rank)[word]));
      if (there != whole)
        return "rank " + std::to_string(target.rank) + " ends with " + std::to_string(there) + " of " +
               quantity(whole, "contribution") + " to chunk " + std::to_string(chunk);
    }
    return {};
  }

  const topology::Topology &topology;
  const Demand &demand;
  const Algorithm &algorithm;
  std::vector<uint32_t> begin, order, stepOf;
  std::vector<uint32_t> writtenIn, readIn; ///< by rank: the last step that writes or reads the chunk, plus 1; 0: none
  std::vector<uint8_t> wasReduced;         ///< by rank: 1 if the last write was a reduction
  size_t words = 1;
  std::vector<uint64_t> have; ///< by rank: the contributions that it has, as a bit set of `words` words
};

} // namespace

std::string findError(const topology::Topology &topology, const Demand &demand, const Algorithm &algorithm) {
  for (const Send &send : algorithm.sends)
    if (send.link >= topology.linkCount() || send.chunk >= demand.chunks())
      return "a send names a chunk or a link that does not exist";
  std::string problem = Bandwidth(topology, algorithm).findError();
  return problem.empty() ? Contents(topology, demand, algorithm).findError() : problem;
}

} // namespace gc3::algorithm
