// SPDX-License-Identifier: Apache-2.0
// Runs Verify and the executor on a mutant and compares their results.
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
  Refused, ///< the reader of bundles rejects the mutant
  Stuck,
  Wrong,  ///< output that the collective does not promise
  Varies, ///< other memory depends on the order of steps or on its initial contents
  Seen,   ///< the finding of Verify occurs without consequences: both orders of a race, or a read of unwritten memory
  Nothing
};
inline constexpr size_t shownCount = 6;

struct CheckResult {
  Verdict verdict;
  Shown shown;
  std::string finding;      ///< first finding of Verify
  std::string disagreement; ///< reason why Verify or the executor is wrong, or empty
};

/// Number of runs of the executor.
struct Effort {
  uint32_t adversarialRuns = 8;
  uint32_t heldSteps = 48;
  uint32_t apiCalls = 4;
};

/// Checks Verify against the executor on the mutants of one program.
class MutantChecker {
public:
  /// `original` must outlive this object.
  MutantChecker(const ir::Program &original, const Effort &effort);

  /// Tests orders of steps of `changedRank` first. Deterministic for a given seed.
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
