// SPDX-License-Identifier: Apache-2.0
// The lists of steps of a program's thread blocks. Equal lists are stored once, so a symmetric program needs little
// memory.
#pragma once

#include "Workload.h"

#include <unordered_map>

namespace gc3::simulate {

class StepTable {
public:
  /// A list of steps. Numbers in its steps and waits count from the list's own: Step::firstWait and Step::firstRun
  /// from firstWait and firstRun, Wait::block in the awaited blocks of the thread block, Step::uses in `kinds`.
  struct List {
    uint32_t firstStep, stepCount;
    uint32_t firstWait, waitCount;
    uint32_t firstRun, runCount;
    std::vector<kernel::OpcodeFlags> kinds; ///< the different flags of its steps, in the order of their first steps
  };

  /// Begins a list. The caller then appends to `steps` (with any `uses`), `waits` and `runs`.
  void begin();
  /// Ends the list. Returns its number in `lists`: that of an equal list if there is one, which it then keeps instead.
  uint32_t end();

  std::vector<List> lists;
  std::vector<Workload::Step> steps;
  std::vector<Workload::Wait> waits;
  std::vector<kernel::SlotRun> runs;

private:
  void sortKinds(List &list);
  uint64_t hash(const List &list) const;
  bool areEqual(const List &a, const List &b) const;

  List open{};
  std::unordered_multimap<uint64_t, uint32_t> known; ///< lists by hash
};

} // namespace gc3::simulate
