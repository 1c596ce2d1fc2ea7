// SPDX-License-Identifier: Apache-2.0
// The eight instructions of GC3-IR (GC3 section 4.2) and their operands. Compiler and runtime share this table.
#pragma once

#include <cstdint>

namespace gc3::common {

/// Opcode of a step. The source and the destination of a step are buffers of its own rank. Bundles store these numbers.
enum class Opcode : uint8_t {
  Send = 0,               ///< reads src, sends it
  Recv = 1,               ///< dst = received
  Copy = 2,               ///< dst = src
  Reduce = 3,             ///< dst = dst op src
  RecvReduceCopy = 4,     ///< dst = received op src
  RecvCopySend = 5,       ///< dst = received, then sends it
  RecvReduceSend = 6,     ///< sends received op src, stores nothing
  RecvReduceCopySend = 7, ///< dst = received op src, then sends it
};

inline constexpr unsigned opcodeCount = 8;

/// Operands and effects of an opcode.
struct OpcodeTraits {
  const char *name; ///< name in GC3-IR text
  bool receives;
  bool sends;
  bool readsSrc;  ///< has a source operand
  bool writesDst; ///< has a destination operand
  bool reduces;   ///< combines two values
};

/// Indexed by opcode.
inline constexpr OpcodeTraits opcodeTraits[opcodeCount] = {
    {"send", false, true, true, false, false}, {"recv", true, false, false, true, false},
    {"copy", false, false, true, true, false}, {"reduce", false, false, true, true, true},
    {"rrc", true, false, true, true, true},    {"rcs", true, true, false, true, false},
    {"rrs", true, true, true, false, true},    {"rrcs", true, true, true, true, true},
};

constexpr bool isKnownOpcode(uint8_t value) {
  return value < opcodeCount;
}
constexpr const OpcodeTraits &traits(Opcode opcode) {
  return opcodeTraits[static_cast<uint8_t>(opcode)];
}
constexpr const char *name(Opcode opcode) {
  return traits(opcode).name;
}
constexpr bool receives(Opcode opcode) {
  return traits(opcode).receives;
}
constexpr bool sends(Opcode opcode) {
  return traits(opcode).sends;
}
constexpr bool readsSrc(Opcode opcode) {
  return traits(opcode).readsSrc;
}
constexpr bool writesDst(Opcode opcode) {
  return traits(opcode).writesDst;
}
constexpr bool reduces(Opcode opcode) {
  return traits(opcode).reduces;
}
/// Returns true if the opcode also reads the dst that it writes.
constexpr bool combinesIntoDst(Opcode opcode) {
  return opcode == Opcode::Reduce;
}

/// Buffer numbers of a step's source and destination.
inline constexpr uint8_t inputBuffer = 0;
inline constexpr uint8_t outputBuffer = 1;
inline constexpr uint8_t firstScratchBuffer = 2;

} // namespace gc3::common
