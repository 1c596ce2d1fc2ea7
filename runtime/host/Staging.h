// SPDX-License-Identifier: Apache-2.0
// Bridges how a call places its buffers and how a program expects them: in place or not, averages scaled. For each rank
// it decides which copies come before and after the run, so that every program serves every call; see the cases in
// Staging.cpp.
#pragma once

#include "host/Layout.h"
#include "host/Memory.h"
#include "host/Request.h"
#include "host/Run.h"

#include <span>
#include <vector>

namespace gc3::host {

class Staging {
public:
  /// Looks at the pointers of all ranks; gc3InvalidArgument where they are null or overlap wrongly, gc3SystemError
  /// without memory.
  Outcome plan(const Program &program, const StandardCollective *standard, const Layout &layout,
               std::span<const Request> requests);

  /// What the run works on, by rank.
  std::span<const RankMemory> memory() const { return rankMemory; }
  /// Whether before() or after() have anything to do.
  bool needed() const { return anything; }
  /// The copies of one rank; different ranks may do so at once.
  void before(uint32_t rank) const;
  void after(uint32_t rank) const;

private:
  struct RankPlan {
    bool toPrivate = false;   ///< before: the caller's input into private memory
    bool toOutput = false;    ///< before: the input (private copy, if there is one) into its place in the output
    bool scaleHere = false;   ///< before: scale the aliased input where it lies
    bool fromPrivate = false; ///< after: the output out of private memory
    bool divide = false;      ///< after: the integer average
    size_t privateOffset = 0;
  };
  Outcome planRank(uint32_t rank, size_t &privateBytes);
  Outcome placement(uint32_t rank, bool &inPlace, bool &matchesAlias) const;
  void copySlots(uint32_t rank, bool intoOuter, std::byte *outer, const std::byte *innerFrom, std::byte *innerTo) const;
  void copyInput(std::byte *to, const std::byte *from, uint64_t elements) const;

  const Program *program = nullptr;
  const StandardCollective *standard = nullptr;
  const Layout *layout = nullptr;
  std::span<const Request> requests;
  ElementType type = ElementType::Float;
  uint32_t scale = 1;   ///< floating-point inputs are divided by this
  uint32_t divisor = 1; ///< integer outputs are divided by this
  bool anything = false;
  std::vector<RankPlan> plans;
  std::vector<RankMemory> rankMemory;
  Memory staging;
};

} // namespace gc3::host
