// SPDX-License-Identifier: Apache-2.0
// Puts each send of a step into the first of its parts in which the link and all its bounds have room.
#include "SplitSteps.h"
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>

namespace gc3::synth {

namespace {

/// The rounds of the parts that each step is cut into.
std::vector<std::vector<uint32_t>> partsOf(const algorithm::Algorithm &algorithm, Shape shape) {
  std::vector<std::vector<uint32_t>> parts;
  uint32_t rounds = 0, steps = algorithm.steps();
  for (uint32_t each : algorithm.rounds) {
    parts.push_back({each});
    rounds += each;
  }
  parts.back().back() += shape.rounds - rounds; // left over
  for (std::vector<uint32_t> &step : parts)
    for (; steps < shape.steps && step.back() > 1; ++steps) {
      --step.back();
      step.insert(step.end() - 1, 1);
    }
  return parts;
}

/// What is left in each part for each link and bound.
class Room {
public:
  Room(const topology::Topology &topology, const topology::BoundsOfLinks &boundsOf, const std::vector<uint32_t> &rounds)
      : topology(topology), boundsOf(boundsOf) {
    for (uint32_t each : rounds) {
      std::vector<uint64_t> &part = left.emplace_back();
      for (const topology::Link &link : topology.links)
        part.push_back(static_cast<uint64_t>(link.bandwidth) * each);
      for (uint32_t bandwidth : topology.boundBandwidth)
        part.push_back(static_cast<uint64_t>(bandwidth) * each);
    }
  }

  /// The part that takes the send; the number of parts if none does.
  size_t take(uint32_t link) {
    for (size_t i = 0; i < left.size(); ++i) {
      std::vector<uint64_t> &part = left[i];
      const llvm::ArrayRef<uint32_t> bounds =
          llvm::makeArrayRef(boundsOf.bounds)
              .slice(boundsOf.begin[link], boundsOf.begin[link + 1] - boundsOf.begin[link]);
      auto boundOf = [&](uint32_t bound) -> uint64_t & { return part[topology.links.size() + bound]; };
      if (part[link] == 0 || std::any_of(bounds.begin(), bounds.end(), [&](uint32_t b) { return boundOf(b) == 0; }))
        continue;
      --part[link];
      for (uint32_t bound : bounds)
        --boundOf(bound);
      return i;
    }
    return left.size();
  }

private:
  const topology::Topology &topology;
  const topology::BoundsOfLinks &boundsOf;
  std::vector<std::vector<uint64_t>> left;
};

} // namespace

std::optional<algorithm::Algorithm> splitSteps(const topology::Topology &topology,
                                               const algorithm::Algorithm &algorithm, Shape shape) {
  const topology::BoundsOfLinks boundsOf = boundsOfLinks(topology);
  const std::vector<std::vector<uint32_t>> parts = partsOf(algorithm, shape);
  algorithm::Algorithm result;
  for (uint32_t step = 0; step < algorithm.steps(); ++step) {
    Room room(topology, boundsOf, parts[step]);
    std::vector<std::vector<algorithm::Send>> sends(parts[step].size());
    for (uint32_t i = algorithm.stepBegin[step]; i < algorithm.stepBegin[step + 1]; ++i) {
      const size_t part = room.take(algorithm.sends[i].link);
      if (part == sends.size())
        return {};
      sends[part].push_back(algorithm.sends[i]);
    }
    for (size_t part = 0; part < sends.size(); ++part) {
      result.sends.insert(result.sends.end(), sends[part].begin(), sends[part].end());
      result.endStep(parts[step][part]);
    }
  }
  return result;
}

} // namespace gc3::synth
