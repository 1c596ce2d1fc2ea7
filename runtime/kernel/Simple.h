// SPDX-License-Identifier: Apache-2.0
// Protocol Simple: a FIFO slot is plain memory, so every step copies or reduces one or two sources to one or two
// targets.
#pragma once

#include "kernel/Message.h"
#include "kernel/TileRuns.h"

namespace gc3::kernel {

template <typename Machine, typename Arithmetic>
class Simple {
public:
  static constexpr bool countsArrivals = true;

  static GC3_DEVICE bool move(Machine &machine, const Motion &motion, const TileRun &run) {
    const OpcodeFlags &flags = motion.flags;
    std::byte *send = flags.sends ? motion.message.out + run.inMessage : nullptr;
    const Sides sides{flags.receives      ? motion.message.in + run.inMessage
                      : flags.accumulates ? run.target
                                          : run.source,
                      run.source, flags.writes ? run.target : send, send};
    const bool both = motion.flags.writes && motion.flags.sends;
    if (sides.first == sides.store && !motion.flags.reduces && !both)
      return true; // a copy in place
    if (motion.flags.reduces)
      both ? choose<true, true>(machine, motion.op, sides, run.bytes)
           : choose<true, false>(machine, motion.op, sides, run.bytes);
    else
      both ? choose<false, true>(machine, motion.op, sides, run.bytes)
           : choose<false, false>(machine, motion.op, sides, run.bytes);
    return true;
  }

private:
  static constexpr uint32_t elementBytes = Arithmetic::elementBytes;
  /// The addresses of a step's data. The step stores `first op second` at `store`, or `first` if it does not reduce. If
  /// the step both writes and sends, it stores the same value at `send`.
  struct Sides {
    const std::byte *first, *second;
    std::byte *store, *send;
  };

  /// Chooses the widest unit in which all sides have the same alignment.
  template <bool Reduces, bool Both>
  static GC3_DEVICE void choose(Machine &machine, Operation op, const Sides &sides, uint64_t bytes) {
    const uintptr_t at = address(sides.store);
    uintptr_t differ = at ^ address(sides.first);
    if (Reduces)
      differ |= at ^ address(sides.second);
    if (Both)
      differ |= at ^ address(sides.send);
    if (differ % 16 == 0)
      return all<16, Reduces, Both>(machine, op, sides, bytes);
    if constexpr (elementBytes < 8)
      if (differ % 8 == 0)
        return all<8, Reduces, Both>(machine, op, sides, bytes);
    if constexpr (elementBytes < 4)
      if (differ % 4 == 0)
        return all<4, Reduces, Both>(machine, op, sides, bytes);
    all<elementBytes, Reduces, Both>(machine, op, sides, bytes);
  }

  /// Moves single elements up to the first aligned unit, then units, then the remaining elements.
  template <uint32_t G, bool Reduces, bool Both>
  static GC3_DEVICE void all(Machine &machine, Operation op, const Sides &sides, uint64_t bytes) {
    uint64_t head = (G - address(sides.store) % G) % G;
    head = head < bytes ? head : bytes;
    const uint64_t body = (bytes - head) / G * G;
    if constexpr (G != elementBytes)
      part<elementBytes, 1, Reduces, Both>(machine, op, sides, 0, head);
    part<G, G == 16 ? 4 : G == 1 ? 1 : 2, Reduces, Both>(machine, op, sides, head, head + body);
    if constexpr (G != elementBytes)
      part<elementBytes, 1, Reduces, Both>(machine, op, sides, head + body, bytes);
  }

  /// Moves bytes [begin, end) in units of G. Each thread has `Unroll` loads in flight.
  template <uint32_t G, uint32_t Unroll, bool Reduces, bool Both>
  static GC3_DEVICE void part(Machine &machine, Operation op, const Sides &sides, uint64_t begin, uint64_t end) {
    const uint64_t stride = uint64_t{machine.threads()} * G;
    uint64_t at = begin + uint64_t{machine.thread()} * G;
    if constexpr (Unroll > 1)
      for (; at + (Unroll - 1) * stride < end; at += Unroll * stride)
        units<G, Unroll, Reduces, Both>(machine, op, sides, at, stride);
    for (; at < end; at += stride)
      units<G, 1, Reduces, Both>(machine, op, sides, at, stride);
  }

  template <uint32_t G, uint32_t Unroll, bool Reduces, bool Both>
  static GC3_DEVICE void units(Machine &machine, Operation op, const Sides &sides, uint64_t at, uint64_t stride) {
    Unit<G> value[Unroll], other[Unroll];
    for (uint32_t i = 0; i < Unroll; ++i)
      value[i] = machine.template load<G>(sides.first + at + i * stride);
    if constexpr (Reduces) {
      for (uint32_t i = 0; i < Unroll; ++i)
        other[i] = machine.template load<G>(sides.second + at + i * stride);
      for (uint32_t i = 0; i < Unroll; ++i)
        value[i] = combine<Arithmetic>(op, value[i], other[i]);
    }
    for (uint32_t i = 0; i < Unroll; ++i)
      machine.template store<G>(sides.store + at + i * stride, value[i]);
    if constexpr (Both)
      for (uint32_t i = 0; i < Unroll; ++i)
        machine.template store<G>(sides.send + at + i * stride, value[i]);
  }
};

} // namespace gc3::kernel
