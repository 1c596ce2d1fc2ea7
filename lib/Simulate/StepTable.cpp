// SPDX-License-Identifier: Apache-2.0
#include "StepTable.h"
#include "Hash.h"
#include <algorithm>
#include <bit>

namespace gc3::simulate {

using Step = Workload::Step;
using kernel::OpcodeFlags;

static uint8_t bitsOf(OpcodeFlags flags) {
  return std::bit_cast<uint8_t>(flags);
}

void StepTable::begin() {
  open = {static_cast<uint32_t>(steps.size()),
          0,
          static_cast<uint32_t>(waits.size()),
          0,
          static_cast<uint32_t>(runs.size()),
          0,
          {}};
}

/// Lists the different flags, and gives each step the number of its own.
void StepTable::sortKinds(List &list) {
  for (uint32_t i = 0; i < list.stepCount; ++i) {
    Step &step = steps[list.firstStep + i];
    const auto isSame = [&](OpcodeFlags other) { return bitsOf(other) == bitsOf(step.flags); };
    const auto found = std::find_if(list.kinds.begin(), list.kinds.end(), isSame);
    step.uses = static_cast<uint32_t>(found - list.kinds.begin());
    if (found == list.kinds.end())
      list.kinds.push_back(step.flags);
  }
}

uint64_t StepTable::hash(const List &list) const {
  Hash result;
  result.add(uint64_t{list.stepCount});
  for (uint32_t i = list.firstStep; i < list.firstStep + list.stepCount; ++i) {
    const Step &step = steps[i];
    result.add(uint64_t{step.count} << 16 | uint64_t{bitsOf(step.flags)} << 8 | step.isAwaited);
    result.add(uint64_t{step.firstWait} << 32 | step.waitCount);
  }
  for (uint32_t i = list.firstWait; i < list.firstWait + list.waitCount; ++i)
    result.add(uint64_t{waits[i].block} << 32 | waits[i].step);
  for (uint32_t i = list.firstRun; i < list.firstRun + list.runCount; ++i)
    result.add(runs[i].bytes), result.add(uint64_t{runs[i].slots});
  return result.value();
}

bool StepTable::areEqual(const List &a, const List &b) const {
  const auto isSameStep = [](const Step &x, const Step &y) {
    return bitsOf(x.flags) == bitsOf(y.flags) && x.isAwaited == y.isAwaited && x.count == y.count &&
           x.firstWait == y.firstWait && x.waitCount == y.waitCount && x.firstRun == y.firstRun &&
           x.runCount == y.runCount;
  };
  const auto isSameWait = [](const Workload::Wait &x, const Workload::Wait &y) {
    return x.block == y.block && x.step == y.step;
  };
  const auto isSameRun = [](const kernel::SlotRun &x, const kernel::SlotRun &y) {
    return x.bytes == y.bytes && x.slots == y.slots;
  };
  const auto areSame = [](const auto &all, uint32_t first, uint32_t second, uint32_t count, const auto &isSame) {
    return std::equal(all.begin() + first, all.begin() + first + count, all.begin() + second, isSame);
  };
  return a.stepCount == b.stepCount && a.waitCount == b.waitCount && a.runCount == b.runCount &&
         areSame(steps, a.firstStep, b.firstStep, a.stepCount, isSameStep) &&
         areSame(waits, a.firstWait, b.firstWait, a.waitCount, isSameWait) &&
         areSame(runs, a.firstRun, b.firstRun, a.runCount, isSameRun);
}

uint32_t StepTable::end() {
  open.stepCount = static_cast<uint32_t>(steps.size()) - open.firstStep;
  open.waitCount = static_cast<uint32_t>(waits.size()) - open.firstWait;
  open.runCount = static_cast<uint32_t>(runs.size()) - open.firstRun;
  const uint64_t key = hash(open);
  const auto [first, last] = known.equal_range(key);
  for (auto each = first; each != last; ++each)
    if (areEqual(lists[each->second], open)) {
      steps.resize(open.firstStep), waits.resize(open.firstWait), runs.resize(open.firstRun);
      return each->second;
    }
  sortKinds(open);
  const auto number = static_cast<uint32_t>(lists.size());
  known.emplace(key, number);
  lists.push_back(std::move(open));
  return number;
}

} // namespace gc3::simulate
