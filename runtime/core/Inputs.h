// SPDX-License-Identifier: Apache-2.0
// Which steps read what the caller brought, where other steps write: what a call then has to copy before it runs, or
// while it does.
#pragma once

#include "core/Accesses.h"
#include "core/Transfers.h"

namespace gc3::core {

class InputAnalysis {
public:
  /// All have to stay.
  InputAnalysis(const Program &analysed, Accesses &ofProgram, Transfers &results)
      : program(analysed), accesses(ofProgram), result(results) {}

  /// Where the program has the input in the output: which of the two each step means, if they were apart.
  void separate();
  /// Where calls in place have input and output in each other, and the program does not: what is to be copied before
  /// it is overwritten. From then on the accesses are those of a run that does so.
  void stage();

private:
  enum class Finds : uint8_t { Initial, Written, Unclear };
  Finds finds(uint32_t rank, SlotRange where, uint32_t reader);
  bool separateRank(uint32_t rank);
  void findUntouched(uint32_t rank);
  bool overwrittenBefore(uint32_t step);
  void stageRank(uint32_t rank);

  const Program &program;
  Accesses &accesses;
  Transfers &result;
};

} // namespace gc3::core
