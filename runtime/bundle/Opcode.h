// SPDX-License-Identifier: Apache-2.0
// The instructions of GC3-IR as a bundle stores them (GC3 section 4.2), and what each of them needs.
#pragma once

#include <cstdint>

namespace gc3::bundle {

/// What one step does. Both slots of a step are local to the rank that runs it.
enum class Opcode : uint8_t {
  Send = 0,               ///< reads src, sends it
  Recv = 1,               ///< dst = received
  Copy = 2,               ///< dst = src
  Reduce = 3,             ///< dst = dst op src
  RecvReduceCopy = 4,     ///< dst = received op src
  RecvCopySend = 5,       ///< dst = received, sent on
  RecvReduceSend = 6,     ///< received op src is sent on, nothing is stored
  RecvReduceCopySend = 7, ///< dst = received op src, sent on
};

inline constexpr unsigned opcodeCount = 8;

/// What a step needs. Indexed by opcode.
struct OpcodeTraits {
  const char *name; ///< as GC3-IR text spells it
  bool receives;
  bool sends;
  bool reads;  ///< names a source
  bool writes; ///< names a destination
  bool reduces;
};

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

/// Buffer numbers of an instruction's src_buffer and dst_buffer.
inline constexpr uint8_t inputBuffer = 0;
inline constexpr uint8_t outputBuffer = 1;
inline constexpr uint8_t firstScratchBuffer = 2;
inline constexpr uint32_t maxScratchBuffers = 256 - firstScratchBuffer;

} // namespace gc3::bundle
