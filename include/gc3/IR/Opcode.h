// SPDX-License-Identifier: Apache-2.0
// The eight instructions of GC3 (section 4.2) and what each one touches.
#pragma once

#include <cstdint>

namespace gc3::ir {

/// The numbers are those of the bundle.
enum class Opcode : uint8_t {
  Send,               ///< send src
  Recv,               ///< dst = received
  Copy,               ///< dst = src
  Reduce,             ///< dst = dst op src
  RecvReduceCopy,     ///< dst = received op src
  RecvCopySend,       ///< dst = received, pass it on
  RecvReduceSend,     ///< pass on received op src
  RecvReduceCopySend, ///< dst = received op src, pass it on
};

/// The short name that the IR's text uses: send recv copy reduce rrc rcs rrs rrcs.
const char *name(Opcode opcode);

constexpr bool receives(Opcode opcode) {
  return opcode == Opcode::Recv || opcode >= Opcode::RecvReduceCopy;
}
constexpr bool sends(Opcode opcode) {
  return opcode == Opcode::Send || opcode >= Opcode::RecvCopySend;
}
constexpr bool readsSrc(Opcode opcode) {
  return opcode != Opcode::Recv && opcode != Opcode::RecvCopySend;
}
constexpr bool writesDst(Opcode opcode) {
  return opcode != Opcode::Send && opcode != Opcode::RecvReduceSend;
}
/// Reads dst as well as writing it.
constexpr bool combinesIntoDst(Opcode opcode) {
  return opcode == Opcode::Reduce;
}
/// Combines two values.
constexpr bool reduces(Opcode opcode) {
  return readsSrc(opcode) && opcode != Opcode::Send && opcode != Opcode::Copy;
}

} // namespace gc3::ir
