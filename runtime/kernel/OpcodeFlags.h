// SPDX-License-Identifier: Apache-2.0
// Which operands a step has. Device code cannot index common::opcodeTraits, a table in host memory, so the host stores
// the traits of each step as bits.
#pragma once

#include "gc3/Common/Opcode.h"
#include "kernel/Attributes.h"

#include <cstdint>

namespace gc3::kernel {

class OpcodeFlags {
public:
  OpcodeFlags() = default;
  explicit OpcodeFlags(common::Opcode opcode) {
    const common::OpcodeTraits &does = common::traits(opcode);
    bits = static_cast<uint8_t>(does.receives * receiving | does.sends * sending | does.readsSrc * reading |
                                does.writesDst * writing | does.reduces * reducing |
                                (opcode == common::Opcode::Reduce) * accumulating);
  }

  /// Makes the step store its message into the receiver's buffer instead of a slot.
  void sendDirectly() { bits |= direct; }
  /// Makes the step expect its message in its own target, where the sender has stored it. A step that also sends then
  /// reads the message there.
  void receiveDirectly() {
    bits = static_cast<uint8_t>((bits & ~writing) | arriving | ((bits & sending) != 0 ? reading : 0));
  }
  /// Makes the step send no data with its message.
  void sendNothing() { bits = static_cast<uint8_t>(bits & ~(sending | direct)); }
  /// Makes the step move no data.
  void moveNothing() { bits = 0; }
  /// Makes the step read its source as the only operand.
  void readOnlySource() { bits = static_cast<uint8_t>((bits & (sending | writing)) | reading); }

  GC3_DEVICE bool receives() const { return (bits & receiving) != 0; }
  GC3_DEVICE bool sends() const { return (bits & sending) != 0; }
  GC3_DEVICE bool reads() const { return (bits & reading) != 0; }
  GC3_DEVICE bool writes() const { return (bits & writing) != 0; }
  GC3_DEVICE bool reduces() const { return (bits & reducing) != 0; }
  /// Returns true if the step reads its target as the first operand.
  GC3_DEVICE bool accumulates() const { return (bits & accumulating) != 0; }
  /// Returns true if the message that the step sends has no slot.
  GC3_DEVICE bool sendsDirectly() const { return (bits & direct) != 0; }
  /// Returns true if the message that the step receives is in a slot.
  GC3_DEVICE bool readsSlot() const { return (bits & (receiving | arriving)) == receiving; }
  GC3_DEVICE bool isLocal() const { return (bits & (receiving | sending)) == 0; }

private:
  static constexpr uint8_t receiving = 1, sending = 2, reading = 4, writing = 8, reducing = 16, accumulating = 32,
                           direct = 64, arriving = 128;
  uint8_t bits;
};

} // namespace gc3::kernel
