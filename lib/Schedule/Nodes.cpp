// SPDX-License-Identifier: Apache-2.0
// What the halves of a split instruction do.
#include "Nodes.h"

using namespace gc3::ir;
using namespace gc3::schedule;

Instruction Nodes::asScheduled(uint32_t node) const {
  Instruction result = at(node);
  if (isSecondHalf(node)) {
    if (writesDst(result.opcode)) {
      result.srcBuffer = result.dstBuffer;
      result.srcIndex = result.dstIndex;
    }
    result.opcode = Opcode::Send;
    result.dstBuffer = 0;
    result.dstIndex = 0;
    return result;
  }
  if (!isSplit(node))
    return result;
  if (result.opcode == Opcode::RecvReduceSend) { // its operand lies where the sum is stored before fusion
    result.dstBuffer = result.srcBuffer;
    result.dstIndex = result.srcIndex;
  }
  result.opcode = result.opcode == Opcode::RecvCopySend ? Opcode::Recv : Opcode::RecvReduceCopy;
  return result;
}

/// A fused rrs counts as writing where it reads: whoever writes there after it depends on the rrs alone, not on what
/// the rrs itself had to come after.
bool Nodes::overwrites(uint32_t later, uint32_t instruction) const {
  Instruction sent = asScheduled(secondHalf(instruction));
  const Instruction &writer = at(later);
  bool keepsOperand = writer.opcode == Opcode::RecvReduceSend;
  BufferId buffer = keepsOperand ? writer.srcBuffer : writer.dstBuffer;
  uint32_t index = keepsOperand ? writer.srcIndex : writer.dstIndex;
  return (keepsOperand || writesDst(writer.opcode)) && !isSecondHalf(later) && buffer == sent.srcBuffer &&
         index < sent.srcIndex + sent.count && sent.srcIndex < index + writer.count;
}
