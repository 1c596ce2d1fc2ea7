// SPDX-License-Identifier: Apache-2.0
// What ranks compare of how they choose programs.
#pragma once

#include "core/Choice.h"
#include "core/TuneOptions.h"
#include "select/TuneFile.h"

#include <cstdint>
#include <string>

namespace gc3::core {

/// Ranks exchange the raw bytes of this struct.
struct ChoiceInfo {
  uint64_t programs = 0; ///< digest of the list of programs (GC3_PROGRAM)
  uint64_t name = 0;     ///< digest of the communicator's name, if the list depends on it; else 0
  uint64_t nodes = 0;    ///< ChoiceOptions::nodes
  double explorable = 0; ///< TuneOptions::explorable
  uint32_t tuner = 0;    ///< 1: the application has set a tuner
  uint32_t tune = 0;     ///< 0: no online selection; 1: online, plus 2 if calls keep their bits, plus 4 with shapes

  static ChoiceInfo of(const ChoiceOptions &choice, const TuneOptions &tune);
  /// Returns how this rank differs from rank 0, as a clause that follows the rank's name; empty if it does not.
  std::string differenceFrom(const ChoiceInfo &rank0) const;
};

/// Returns a digest of what earlier jobs have learned. Returns 0 if there are no times.
uint64_t digestOf(const select::TuneFile &learned);
/// Removes what earlier jobs have learned, because ranks have loaded different times. Logs this once.
void ignoreLearned(select::TuneFile &learned);

} // namespace gc3::core
