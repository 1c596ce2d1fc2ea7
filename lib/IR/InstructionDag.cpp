// SPDX-License-Identifier: Apache-2.0
// Names of instructions and the meeting of chain demands.
#include "gc3/IR/InstructionDag.h"

using namespace gc3::ir;

const char *gc3::ir::name(Opcode opcode) {
  switch (opcode) {
  case Opcode::Send: return "send";
  case Opcode::Recv: return "recv";
  case Opcode::Copy: return "copy";
  case Opcode::Reduce: return "reduce";
  case Opcode::RecvReduceCopy: return "rrc";
  case Opcode::RecvCopySend: return "rcs";
  case Opcode::RecvReduceSend: return "rrs";
  case Opcode::RecvReduceCopySend: return "rrcs";
  }
  return "";
}

static bool agree(int32_t a, int32_t b) {
  return a < 0 || b < 0 || a == b;
}

bool ChainDemand::merge(const ChainDemand &other) {
  if (!agree(channel, other.channel) || !agree(instance, other.instance))
    return false;
  channel = channel < 0 ? other.channel : channel;
  instance = instance < 0 ? other.instance : instance;
  return true;
}
