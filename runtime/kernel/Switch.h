// SPDX-License-Identifier: Apache-2.0
// Moves the data of a step over the switch of a node. The switch accesses the memory of all ranks of a team at one
// address: it loads the reduction of what all ranks have there, or stores a value to all ranks. The order in which it
// reduces is not specified.
#pragma once

#include "kernel/Simple.h"

namespace gc3::kernel {

template <typename Machine, typename Arithmetic>
class SwitchMotion {
public:
  /// Moves a run. `sides` is a Simple::Sides, whose addresses and length are multiples of a pack. The step loads its
  /// only operand over the switch. `switched` says whether it also stores over the switch.
  template <typename Sides>
  static GC3_DEVICE void move(Machine &machine, const Motion &motion, const Sides &sides, uint8_t switched) {
    withConstant(motion.op, [&](Operation op) {
      if ((switched & storesOverSwitch) != 0)
        packs<true>(machine, op, sides);
      else
        packs<false>(machine, op, sides);
    });
  }

private:
  /// Number of loads in flight for each thread.
  static constexpr uint32_t loads = 4;

  template <bool ToAll, typename Sides>
  static GC3_DEVICE void packs(Machine &machine, Operation op, const Sides &sides) {
    const uint64_t stride = machine.threads() * sizeof(Pack);
    uint64_t at = machine.thread() * sizeof(Pack);
    for (; at + (loads - 1) * stride < sides.bytes; at += loads * stride)
      some<ToAll, loads>(machine, op, sides, at, stride);
    for (; at < sides.bytes; at += stride)
      some<ToAll, 1>(machine, op, sides, at, stride);
  }

  template <bool ToAll, uint32_t Count, typename Sides>
  static GC3_DEVICE void some(Machine &machine, Operation op, const Sides &sides, uint64_t at, uint64_t stride) {
    Pack value[Count];
    GC3_UNROLLED
    for (uint32_t i = 0; i < Count; ++i)
      value[i] = machine.template loadOverSwitch<Arithmetic>(op, sides.first + at + i * stride);
    GC3_UNROLLED
    for (uint32_t i = 0; i < Count; ++i) {
      std::byte *to = sides.store + at + i * stride;
      if constexpr (ToAll)
        machine.storeOverSwitch(to, value[i]);
      else
        machine.template store<sizeof(Pack)>(to, value[i]);
      if (sides.send && sides.send != sides.store)
        machine.template store<sizeof(Pack)>(sides.send + at + i * stride, value[i]);
    }
  }
};

} // namespace gc3::kernel
