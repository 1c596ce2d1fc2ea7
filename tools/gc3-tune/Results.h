// SPDX-License-Identifier: Apache-2.0
// The results: the bundle, the table, JSON, and the report page.
#pragma once

#include "Candidates.h"
#include "Contest.h"
#include "gc3/Report/Report.h"

namespace llvm {
class raw_ostream;
}

namespace gc3::tune {

/// Names the programs of all contests: as their candidates, with a number if one serves several ranges.
void nameServings(const Candidates &candidates, std::vector<Contest> &contests);

/// Returns the name of a candidate of the contest, or "nccl" for the baseline.
std::string nameOf(const Candidates &candidates, const Contest &contest, uint32_t candidate);

/// Returns the bytes of the bundle with the chosen programs. It has their times at all sizes of the table, and the
/// baseline's.
std::string bundleOf(const Candidates &candidates, const std::vector<Contest> &contests);

/// Prints a row for each size, the ranges, and the candidates that were dropped.
void printTable(llvm::raw_ostream &out, const CommandLine &line, const Candidates &candidates,
                const std::vector<Contest> &contests);

/// Returns an object with the times of all candidates, the rows, the ranges, and the dropped candidates.
std::string jsonOf(const CommandLine &line, const Candidates &candidates, const std::vector<Contest> &contests);

report::Page pageOf(const CommandLine &line, const Candidates &candidates, const std::vector<Contest> &contests);

} // namespace gc3::tune
