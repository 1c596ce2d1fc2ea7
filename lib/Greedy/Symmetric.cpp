// SPDX-License-Identifier: Apache-2.0
#include "Symmetric.h"
#include "gc3/Support/StopCheck.h"
#include <algorithm>
#include <map>

namespace gc3::greedy {

using algorithm::Algorithm;
using algorithm::BufferChunk;
using algorithm::Demand;
using topology::Topology;

std::optional<Symmetric> Symmetric::find(const Topology &topology, const Demand &demand,
                                         const std::function<bool()> &stops) {
  std::optional<topology::LinkClasses> classes = linkClasses(topology);
  if (!classes)
    return {};
  Symmetric found(topology, std::move(*classes));
  if (!found.alignChunks(demand, stops))
    return {};
  found.extractShare(demand);
  found.limitLinks(topology);
  return found;
}

/// Sorts the chunks of each point by their source and targets relative to the point. Returns false if two points have
/// different chunks, or if `stops` returns true.
bool Symmetric::alignChunks(const Demand &demand, const std::function<bool()> &stops) {
  constexpr uint64_t workOfTarget = 16; // in units of StopCheck, because making and sorting the vectors is slow
  StopCheck stop(stops);
  using Vectors = std::vector<uint32_t>; // the place of the source in its point, then the vectors from the source to
                                         // the ranks that want the chunk; no vectors if all ranks want it
  std::vector<std::vector<std::pair<Vectors, uint32_t>>> own(classes.points());
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
    if (stop.addWork(workOfTarget * demand.targetsOf(chunk).size()))
      return false;
    const uint32_t source = demand.sourcesOf(chunk)[0].rank;
    Vectors vectors;
    if (!isWantedEverywhere(demand, chunk))
      for (const BufferChunk &target : demand.targetsOf(chunk))
        vectors.push_back(lattice.difference(target.rank, source));
    std::sort(vectors.begin(), vectors.end());
    vectors.erase(std::unique(vectors.begin(), vectors.end()), vectors.end());
    vectors.insert(vectors.begin(), source % lattice.cell());
    own[source / lattice.cell()].emplace_back(std::move(vectors), chunk);
  }
  perPoint = static_cast<uint32_t>(own[0].size());
  for (auto &ofPoint : own) {
    if (stop.addWork(workOfTarget * ofPoint.size()))
      return false;
    std::sort(ofPoint.begin(), ofPoint.end());
    const bool isSame = std::equal(ofPoint.begin(), ofPoint.end(), own[0].begin(), own[0].end(),
                                   [](const auto &a, const auto &b) { return a.first == b.first; });
    if (!isSame)
      return false;
    for (const auto &[vectors, chunk] : ofPoint)
      chunks.push_back(chunk);
  }
  return perPoint != 0;
}

void Symmetric::extractShare(const Demand &demand) {
  ownDemand.ranks = demand.ranks;
  for (uint32_t i = 0; i < perPoint; ++i) {
    const auto sources = demand.sourcesOf(chunks[i]), targets = demand.targetsOf(chunks[i]);
    ownDemand.sources.insert(ownDemand.sources.end(), sources.begin(), sources.end());
    ownDemand.sourceBegin.push_back(static_cast<uint32_t>(ownDemand.sources.size()));
    ownDemand.targets.insert(ownDemand.targets.end(), targets.begin(), targets.end());
    ownDemand.targetBegin.push_back(static_cast<uint32_t>(ownDemand.targets.size()));
  }
}

/// Adapts the bounds to the share. Suppose that the first point sends n chunks over links of a class in a step. In the
/// whole problem, each link of the class then carries n chunks. So a bound over m links of a class counts these chunks
/// m times. Equal bounds are merged.
void Symmetric::limitLinks(const Topology &whole) {
  classOf.resize(whole.links.size());
  for (uint32_t i = 0; i < classes.links.size(); ++i)
    classOf[classes.links[i]] = i % classes.classes;
  std::map<std::vector<uint32_t>, uint32_t> limits; // bandwidth by number of links in each class
  auto limit = [&](const std::vector<uint32_t> &counts, uint32_t bandwidth) {
    const auto [known, isNew] = limits.try_emplace(counts, bandwidth);
    known->second = std::min(known->second, bandwidth);
  };
  std::vector<uint32_t> counts(classes.classes, 0);
  for (uint32_t c = 0; c < classes.classes; ++c) {
    counts[c] = 1;
    limit(counts, whole.links[classes.link(0, c)].bandwidth);
    counts[c] = 0;
  }
  for (uint32_t bound = 0; bound < whole.boundCount(); ++bound) {
    std::fill(counts.begin(), counts.end(), 0);
    for (uint32_t i = whole.boundBegin[bound]; i < whole.boundBegin[bound + 1]; ++i)
      ++counts[classOf[whole.boundLinks[i]]];
    limit(counts, whole.boundBandwidth[bound]);
  }
  ownTopology.clearBounds();
  for (const auto &[times, bandwidth] : limits) {
    std::vector<uint32_t> links;
    for (uint32_t c = 0; c < classes.classes; ++c)
      for (uint32_t point = 0; times[c] != 0 && point < classes.points(); ++point)
        links.insert(links.end(), times[c], classes.link(point, c));
    ownTopology.addBound(links, bandwidth);
  }
}

std::vector<uint32_t> Symmetric::orbits() const {
  std::vector<uint32_t> result(ownDemand.ranks);
  for (uint32_t rank = 0; rank < ownDemand.ranks; ++rank)
    result[rank] = rank % lattice.cell();
  return result;
}

Algorithm Symmetric::expand(const Algorithm &ofShare) const {
  Algorithm all;
  all.sends.reserve(ofShare.sends.size() * classes.points());
  for (uint32_t step = 0; step < ofShare.steps(); ++step) {
    for (uint32_t point = 0; point < classes.points(); ++point)
      for (uint32_t i = ofShare.stepBegin[step]; i < ofShare.stepBegin[step + 1]; ++i) {
        const algorithm::Send &send = ofShare.sends[i];
        const uint32_t from = lattice.add(ownTopology.links[send.link].from, point * lattice.cell());
        all.sends.push_back({chunks[point * perPoint + send.chunk],
                             classes.link(from / lattice.cell(), classOf[send.link]), send.kind});
      }
    all.endStep(ofShare.rounds[step]);
  }
  return all;
}

} // namespace gc3::greedy
