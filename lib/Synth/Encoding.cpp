// SPDX-License-Identifier: Apache-2.0
// Variables and constraints of an instance. Constraints are made for only one member of each orbit.
#include "Encoding.h"
#include <algorithm>

namespace gc3::synth {

Encoding::Encoding(const topology::Topology &topology, const algorithm::Demand &demand, const Symmetry &symmetry,
                   Shape shape, const std::vector<uint8_t> &full, const Options &options, Solver &solver)
    : topology(topology), demand(demand), symmetry(symmetry), shape(shape), horizon(shape.steps + 1 - symmetry.waves),
      spare(mostSpare()), solver(solver), outgoing(linksFrom(topology)), incoming(linksTo(topology)) {
  findWindows();
  if (!possible)
    return;
  haves.assign(static_cast<size_t>(demand.chunks()) * topology.ranks * (horizon + 1), Never);
  sends.assign(static_cast<size_t>(demand.chunks()) * topology.links.size() * horizon, Never);
  addConstraints(full, options);
}

/// Adds the constraints of one member of each orbit. Checks the deadline after each member, because large instances
/// take long to encode.
void Encoding::addConstraints(const std::vector<uint8_t> &full, const Options &options) {
  addRounds();
  const auto forEach = [&](const std::vector<uint32_t> &orbitOf, auto add) {
    for (uint32_t member = 0; member < orbitOf.size() && complete; ++member)
      if (orbitOf[member] == member) {
        add(member);
        complete = !options.isOver();
      }
  };
  forEach(symmetry.chunk, [&](uint32_t chunk) { addVariables(chunk); });
  forEach(symmetry.chunk, [&](uint32_t chunk) { addArrivals(chunk); });
  if (symmetry.isTrivial)
    for (const auto &[key, equivalent] : chunkClasses(demand))
      if (equivalent.size() > 1)
        addOrder(equivalent);
  forEach(symmetry.link, [&](uint32_t link) { addBandwidth({link}, topology.links[link].bandwidth, full[link] != 0); });
  forEach(symmetry.bound, [&](uint32_t bound) {
    addBandwidth({topology.boundLinks.begin() + topology.boundBegin[bound],
                  topology.boundLinks.begin() + topology.boundBegin[bound + 1]},
                 topology.boundBandwidth[bound], false);
  });
}

void Encoding::findWindows() {
  const topology::Topology back = topology::reversed(topology);
  std::vector<std::vector<uint32_t>> from, to; // by rank: distances from this rank, and distances to it
  for (uint32_t rank = 0; rank < topology.ranks; ++rank) {
    from.push_back(distancesFrom(topology, outgoing, rank));
    to.push_back(distancesFrom(back, incoming, rank));
  }
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    for (uint32_t rank = 0; rank < topology.ranks; ++rank) {
      uint32_t away = topology::Unreachable, waits = topology::Unreachable;
      for (const algorithm::BufferChunk &source : demand.sourcesOf(chunk))
        away = std::min(away, from[source.rank][rank]);
      for (const algorithm::BufferChunk &target : demand.targetsOf(chunk))
        waits = std::min(waits, to[target.rank][rank]);
      earliest.push_back(away);
      latest.push_back(waits > horizon ? 0 : horizon - waits);
      possible = possible && !(waits == 0 && away > horizon);
    }
}

/// Returns the maximum number of rounds beyond the first that a step can use. A step never needs more rounds than all
/// chunks need over the narrowest link or bound.
uint32_t Encoding::mostSpare() const {
  const uint64_t chunks = demand.chunks();
  uint64_t rounds = 1;
  for (const topology::Link &link : topology.links)
    rounds = std::max(rounds, (chunks + link.bandwidth - 1) / link.bandwidth);
  for (uint32_t bound = 0; bound < topology.boundCount(); ++bound) {
    const uint64_t most = chunks * (topology.boundBegin[bound + 1] - topology.boundBegin[bound]);
    rounds = std::max(rounds, (most + topology.boundBandwidth[bound] - 1) / topology.boundBandwidth[bound]);
  }
  return static_cast<uint32_t>(std::min<uint64_t>(shape.rounds - shape.steps, rounds - 1));
}

/// Gives every step one round, and makes variables for up to `spare` further rounds. Limits the rounds of all steps
/// together to shape.rounds.
void Encoding::addRounds() {
  std::vector<Term> all;
  for (uint32_t step = 0; step < shape.steps; ++step)
    for (uint32_t j = 0; j < spare; ++j) {
      longer.push_back(solver.newVariable());
      all.push_back({1, longer.back()});
      if (j > 0)
        solver.addClause({-longer.back(), longer[longer.size() - 2]});
    }
  if (spare)
    solver.addAtMost(all, shape.rounds - shape.steps);
}

void Encoding::addVariables(uint32_t chunk) {
  for (uint32_t rank = 0; rank < topology.ranks; ++rank) {
    const uint32_t first = earliest[chunk * topology.ranks + rank], last = latest[chunk * topology.ranks + rank];
    for (uint32_t time = first; time <= horizon && first <= last; ++time) {
      Literal &literal = have(chunk, rank, time);
      if (literal == Never)
        literal = first == 0 ? Always : time > last ? have(chunk, rank, last) : solver.newVariable();
    }
  }
  for (uint32_t i = 0; i < topology.linkCount(); ++i) {
    const topology::Link &link = topology.links[i];
    const uint32_t first = earliest[chunk * topology.ranks + link.from],
                   last = latest[chunk * topology.ranks + link.to];
    if (earliest[chunk * topology.ranks + link.to] == 0)
      continue; // the receiver has the chunk from the beginning
    for (uint32_t step = first; step < last; ++step) {
      Literal &literal =
          sends[static_cast<size_t>(symmetry.chunkOnLink[chunk * topology.linkCount() + i]) * horizon + step];
      if (literal == Never)
        literal = solver.newVariable();
    }
  }
}

/// C1 to C4: the sender has the chunk that it sends; if a rank has a chunk, the chunk was sent to it; all targets have
/// their chunks at the end.
void Encoding::addArrivals(uint32_t chunk) {
  for (uint32_t rank = 0; rank < topology.ranks; ++rank) {
    const uint32_t first = earliest[chunk * topology.ranks + rank], last = latest[chunk * topology.ranks + rank];
    for (uint32_t time = first; first > 0 && time <= last; ++time)
      addArrival(chunk, rank, time);
  }
  for (const algorithm::BufferChunk &target : demand.targetsOf(chunk))
    if (Literal there = have(chunk, target.rank, horizon); there != Always)
      solver.addClause({there});
}

void Encoding::addArrival(uint32_t chunk, uint32_t rank, uint32_t time) {
  const Literal now = have(chunk, rank, time), before = have(chunk, rank, time - 1);
  std::vector<Literal> come = {-now}, in;
  if (before != Never) {
    come.push_back(before);
    solver.addClause({-before, now});
  }
  for (uint32_t i = incoming.begin[rank]; i < incoming.begin[rank + 1]; ++i) {
    const Literal sent = send(chunk, incoming.links[i], time - 1);
    if (sent == Never)
      continue;
    const Literal there = have(chunk, topology.links[incoming.links[i]].from, time - 1);
    if (there != Always)
      solver.addClause({-sent, there});
    solver.addClause({-sent, now});
    if (before != Never)
      solver.addClause({-sent, -before});
    for (Literal other : in)
      if (other != sent)
        solver.addClause({-sent, -other});
    in.push_back(sent);
    come.push_back(sent);
  }
  solver.addClause(come);
}

/// Returns the literals of all sends over these links in a step. The weight of a literal is the number of sends that it
/// represents.
std::vector<Term> Encoding::sendsOver(const std::vector<uint32_t> &links, uint32_t step) const {
  std::vector<Literal> sent;
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    for (uint32_t link : links)
      if (Literal literal = send(chunk, link, step); literal != Never)
        sent.push_back(literal);
  std::sort(sent.begin(), sent.end());
  std::vector<Term> terms;
  for (Literal literal : sent)
    if (!terms.empty() && terms.back().literal == literal)
      ++terms.back().weight;
    else
      terms.push_back({1, literal});
  return terms;
}

/// C5: in each step, sends use at most the bandwidth of the step's rounds, and all of it if `isFull`. Omits rounds that
/// the possible sends cannot fill. Such rounds add no constraint, and would make the sums large.
void Encoding::addBandwidth(const std::vector<uint32_t> &links, uint32_t bandwidth, bool isFull) {
  for (uint32_t step = 0; step < shape.steps; ++step) {
    std::vector<Term> sent = sendsOver(links, step), idle;
    uint32_t most = 0;
    for (const Term &term : sent) {
      idle.push_back({term.weight, -term.literal});
      most += term.weight;
    }
    const uint32_t counted = std::min(spare, most / bandwidth);
    for (uint32_t j = 0; j < counted; ++j) {
      sent.push_back({bandwidth, -longer[step * spare + j]});
      idle.push_back({bandwidth, longer[step * spare + j]});
    }
    if (most > bandwidth)
      solver.addAtMost(sent, bandwidth * (1 + counted));
    possible = possible && !(isFull && most < bandwidth);
    if (isFull && most >= bandwidth)
      solver.addAtMost(idle, most - bandwidth);
  }
}

/// Returns, by step, a literal that is true if the chunk has left its source by the end of the step.
std::vector<Literal> Encoding::addDeparture(uint32_t chunk) {
  std::vector<Literal> left;
  for (uint32_t step = 0; step < horizon; ++step) {
    const Literal now = solver.newVariable();
    std::vector<Literal> causes = {-now};
    for (const algorithm::BufferChunk &source : demand.sourcesOf(chunk))
      for (uint32_t i = outgoing.begin[source.rank]; i < outgoing.begin[source.rank + 1]; ++i)
        if (Literal sent = send(chunk, outgoing.links[i], step); sent != Never)
          causes.push_back(sent);
    if (step > 0)
      causes.push_back(left.back());
    for (size_t i = 1; i < causes.size(); ++i)
      solver.addClause({-causes[i], now});
    solver.addClause(causes);
    left.push_back(now);
  }
  return left;
}

/// Makes equivalent chunks leave in the order of their numbers. This excludes algorithms that differ only in a
/// permutation of these chunks.
void Encoding::addOrder(const std::vector<uint32_t> &equivalent) {
  std::vector<Literal> before;
  for (uint32_t chunk : equivalent) {
    std::vector<Literal> left = addDeparture(chunk);
    for (size_t step = 0; step < before.size(); ++step)
      solver.addClause({-left[step], before[step]});
    before = std::move(left);
  }
}

algorithm::Algorithm Encoding::decode() const {
  algorithm::Algorithm result;
  for (uint32_t step = 0; step < shape.steps; ++step) {
    for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
      for (uint32_t link = 0; link < topology.linkCount(); ++link)
        if (Literal literal = send(chunk, link, step); literal != Never && solver.isTrue(literal))
          result.sends.push_back({chunk, link});
    uint32_t rounds = 1;
    for (uint32_t j = 0; j < spare; ++j)
      rounds += solver.isTrue(longer[step * spare + j]);
    result.endStep(rounds);
  }
  return result;
}

} // namespace gc3::synth
