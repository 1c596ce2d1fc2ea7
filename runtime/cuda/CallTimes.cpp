// SPDX-License-Identifier: Apache-2.0
#include "cuda/CallTimes.h"

#include <algorithm>
#include <limits>

namespace gc3::cuda {

namespace {

constexpr float none = std::numeric_limits<float>::quiet_NaN();
constexpr float shortest = 0.5F; ///< the resolution of events; a time must not be 0

/// Reads a time that a kernel may write now.
uint64_t read(const uint64_t &time) {
  return __atomic_load_n(&time, __ATOMIC_RELAXED);
}

} // namespace

core::Outcome CallTimes::prepare(uint32_t most) {
  std::vector<Slot> made(most);
  for (Slot &slot : made)
    for (OwnEvent *event : {&slot.begin, &slot.end})
      if (core::Outcome outcome = createTimedEvent(cuda).moveTo(*event); !outcome.ok())
        return outcome;
  std::lock_guard lock(mutex);
  slots = std::move(made);
  return {};
}

core::Outcome CallTimes::prepareKernels() {
  std::lock_guard lock(mutex);
  const size_t bytes = slots.size() * mostBlocks * sizeof(kernel::BlockTimes);
  return allocatePinned(cuda, bytes, "the times of calls").moveTo(kernelTimes);
}

/// Returns the slot for a new call; null if an earlier call uses it. A kernel can end after its call is forgotten, or
/// dropped.
CallTimes::Slot *CallTimes::claim(uint64_t call) {
  if (slots.empty())
    return nullptr;
  Slot &slot = slots[call % slots.size()];
  const bool mayRun = (slot.state == State::InKernel || slot.state == State::Dropped) && !timeOfKernel(slot);
  if (slot.state != State::Free && (slot.call >= forgotten || mayRun))
    return nullptr;
  slot.call = call;
  return &slot;
}

/// Returns the slot of a call that is measured, else null.
CallTimes::Slot *CallTimes::slotOf(uint64_t call) {
  Slot *slot = slots.empty() ? nullptr : &slots[call % slots.size()];
  return slot && slot->state != State::Free && slot->call == call ? slot : nullptr;
}

std::span<kernel::BlockTimes> CallTimes::timesOf(const Slot &slot) const {
  auto *all = static_cast<kernel::BlockTimes *>(kernelTimes.get());
  return {all + static_cast<size_t>(&slot - slots.data()) * mostBlocks, slot.blocks};
}

kernel::BlockTimes *CallTimes::beginKernel(uint64_t call, uint32_t blocks) {
  std::lock_guard lock(mutex);
  Slot *slot = kernelTimes.get() && blocks <= mostBlocks ? claim(call) : nullptr;
  if (!slot)
    return nullptr;
  slot->state = State::InKernel, slot->blocks = blocks;
  const std::span<kernel::BlockTimes> times = timesOf(*slot);
  std::fill(times.begin(), times.end(), kernel::BlockTimes{});
  return times.data();
}

void CallTimes::begin(uint64_t call, Stream stream) {
  std::lock_guard lock(mutex);
  if (Slot *slot = claim(call))
    slot->state = cuda.record(slot->begin.get(), stream) == 0 ? State::Begun : State::Free;
}

void CallTimes::end(uint64_t call, Stream stream) {
  std::lock_guard lock(mutex);
  if (Slot *slot = slotOf(call); slot && slot->state == State::Begun)
    slot->state = cuda.record(slot->end.get(), stream) == 0 ? State::Ended : State::Free;
}

void CallTimes::drop(uint64_t call) {
  std::lock_guard lock(mutex);
  if (Slot *slot = slotOf(call))
    slot->state = slot->state == State::InKernel ? State::Dropped : State::Free;
}

std::optional<CallTimes::Time> CallTimes::timeOfKernel(const Slot &slot) const {
  uint64_t first = UINT64_MAX, last = 0;
  for (const kernel::BlockTimes &block : timesOf(slot)) {
    const uint64_t begin = read(block.begin), end = read(block.end);
    if (begin == 0 || end == 0)
      return std::nullopt;
    first = std::min(first, begin), last = std::max(last, end);
  }
  return Time{std::max(last > first ? static_cast<float>(last - first) / 1000 : 0, shortest)};
}

std::optional<CallTimes::Time> CallTimes::timeOfEvents(const Slot &slot) const {
  float milliseconds = 0;
  const Result result = cuda.elapsed(&milliseconds, slot.begin.get(), slot.end.get());
  if (result == notReady)
    return std::nullopt;
  return result == 0 ? Time{std::max(milliseconds * 1000, shortest), true} : Time{none};
}

std::optional<CallTimes::Time> CallTimes::find(uint64_t call) {
  std::lock_guard lock(mutex);
  const Slot *slot = slotOf(call);
  if (slot && slot->state == State::InKernel)
    return timeOfKernel(*slot);
  return slot && slot->state == State::Ended ? timeOfEvents(*slot) : Time{none};
}

void CallTimes::forget(uint64_t call) {
  std::lock_guard lock(mutex);
  forgotten = std::max(forgotten, call);
}

} // namespace gc3::cuda
