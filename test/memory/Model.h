// SPDX-License-Identifier: Apache-2.0
// The axioms of the PTX memory model (PTX ISA, "Memory Consistency Model", with the proxies of version 7.5), for the
// generic proxy and its aliases, without read-modify-writes, and for accesses that overlap completely or not at all.
#pragma once

#include "Program.h"
#include "Relation.h"

#include <utility>

namespace gc3::memory {

/// The choices that an execution makes. `reads[e]` is the store from which load e reads, `initial` if it reads the
/// initial value, or `unknown`. A pair of `fences` is in Fence-SC order. A pair of `writes` is in coherence order.
struct Choices {
  static constexpr uint32_t initial = none - 1, unknown = none - 2;
  std::vector<uint32_t> reads;
  std::vector<std::pair<uint32_t, uint32_t>> fences, writes;
};

class Model {
public:
  /// If `hasNoThinAir` is false, the model lacks the axiom No-Thin-Air, and allows more executions.
  Model(const Program &program, bool hasNoThinAir);

  bool areMorallyStrong(uint32_t a, uint32_t b) const { return strong.holds(a, b); }
  /// Returns whether the axioms allow the choices. If a load is unknown, returns false only if they allow none of its
  /// values, because all relations grow with the choices.
  bool allows(const Choices &choices) const;

  /// The relations that choices determine.
  struct Orders {
    Relation base;      ///< base causality
    Relation causality; ///< causality
    Relation coherence;
  };
  Orders ordersOf(const Choices &choices) const;

private:
  struct Pattern {
    uint32_t access, end; ///< the strong access, and the first event of a release pattern or the last of an acquire
  };

  bool isBefore(uint32_t a, uint32_t b) const { return a < b && events[a].thread == events[b].thread; }
  bool overlap(uint32_t a, uint32_t b) const; ///< the accesses have the same address
  bool isAt(uint32_t a, uint32_t b) const;    ///< the accesses have the same location
  void findPatterns();
  Relation baseOf(const Choices &choices) const;
  Relation causalityOf(const Choices &choices, const Relation &base) const;
  Relation coherenceOf(const Choices &choices, const Relation &causality) const;
  bool isFromBefore(const Choices &choices, const Relation &coherence, uint32_t load, uint32_t store) const;
  bool isPerLocation(const Choices &choices, const Relation &coherence) const;
  bool isThinAir(const Choices &choices) const;

  const Program &program;
  const std::vector<Event> &events;
  const bool hasNoThinAir;
  Relation strong; ///< morally strong
  Relation fixed;  ///< base causality before its closure: program order, barriers and ends of kernels
  std::vector<Pattern> releases, acquires;
};

} // namespace gc3::memory
