// SPDX-License-Identifier: Apache-2.0
// The layout: one walk over the messages of each connection.
#include "Fifos.h"
#include <algorithm>

using namespace gc3::ir;
using namespace gc3::verify;

/// How many places the messages of a thread block need: for the most values in as many of them as there are slots, and
/// for what stays unused at the end of the ring where the next one does not fit, which is nothing if all are alike.
static uint64_t ringSize(const Program &program, const ThreadBlock &sender, uint32_t fifoSlots) {
  const Step *steps = program.steps.data() + sender.firstStep; // it may have none, and be the last
  uint64_t most = 0;
  uint64_t sum = 0;
  uint32_t messages = 0;
  uint32_t oldest = 0; // step that sent the oldest of them
  uint32_t longest = 0;
  bool alike = true;
  for (uint32_t i = 0; i != sender.stepCount; ++i) {
    if (!sends(steps[i].opcode))
      continue;
    alike &= longest == 0 || longest == steps[i].count;
    longest = std::max(longest, steps[i].count);
    sum += steps[i].count;
    if (messages++ == fifoSlots) {
      while (!sends(steps[oldest].opcode))
        ++oldest;
      sum -= steps[oldest++].count;
      --messages;
    }
    most = std::max(most, sum);
  }
  return most + (alike ? 0 : longest - 1);
}

Fifos::Fifos(const Program &program, const Connections &connections, uint32_t slots) {
  rings.reserve(connections.all.size() + 1);
  uint64_t next = 0;
  for (const Connection &connection : connections.all) {
    rings.push_back({next});
    next += ringSize(program, program.threadBlocks[connection.sender], slots);
  }
  rings.push_back({next});
}
