// SPDX-License-Identifier: Apache-2.0
// Merges chain demands.
#include "gc3/IR/InstructionDag.h"

using namespace gc3::ir;

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
