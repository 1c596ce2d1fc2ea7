// SPDX-License-Identifier: Apache-2.0
#include "Workload.h"
#include "kernel/LL128.h"
#include "kernel/LowLatency.h"
#include <algorithm>
#include <cmath>

namespace gc3::simulate {

using kernel::Protocol;

/// Returns the bytes that a protocol stores for a byte of data.
static double wireBytes(Protocol protocol) {
  switch (protocol) {
  case Protocol::Simple: return 1;
  case Protocol::LL: return static_cast<double>(kernel::lineBytesLL) / kernel::wordBytes;
  case Protocol::LL128: return static_cast<double>(kernel::lineBytesLL128) / kernel::lineDataLL128;
  }
  __builtin_unreachable();
}

void Workload::setCosts(const kernel::KernelArgs &geometry, uint32_t bytesOfElement, Protocol protocol,
                        const topology::Costs &costs, double data) {
  const topology::ProtocolCosts &own = costs.protocols[static_cast<size_t>(protocol)];
  arguments = geometry, elementBytes = bytesOfElement, slots = geometry.slots;
  launch = costs.launch, stepTime = costs.step, prepareTime = costs.prepare, waitTime = costs.wait;
  copyRate = own.copy * 1000, reduceRate = own.reduce * 1000;
  missTime = std::max(0.0, std::log2(data / costs.processors.cache)) * costs.processors.miss / 1e6;
  hasProcessors = std::isfinite(costs.processors.count);
  grain = own.grain;
  wire = wireBytes(protocol);
  cutsThrough = protocol != Protocol::Simple;
}

/// With processors, a receiver fetches a message from the sender's buffer, so sending it costs nothing. A sum that has
/// no buffer is written to a slot.
double Workload::rate(const kernel::OpcodeFlags &flags) const {
  const double own = flags.reduces() ? reduceRate : copyRate;
  if (!hasProcessors)
    return own;
  if (flags.sends() && !flags.receives() && !flags.reduces() && !flags.writes())
    return topology::Unlimited;
  const bool fillsSlot = flags.reduces() && flags.sends() && !flags.writes();
  const double accesses = flags.reads() + flags.accumulates() + flags.writes() + flags.readsSlot() + fillsSlot;
  return 1 / (1 / own + (fillsSlot ? 1 / copyRate : 0) + accesses * missTime);
}

double Workload::bytes(const Step &step, uint64_t tile) const {
  const kernel::TilePart part = kernel::tilePart(arguments, elementBytes, tile);
  if (step.firstRun == None)
    return static_cast<double>(step.count * part.bytes);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < step.runCount; ++i)
    sum += kernel::inTile(runs[step.firstRun + i], part, 0).bytes;
  return static_cast<double>(sum);
}

} // namespace gc3::simulate
