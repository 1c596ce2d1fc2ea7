// SPDX-License-Identifier: Apache-2.0
// Finds the steps that read the caller's input from slots that other steps write. Calls copy this input before or while
// they run.
#pragma once

#include "core/Accesses.h"
#include "core/Transfers.h"

namespace gc3::core {

class InputAnalysis {
public:
  /// All three must outlive this object.
  InputAnalysis(const Program &analysed, Accesses &ofProgram, Transfers &results)
      : program(analysed), accesses(ofProgram), result(results) {}

  /// Determines which of the two buffers each step uses if they are separate. Covers ranks whose input lies in the
  /// output.
  void separate();
  /// Determines which input slots a call in place must copy before they are overwritten. Covers ranks with separate
  /// input and output. Afterwards `ofProgram` has the accesses of a call that makes these copies.
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
