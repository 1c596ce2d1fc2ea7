// SPDX-License-Identifier: Apache-2.0
// The question whether there is an algorithm of so many steps and rounds, for a solver, and its answer.
#pragma once

#include "Solver.h"
#include "Symmetry.h"
#include "gc3/Algorithm/Algorithm.h"

namespace gc3::synth {

/// SCCL section 3.4 in Booleans. For chunk c, rank n, link l and step s:
///   have(c, n, t)   c is on n when t steps are over: the paper's arrival time, in unary
///   send(c, l, s)   c goes over l in step s
///   longer(s, j)    step s has more than j rounds
/// There are no variables for what distances rule out: c is on n after as many steps as n is away from its source, and
/// must leave n as many before the end as the nearest rank that waits for it is away.
class Encoding {
public:
  /// Algorithms that `symmetry` leaves as they are, in which no rank receives a chunk twice. There are as many steps as
  /// waves, at least. `full`: fullLinks() of as many rounds; may be all zero.
  Encoding(const topology::Topology &topology, const algorithm::Demand &demand, const Symmetry &symmetry, Shape shape,
           const std::vector<uint8_t> &full, const Options &options, Solver &solver);

  /// False if distances alone tell that there is none; then there is nothing to solve.
  bool isPossible() const { return possible; }
  /// False if time was up before all was written down; then the solver must not be asked.
  bool isComplete() const { return complete; }
  /// After Satisfiable. Some of its copies may be idle.
  algorithm::Algorithm decode() const;

private:
  /// Not a variable: known without the solver.
  static constexpr Literal Never = 0, Always = INT32_MAX;

  void findWindows();
  void addConstraints(const std::vector<uint8_t> &full, const Options &options);
  uint32_t mostSpare() const;
  void addRounds();
  void addVariables(uint32_t chunk);
  void addArrivals(uint32_t chunk);
  void addArrival(uint32_t chunk, uint32_t rank, uint32_t time);
  void addOrder(const std::vector<uint32_t> &alike);
  std::vector<Literal> addDeparture(uint32_t chunk);
  void addBandwidth(const std::vector<uint32_t> &links, uint32_t bandwidth, bool isFull);
  std::vector<Term> sendsOver(const std::vector<uint32_t> &links, uint32_t step) const;

  Literal &have(uint32_t chunk, uint32_t rank, uint32_t time) {
    return haves[static_cast<size_t>(symmetry.chunkOnRank[chunk * topology.ranks + rank]) * (horizon + 1) + time];
  }
  Literal send(uint32_t chunk, uint32_t link, uint32_t step) const {
    const uint32_t delay = symmetry.delay[chunk];
    if (step < delay || step - delay >= horizon)
      return Never;
    return sends[static_cast<size_t>(symmetry.chunkOnLink[chunk * topology.linkCount() + link]) * horizon + step -
                 delay];
  }

  const topology::Topology &topology;
  const algorithm::Demand &demand;
  const Symmetry &symmetry;
  const Shape shape;
  const uint32_t horizon; ///< steps of one wave
  const uint32_t spare;   ///< rounds that a step can have beyond the first
  Solver &solver;
  topology::LinksOfRanks outgoing, incoming;
  std::vector<uint32_t> earliest, latest; ///< by chunk * ranks + rank: steps that must, and may, be over when it comes
  std::vector<Literal> haves, sends;      ///< by orbit, and time or step
  std::vector<Literal> longer;            ///< by step * spare + j: whether it has more than j + 1 rounds
  bool possible = true, complete = true;
};

} // namespace gc3::synth
