// SPDX-License-Identifier: Apache-2.0
// Tries, of which the best is kept.
#include "gc3/Greedy/Greedy.h"
#include "Flood.h"
#include "Route.h"
#include "Symmetric.h"
#include "gc3/Algorithm/Bounds.h"
#include <algorithm>
#include <tuple>

namespace gc3::greedy {

using algorithm::Algorithm;
using algorithm::Demand;
using topology::Topology;

namespace {

bool areWantedEverywhere(const Demand &demand) {
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    if (!isWantedEverywhere(demand, chunk))
      return false;
  return true;
}

bool isBetter(const Algorithm &a, const Algorithm &b) {
  return std::tuple(a.totalRounds(), a.steps(), a.sends.size()) <
         std::tuple(b.totalRounds(), b.steps(), b.sends.size());
}

/// The best of some tries, and how the last of them has ended. Fewer rounds than enough can't do.
template <typename Method>
std::optional<Algorithm> bestOf(Method method, const Options &options, uint32_t enoughRounds, End &end) {
  constexpr uint64_t sendsInAll = 2'000'000; // a second or so
  std::optional<Algorithm> best;
  uint64_t tries = options.tries != 0 ? options.tries : 64;
  for (uint64_t t = 0; t < tries; ++t) {
    Random random(options.seed + t);
    Algorithm found;
    end = method.run(random, options.stops, found);
    if (end != End::Found)
      break;
    if (options.tries == 0)
      tries = std::min(tries, sendsInAll / (found.sends.size() + 1) + 1);
    if (!best || isBetter(found, *best))
      best = std::move(found);
    if (best->totalRounds() <= enoughRounds)
      break;
  }
  return best;
}

std::optional<Algorithm> searchOn(const Topology &topology, const Demand &demand, const Options &options,
                                  uint32_t enoughRounds, End &end) {
  if (options.stops && options.stops()) {
    end = End::Stopped;
    return {};
  }
  if (areWantedEverywhere(demand))
    return bestOf(Flood(topology, demand, options.roundsPerStep, options.stops), options, enoughRounds, end);
  std::optional<Algorithm> best =
      bestOf(Route(topology, demand, options.roundsPerStep, options.stops), options, enoughRounds, end);
  return best ? withoutIdleCopies(topology, demand, *best) : best;
}

} // namespace

std::optional<Algorithm> search(const Topology &topology, const Demand &demand, const Options &options) {
  constexpr size_t mostSends = 50'000; // beyond, what all ranks do alike is good enough, and its program shorter
  const algorithm::Bounds least = lowerBounds(topology, demand, options.stops);
  const auto bound = static_cast<uint32_t>(std::max<uint64_t>(least.rounds(), least.steps));
  End end = End::Found;
  std::optional<Algorithm> alike;
  if (const std::optional<Symmetric> symmetric = Symmetric::find(topology, demand, options.stops)) {
    // It may get stuck, at bounds that let only some of the ranks go on at a time.
    if (alike = searchOn(symmetric->topology(), symmetric->share(), options, bound, end); alike)
      alike = symmetric->expand(*alike);
    if (end == End::Stopped || (alike && (alike->totalRounds() <= bound || alike->sends.size() > mostSends)))
      return alike;
  }
  std::optional<Algorithm> found = searchOn(topology, demand, options, bound, end);
  return found && (!alike || found->totalRounds() < alike->totalRounds()) ? found : alike;
}

} // namespace gc3::greedy
