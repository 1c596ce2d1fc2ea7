// SPDX-License-Identifier: Apache-2.0
// Encodes the search for an algorithm with given numbers of steps and rounds for a solver, and decodes the solver's
// result.
#pragma once

#include "Solver.h"
#include "Symmetry.h"
#include "gc3/Algorithm/Algorithm.h"

namespace gc3::synth {

/// The constraints of SCCL section 3.4 as Boolean constraints. For chunk c, rank n, link l and step s:
///   have(c, n, t)   c is on n when t steps are over: the paper's arrival time, in unary
///   send(c, l, s)   c goes over l in step s
///   longer(s, j)    step s has more than j + 1 rounds
/// Distances exclude some variables. If n is d hops from the source of c, c is on n only after d steps. If the nearest
/// target of c is d hops from n, c arrives on n at least d steps before the end, or not at all.
class Encoding {
public:
  /// Encodes algorithms that `symmetry` leaves unchanged and in which no rank receives a chunk twice. There must be at
  /// least as many steps as waves. `full`: fullLinks() for the same number of rounds, or all zero.
  Encoding(const topology::Topology &topology, const algorithm::Demand &demand, const Symmetry &symmetry, Shape shape,
           const std::vector<uint8_t> &full, const Options &options, Solver &solver);

  /// Returns false if distances alone show that there is no algorithm; then there is nothing to solve.
  bool isPossible() const { return possible; }
  /// Returns false if the time limit was reached before the encoding was complete; then the solver must not be called.
  bool isComplete() const { return complete; }
  /// Returns the algorithm after verdict Satisfiable. Some of its copies can be idle.
  algorithm::Algorithm decode() const;

private:
  /// Values of literals that are known without the solver and need no variable.
  static constexpr Literal Never = 0, Always = INT32_MAX;

  void findWindows();
  void addConstraints(const std::vector<uint8_t> &full, const Options &options);
  uint32_t mostSpare() const;
  void addRounds();
  void addVariables(uint32_t chunk);
  void addArrivals(uint32_t chunk);
  void addArrival(uint32_t chunk, uint32_t rank, uint32_t time);
  void addOrder(const std::vector<uint32_t> &equivalent);
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
  const uint32_t horizon; ///< number of steps of one wave
  const uint32_t spare;   ///< rounds that a step can have beyond the first
  Solver &solver;
  topology::LinksOfRanks outgoing, incoming;
  std::vector<uint32_t> earliest, latest; ///< by chunk * ranks + rank: number of finished steps when the chunk arrives,
                                          ///< at the earliest and at the latest
  std::vector<Literal> haves, sends;      ///< by orbit, then by number of finished steps (`haves`) or step (`sends`)
  std::vector<Literal> longer;            ///< by step * spare + j: true if the step has more than j + 1 rounds
  bool possible = true, complete = true;
};

} // namespace gc3::synth
