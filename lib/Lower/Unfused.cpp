// SPDX-License-Identifier: Apache-2.0
// The instructions of an operation (GC3 section 4.2): a copy or reduce on one rank, else a send and a receive. The j-th
// of k parallel instances works on the j-th of k equal contiguous parts of the operation's range.
#include "Stages.h"

using namespace gc3::ir;
using namespace gc3::lower;

static bool isLocal(const ChunkOp &op) {
  return op.srcRank == op.dstRank;
}

bool Unfused::isSend(uint32_t instruction) const {
  return !isLocal(operation(instruction)) && (instruction - firstOf[opOf[instruction]]) % 2 == 0;
}

bool Unfused::isReceive(uint32_t instruction) const {
  return !isLocal(operation(instruction)) && (instruction - firstOf[opOf[instruction]]) % 2 != 0;
}

uint32_t Unfused::instance(uint32_t instruction) const {
  return (instruction - firstOf[opOf[instruction]]) / (isLocal(operation(instruction)) ? 1 : 2);
}

Instruction Unfused::at(uint32_t number) const {
  const ChunkOp &op = operation(number);
  bool copies = op.kind == ChunkOpKind::Copy;
  Instruction result{};
  result.instance = instance(number);
  result.count = op.count * subdivision / info.directives[op.directive].parallel;
  result.directive = result.sendDirective = op.directive;
  result.site = op.site;
  uint32_t src = op.srcIndex * subdivision + result.instance * result.count;
  uint32_t dst = op.dstIndex * subdivision + result.instance * result.count;
  if (isSend(number)) {
    result.opcode = Opcode::Send;
    result.rank = op.srcRank;
    result.srcBuffer = op.srcBuffer;
    result.srcIndex = src;
    result.receiver = number + 1;
    return result;
  }
  result.rank = op.dstRank;
  result.dstBuffer = op.dstBuffer;
  result.dstIndex = dst;
  if (isLocal(op)) {
    result.opcode = copies ? Opcode::Copy : Opcode::Reduce;
    result.srcBuffer = op.srcBuffer;
    result.srcIndex = src;
    return result;
  }
  result.sender = number - 1;
  result.opcode = copies ? Opcode::Recv : Opcode::RecvReduceCopy;
  if (!copies) {
    result.srcBuffer = op.dstBuffer;
    result.srcIndex = dst;
  }
  return result;
}
