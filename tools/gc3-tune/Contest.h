// SPDX-License-Identifier: Apache-2.0
// The candidates for one collective: their times, and the ranges of sizes that the chosen ones serve.
#pragma once

#include "Candidates.h"
#include "Choice.h"
#include "Groups.h"
#include "gc3/Simulate/NcclModel.h"
#include <map>

namespace gc3::tune {

/// A chosen program and the sizes that it serves, or sizes that are left to the baseline.
struct Serving {
  uint32_t candidate;          ///< index in Contest::candidates, or TimeTable::Baseline
  std::string name;            ///< of the program in the bundle; "nccl": the baseline
  uint64_t minBytes, maxBytes; ///< as in ir::ProgramInfo
};

struct Contest {
  std::string label; ///< the form of the collective
  uint32_t ranks = 0;
  int root = -1;
  std::vector<uint32_t> candidates;    ///< numbers in Candidates::all()
  std::vector<uint64_t> counts, sizes; ///< elements per block, and bytes; ascending
  TimeTable table;
  std::vector<std::string> baselineNames; ///< by size, such as "ring ll"; empty: it has none
  /// By candidate, then of the baseline: times at other sizes, by bytes, for the bundle. Empty: there are none.
  std::vector<std::map<uint64_t, double>> earlier;
  // Results
  Choice choice;
  std::vector<Serving> servings; ///< ascending, over all sizes

  /// Returns the server of the size with this index.
  const Serving &servingOf(uint32_t size) const;
};

} // namespace gc3::tune
