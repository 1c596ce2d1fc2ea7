// SPDX-License-Identifier: Apache-2.0
// Candidates that gc3-synth's greedy search and flow find for the topology. Both are deterministic.
#include "Candidates.h"
#include "gc3-synth/Report.h"
#include <atomic>

namespace gc3::tune {

/// Searches once. Returns nothing if there is no result; `error` is the reason, if there is one.
static std::optional<synth::Result> searchOnce(const topology::Topology &topology, const synth::CommandLine &request,
                                               std::string &error) {
  const std::atomic<bool> interrupted{false};
  synth::Result result = search(
      topology, request, interrupted, [](const synth::Trial &) {}, error);
  if (result.found.empty() || !error.empty())
    return std::nullopt;
  return result;
}

std::string Candidates::addSynthesized(const topology::Topology &machine) {
  topology::Topology topology = machine;
  topology.expandSwitches();
  synth::CommandLine request;
  request.topology = line.topology, request.collective = line.synthesize, request.goal = synth::Goal::FewRounds;
  request.seed = 1, request.spelled = "gc3-tune --synthesize=" + line.synthesize;
  std::string error;
  bool isFound = false;
  for (const uint32_t parts : {1, 2, 4})          // chunks are cut in so many parts
    for (const uint32_t roundsPerStep : {1, 4}) { // few rounds, or few steps
      request.chunks = parts * synth::chunkUnit(line.synthesize, topology.ranks);
      request.roundsPerStep = roundsPerStep;
      const std::optional<synth::Result> result = searchOnce(topology, request, error);
      if (!error.empty())
        return "--synthesize: " + error;
      if (!result)
        continue;
      isFound = true;
      for (const char *protocol : {"Simple", "LL", "LL128"}) {
        request.protocol = protocol;
        Job job;
        job.file = "gc3-synth", job.text = programs(request, *result), job.from = driver::From::Source;
        job.label = "_parts" + std::to_string(parts) + "_rounds" + std::to_string(roundsPerStep) + "_" + protocol;
        jobs.push_back(std::move(job));
      }
    }
  return isFound ? "" : "--synthesize: no program for " + line.synthesize + " was found";
}

} // namespace gc3::tune
