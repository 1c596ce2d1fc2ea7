// SPDX-License-Identifier: Apache-2.0
// Checks a mutant with Verify and with the host executor, and compares their results.
#pragma once

#include "Data.h"
#include "HostTrial.h"
#include "gc3/Verify/Verify.h"
#include <array>
#include <map>

namespace gc3::mutation {

/// Verdict of Verify: the kind of its first finding, or Accepted.
enum class Verdict : uint8_t { Structure, Deadlock, Race, Uninitialised, Postcondition, Accepted };
inline constexpr size_t verdictCount = 6;

/// The worst result that the executor has shown.
enum class Shown : uint8_t {
  Refused, ///< the bundle reader rejects the mutant
  Stuck,
  Wrong,  ///< the output differs from what the collective promises
  Varies, ///< the output is right, but other memory depends on the order or on initial contents
  Seen,   ///< the finding is true, but results stay right: both orders of a race, or a read of unwritten memory
  Nothing
};
inline constexpr size_t shownCount = 6;

struct CheckResult {
  Verdict verdict;
  Shown shown;
  std::string finding;      ///< first finding of Verify
  std::string disagreement; ///< message if Verify and the executor contradict each other, or empty
};

/// Numbers of runs of the executor for a mutant.
struct Effort {
  uint32_t adversarialRuns = 8;
  uint32_t heldSteps = 48;
  uint32_t apiCalls = 4;
};

/// Compares Verify with the executor on the mutants of one program.
class MutantChecker {
public:
  /// `original` must outlive this object.
  MutantChecker(const ir::Program &original, const Effort &effort);

  /// Checks a mutant. Varies the order of steps of `changedRank` first. Deterministic for a given seed.
  CheckResult check(const ir::Program &mutant, uint32_t changedRank, uint64_t seed);

private:
  const Data &data(uint64_t count);
  Shown execute(HostTrial &trial, uint32_t minSlots, uint32_t manySlots, uint32_t changedRank, uint64_t seed);
  bool happens(HostTrial &trial, const verify::Finding &finding);
  void checkFindings(HostTrial &trial, const verify::Verdict &verdict, CheckResult &result);
  std::string checkAccepted(HostTrial &trial, const ir::Program &mutant, const verify::Verdict &verdict, uint64_t seed);

  const ir::Program &original;
  Effort effort;
  std::unique_ptr<HostTrial> originalTrial;
  std::map<uint64_t, Data> known; ///< by count
};

} // namespace gc3::mutation
