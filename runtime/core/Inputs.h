// SPDX-License-Identifier: Apache-2.0
// Finds the steps that read the caller's input, and the input slots that other steps overwrite. Calls copy such slots
// before they run or while they run.
#pragma once

#include "core/Accesses.h"
#include "core/Transfers.h"

namespace gc3::core {

class InputAnalysis {
public:
  /// The arguments must outlive this object.
  InputAnalysis(const Program &analysed, Accesses &ofProgram, Transfers &results)
      : program(analysed), accesses(ofProgram), result(results) {}

  /// Covers ranks whose program has its input inside its output. For calls with two separate buffers, determines which
  /// of the two each step reads.
  void separate();
  /// Covers ranks whose program has separate buffers. Determines which input slots a call in place must copy before a
  /// step overwrites them. Removes from `ofProgram` the accesses that a call with these copies does not make.
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
