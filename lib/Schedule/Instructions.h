// SPDX-License-Identifier: Apache-2.0
// The instructions, and which of the fused ones run as a receive and a send after all: where the thread blocks of a
// channel do not allow the fusion.
#pragma once

#include "gc3/IR/InstructionDag.h"

namespace gc3::schedule {

using ir::None;

class Instructions {
public:
  explicit Instructions(const ir::InstructionDag &dag)
      : dag(dag), n(static_cast<uint32_t>(dag.instructions.size())), splitFlags(dag.instructions.size()) {}

  const ir::InstructionDag &dag;
  const uint32_t n;

  const ir::Instruction &at(uint32_t instruction) const { return dag.instructions[instruction]; }
  void split(uint32_t instruction) { splitFlags[instruction] = 1; }
  bool isSplit(uint32_t instruction) const { return splitFlags[instruction] != 0; }
  bool fused(uint32_t instruction) const {
    ir::Opcode opcode = at(instruction).opcode;
    return receives(opcode) && sends(opcode) && !splitFlags[instruction];
  }

private:
  std::vector<uint8_t> splitFlags;
};

} // namespace gc3::schedule
