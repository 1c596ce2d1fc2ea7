// SPDX-License-Identifier: Apache-2.0
// Which operands a step has, by opcode. Device code cannot index common::opcodeTraits, a table in host memory, so each
// column of the table becomes a bit set.
#pragma once

#include "gc3/Common/Opcode.h"
#include "kernel/Attributes.h"

namespace gc3::kernel {

constexpr uint32_t opcodesThat(bool common::OpcodeTraits::*member) {
  uint32_t set = 0;
  for (uint32_t opcode = 0; opcode < common::opcodeCount; ++opcode)
    set |= uint32_t{common::opcodeTraits[opcode].*member} << opcode;
  return set;
}

inline constexpr uint32_t receiving = opcodesThat(&common::OpcodeTraits::receives);
inline constexpr uint32_t sending = opcodesThat(&common::OpcodeTraits::sends);
inline constexpr uint32_t reading = opcodesThat(&common::OpcodeTraits::readsSrc);
inline constexpr uint32_t writing = opcodesThat(&common::OpcodeTraits::writesDst);
inline constexpr uint32_t reducing = opcodesThat(&common::OpcodeTraits::reduces);

struct OpcodeFlags {
  bool receives, sends, reads, writes, reduces;
  bool accumulates; ///< the step reads its target as the first operand

  GC3_DEVICE explicit OpcodeFlags(uint8_t opcode)
      : receives(receiving >> opcode & 1), sends(sending >> opcode & 1), reads(reading >> opcode & 1),
        writes(writing >> opcode & 1), reduces(reducing >> opcode & 1),
        accumulates(opcode == static_cast<uint8_t>(common::Opcode::Reduce)) {}
  GC3_DEVICE bool isLocal() const { return !receives && !sends; }
};

} // namespace gc3::kernel
