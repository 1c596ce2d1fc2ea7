// SPDX-License-Identifier: Apache-2.0
// What a step does, by its opcode. Device code can't index the host's table, so each column of it is a set of bits.
#pragma once

#include "bundle/Opcode.h"
#include "kernel/Attributes.h"

namespace gc3::kernel {

constexpr uint32_t opcodesThat(bool bundle::OpcodeTraits::*member) {
  uint32_t set = 0;
  for (uint32_t opcode = 0; opcode < bundle::opcodeCount; ++opcode)
    set |= uint32_t{bundle::opcodeTraits[opcode].*member} << opcode;
  return set;
}

inline constexpr uint32_t receiving = opcodesThat(&bundle::OpcodeTraits::receives);
inline constexpr uint32_t sending = opcodesThat(&bundle::OpcodeTraits::sends);
inline constexpr uint32_t reading = opcodesThat(&bundle::OpcodeTraits::reads);
inline constexpr uint32_t writing = opcodesThat(&bundle::OpcodeTraits::writes);
inline constexpr uint32_t reducing = opcodesThat(&bundle::OpcodeTraits::reduces);

struct OpcodeFlags {
  bool receives, sends, reads, writes, reduces;
  bool accumulates; ///< the first operand is the target

  GC3_DEVICE explicit OpcodeFlags(uint8_t opcode)
      : receives(receiving >> opcode & 1), sends(sending >> opcode & 1), reads(reading >> opcode & 1),
        writes(writing >> opcode & 1), reduces(reducing >> opcode & 1),
        accumulates(opcode == static_cast<uint8_t>(bundle::Opcode::Reduce)) {}
  GC3_DEVICE bool isLocal() const { return !receives && !sends; }
};

} // namespace gc3::kernel
