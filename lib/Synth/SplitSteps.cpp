// SPDX-License-Identifier: Apache-2.0
// Puts each send of a step into the first part of the step in which the link and all its bounds have capacity left.
#include "SplitSteps.h"
#include "llvm/ADT/STLExtras.h"

namespace gc3::synth {

namespace {

/// Returns, by step, the rounds of the parts that the step is cut into.
std::vector<std::vector<uint32_t>> partsOf(const algorithm::Algorithm &algorithm, Shape shape) {
  std::vector<std::vector<uint32_t>> parts;
  uint32_t rounds = 0, steps = algorithm.steps();
  for (uint32_t each : algorithm.rounds) {
    parts.push_back({each});
    rounds += each;
  }
  parts.back().back() += shape.rounds - rounds; // the last part gets the unused rounds
  for (std::vector<uint32_t> &step : parts)
    for (; steps < shape.steps && step.back() > 1; ++steps) {
      --step.back();
      step.insert(step.end() - 1, 1);
    }
  return parts;
}

/// The remaining capacity of each link and bound in each part.
class Room {
public:
  Room(const topology::Topology &topology, const topology::BoundsOfLinks &boundsOf, const std::vector<uint32_t> &rounds)
      : topology(topology), boundsOf(boundsOf) {
    for (uint32_t each : rounds) {
      std::vector<int64_t> &part = left.emplace_back();
      for (const topology::Link &link : topology.links)
        part.push_back(static_cast<int64_t>(link.bandwidth) * each);
      for (uint32_t bandwidth : topology.boundBandwidth)
        part.push_back(static_cast<int64_t>(bandwidth) * each);
    }
  }

  /// Uses capacity for the send. Returns the number of the part that has this capacity, or the number of parts if no
  /// part has it.
  size_t take(uint32_t link) {
    for (size_t i = 0; i < left.size(); ++i) {
      const llvm::ArrayRef<uint32_t> bounds =
          llvm::makeArrayRef(boundsOf.bounds)
              .slice(boundsOf.begin[link], boundsOf.begin[link + 1] - boundsOf.begin[link]);
      const auto subtract = [&](int64_t sends) {
        left[i][link] -= sends;
        for (uint32_t bound : bounds) // a bound that lists the link twice counts the send twice
          left[i][topology.links.size() + bound] -= sends;
      };
      subtract(1);
      if (left[i][link] >= 0 &&
          llvm::all_of(bounds, [&](uint32_t bound) { return left[i][topology.links.size() + bound] >= 0; }))
        return i;
      subtract(-1);
    }
    return left.size();
  }

private:
  const topology::Topology &topology;
  const topology::BoundsOfLinks &boundsOf;
  std::vector<std::vector<int64_t>> left;
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
