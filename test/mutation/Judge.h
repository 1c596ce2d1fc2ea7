// SPDX-License-Identifier: Apache-2.0
// Verify and the executor on one mutant, and whether they agree.
#pragma once

#include "Data.h"
#include "HostTrial.h"
#include "gc3/Verify/Verify.h"
#include <array>
#include <map>

namespace gc3::mutation {

/// What Verify says: the kind of its first finding, or that there is none.
enum class Verdict : uint8_t { Structure, Deadlock, Race, Uninitialised, Postcondition, Accepted };
inline constexpr size_t verdictCount = 6;

/// The worst that the executor has shown, which may be nothing.
enum class Shown : uint8_t {
  Refused, ///< the reader of bundles does not take it
  Stuck,
  Wrong,  ///< not what the collective promises
  Varies, ///< what is left elsewhere depends on the order, or on what was there before
  Seen,   ///< what Verify says happens, but leaves no trace: a race's two orders, a read of what nothing has written
  Nothing
};
inline constexpr size_t shownCount = 6;

struct Judgement {
  Verdict verdict;
  Shown shown;
  std::string finding;      ///< what Verify says first
  std::string disagreement; ///< empty, or why one of the two is wrong
};

/// How hard the executor tries.
struct Effort {
  uint32_t adversarialRuns = 8;
  uint32_t heldSteps = 48;
  uint32_t apiCalls = 4;
};

/// Judges the mutants of one program.
class Judge {
public:
  /// The program has to stay.
  Judge(const ir::Program &original, const Effort &effort);

  /// `changedRank` is where orders are looked at first. The same seed gives the same judgement.
  Judgement judge(const ir::Program &mutant, uint32_t changedRank, uint64_t seed);

private:
  const Data &data(uint64_t count);
  Shown execute(HostTrial &trial, uint32_t minSlots, uint32_t manySlots, uint32_t changedRank, uint64_t seed);
  bool happens(HostTrial &trial, const verify::Finding &finding);
  void look(HostTrial &trial, const verify::Verdict &verdict, Judgement &judgement);
  std::string checkAccepted(HostTrial &trial, const ir::Program &mutant, const verify::Verdict &verdict, uint64_t seed);

  const ir::Program &original;
  Effort effort;
  std::unique_ptr<HostTrial> originalTrial;
  std::map<uint64_t, Data> known; ///< by count
};

} // namespace gc3::mutation
