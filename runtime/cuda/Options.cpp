// SPDX-License-Identifier: Apache-2.0
#include "cuda/Options.h"

#include "kernel/Kernels.h"

#include <algorithm>

namespace gc3::cuda {

using core::Outcome;
using kernel::Protocol;
using plan::lineBytes;

namespace {

constexpr uint64_t preferredFifoBytes = uint64_t{1} << 30;
constexpr uint64_t mostFifoBytes = uint64_t{1} << 40;

uint64_t defaultSlotBytes(Protocol protocol) {
  switch (protocol) {
  case Protocol::Simple: return 512 << 10;
  case Protocol::LL: return 64 << 10;
  case Protocol::LL128: return 600 << 10;
  }
  __builtin_unreachable();
}

} // namespace

static Outcome check(const Tuning &tuning) {
  if (tuning.threads % 32 != 0 || tuning.threads > kernel::mostThreads)
    return {gc3InvalidArgument, std::to_string(tuning.threads) + " threads; a block has a multiple of 32, at most " +
                                    std::to_string(kernel::mostThreads)};
  if (tuning.slotBytes != 0 && tuning.slotBytes < lineBytes)
    return {gc3InvalidArgument, "FIFO slots of " + std::to_string(tuning.slotBytes) + " bytes; they have at least 128"};
  return {};
}

Outcome check(const Options &options) {
  Outcome outcome = options.problem;
  for (const Tuning &tuning : options.tuning)
    if (outcome.ok())
      outcome = check(tuning);
  return outcome;
}

void SlotNeeds::add(const core::Program &program) {
  slots = std::max(slots, program.info().fifo_slots());
  maxCount = std::max(maxCount, program.info().max_count());
}

plan::SlotSizes chooseSlots(Protocol protocol, const SlotNeeds &needs, const Options &options) {
  const Tuning &tuning = options.tuned(protocol);
  plan::SlotSizes sizes{protocol, tuning.slots != 0 ? tuning.slots : needs.slots, 0};
  if (tuning.slotBytes != 0) {
    sizes.slotBytes = std::min(tuning.slotBytes, mostFifoBytes + 1) / lineBytes * lineBytes;
    return sizes;
  }
  const uint64_t allSlots = std::max<uint64_t>(1, needs.connections * sizes.slots);
  sizes.slotBytes =
      std::max(std::max(lineBytes, plan::fewestBytesPerTile(protocol)) * needs.maxCount,
               std::min(defaultSlotBytes(protocol), preferredFifoBytes / allSlots / lineBytes * lineBytes));
  return sizes;
}

std::vector<core::Shape> gpuShapes() {
  return {{.tile = -2}, {.threads = -1}};
}

bool shapeDiffers(const core::Program &program, const plan::SlotSizes &sizes, bool hasChosenThreads,
                  const core::Shape &shape, uint32_t elementBytes, uint64_t bytes) {
  return (shape.threads != 0 && !hasChosenThreads) ||
         (shape.tile != 0 && plan::differs(program, bytes, elementBytes, sizes, shape.tile));
}

bool isPossible(const plan::SlotSizes &sizes, uint64_t connections) {
  const uint64_t slots = connections * sizes.slots;
  return slots == 0 || sizes.slotBytes <= mostFifoBytes / slots;
}

} // namespace gc3::cuda
