// SPDX-License-Identifier: Apache-2.0
// Protocol Simple: a FIFO slot is plain memory, so every step copies or reduces one or two sources to one or two
// targets. Some messages have no slot: the sender stores them into the receiver's buffer (docs/direct.md).
#pragma once

#include "kernel/Message.h"
#include "kernel/TileRuns.h"

namespace gc3::kernel {

/// `Loads` is the number of packs that a thread loads from each source of a reduction before it uses them.
template <typename Machine, typename Arithmetic, uint32_t Loads = 8>
class Simple {
public:
  static constexpr bool countsArrivals = true;

  /// The addresses of a run's data. The step stores `first op second` at `store`, or `first` if it does not reduce. If
  /// the step both writes and sends, it stores the same value at `send`.
  struct Sides {
    const std::byte *first, *second;
    std::byte *store, *send;
    uint64_t bytes;
    bool isAligned; ///< all addresses and `bytes` are multiples of a pack
    bool isShort;   ///< also, no thread of the block moves more than one pack
  };

  static GC3_DEVICE Sides sidesOf(const Machine &machine, const Motion &motion, const TileRun &run) {
    const OpcodeFlags flags = motion.flags;
    std::byte *send = flags.sendsDirectly() ? run.atPeer : flags.sends() ? motion.message.out + run.inMessage : nullptr;
    const uint64_t places =
        address(run.source) | address(run.target) | address(run.atPeer) | run.inMessage; // FIFO slots are aligned
    const bool isAligned = (places | run.bytes) % sizeof(Pack) == 0;
    return {flags.readsSlot()     ? motion.message.in + run.inMessage
            : flags.accumulates() ? run.target
                                  : run.source,
            run.source,
            flags.writes() ? run.target : send,
            send,
            run.bytes,
            isAligned,
            isAligned && run.bytes <= machine.threads() * sizeof(Pack)};
  }

  /// Moves the data of a run. If `Local`, the step sends nothing, so the kernel has no loops with two targets.
  template <bool Local = false>
  static GC3_DEVICE void move(Machine &machine, const Motion &motion, const Sides &sides) {
    const OpcodeFlags flags = motion.flags;
    const bool both = !Local && flags.writes() && flags.sends();
    if (sides.isShort)
      return moveShort(machine, motion, sides);
    if (flags.reduces())
      both ? choose<true, true>(machine, motion.op, sides) : choose<true, false>(machine, motion.op, sides);
    else if (both)
      choose<false, true>(machine, motion.op, sides);
    else if (sides.first != sides.store) // otherwise it is a copy in place
      choose<false, false>(machine, motion.op, sides);
  }

private:
  static constexpr uint32_t elementBytes = Arithmetic::elementBytes;

  /// Moves a short run. One function for all opcodes and operations has less code than move(), and a short step takes
  /// as long as it takes to load and execute its instructions.
  static GC3_DEVICE void moveShort(Machine &machine, const Motion &motion, const Sides &sides) {
    const OpcodeFlags flags = motion.flags;
    const bool inPlace = !flags.reduces() && sides.first == sides.store; // then it does not send
    const uint32_t at = machine.thread() * static_cast<uint32_t>(sizeof(Pack));
    if (at >= static_cast<uint32_t>(sides.bytes) || inPlace)
      return;
    Pack value = machine.template load<sizeof(Pack)>(sides.first + at);
    if (flags.reduces()) {
      const Pack other = machine.template load<sizeof(Pack)>(sides.second + at);
      withConstant(motion.op, [&](Operation constant) { value = combine<Arithmetic>(constant, value, other); });
    }
    machine.template store<sizeof(Pack)>(sides.store + at, value);
    if (flags.writes() && flags.sends())
      machine.template store<sizeof(Pack)>(sides.send + at, value);
  }

  /// Moves packs if all sides have the same alignment. Otherwise moves the widest units in which they have the same.
  template <bool Reduces, bool Both>
  static GC3_DEVICE void choose(Machine &machine, Operation op, const Sides &sides) {
    uint64_t begin = 0, end = sides.bytes;
    if (!sides.isAligned) {
      const uintptr_t at = address(sides.store);
      uintptr_t differ = at ^ address(sides.first);
      if (Reduces)
        differ |= at ^ address(sides.second);
      if (Both)
        differ |= at ^ address(sides.send);
      if (differ % sizeof(Pack) != 0)
        return narrow<Reduces, Both>(machine, op, sides, differ);
      edges<sizeof(Pack), Reduces, Both>(machine, op, sides, begin, end);
    }
    if constexpr (Reduces)
      withConstant(op, [&](Operation constant) { packs<Reduces, Both>(machine, constant, sides, begin, end); });
    else
      packs<Reduces, Both>(machine, op, sides, begin, end);
  }

  template <bool Reduces, bool Both>
  static GC3_DEVICE void narrow(Machine &machine, Operation op, const Sides &sides, uintptr_t differ) {
    if constexpr (elementBytes < 8)
      if (differ % 8 == 0)
        return all<8, Reduces, Both>(machine, op, sides);
    if constexpr (elementBytes < 4)
      if (differ % 4 == 0)
        return all<4, Reduces, Both>(machine, op, sides);
    all<elementBytes, Reduces, Both>(machine, op, sides);
  }

  template <uint32_t G, bool Reduces, bool Both>
  static GC3_DEVICE void all(Machine &machine, Operation op, const Sides &sides) {
    uint64_t begin = 0, end = sides.bytes;
    if constexpr (G != elementBytes)
      edges<G, Reduces, Both>(machine, op, sides, begin, end);
    part<G, G == 1 ? 1 : 2, Reduces, Both>(machine, op, sides, begin, end);
  }

  /// Moves single elements before the first aligned unit of G bytes in [begin, end), and after the last. Sets `begin`
  /// and `end` to the range of the units.
  template <uint32_t G, bool Reduces, bool Both>
  static GC3_DEVICE void edges(Machine &machine, Operation op, const Sides &sides, uint64_t &begin, uint64_t &end) {
    const uint64_t bytes = end;
    begin = (G - address(sides.store) % G) % G;
    begin = begin < bytes ? begin : bytes;
    end = begin + (bytes - begin) / G * G;
    part<elementBytes, 1, Reduces, Both>(machine, op, sides, 0, begin);
    part<elementBytes, 1, Reduces, Both>(machine, op, sides, end, bytes);
  }

  /// Moves bytes [begin, end) in packs. Each warp moves consecutive packs, and its lanes access them at constant
  /// distances. Each thread has up to `unroll` loads of each source in flight. The loop's only variable is the offset
  /// of the thread's first pack.
  template <bool Reduces, bool Both>
  static GC3_DEVICE void packs(Machine &machine, Operation op, const Sides &sides, uint64_t begin, uint64_t end) {
    constexpr uint32_t unroll = Reduces ? Loads : 8, warpBytes = warpLanes * sizeof(Pack);
    const uint32_t width = machine.threads() * sizeof(Pack), round = unroll * width;
    const uint32_t lane = machine.thread() % warpLanes * sizeof(Pack), warp = machine.thread() / warpLanes;
    if (end - begin >= round) {
      const uint32_t own = warp * (unroll * warpBytes) + lane;
      uint64_t at = begin + own;
      for (const uint64_t last = end - round + own; at <= last; at += round)
        units<sizeof(Pack), unroll, Reduces, Both>(machine, op, sides, at, warpBytes);
      begin = at - own;
    }
    const auto left = static_cast<uint32_t>(end - begin);
    const uint32_t each = (left + width - 1) / width * warpBytes; // bytes of a warp
    const uint32_t at = warp * each + lane;
    if (at < left)
      units<sizeof(Pack), unroll, Reduces, Both, true>(machine, op, sides, begin + at, warpBytes,
                                                       each < left - at ? each : left - at);
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

  /// Moves up to `Unroll` units of this thread, the first at `at`. If `Limited`, moves only those that begin less than
  /// `left` bytes after the first.
  template <uint32_t G, uint32_t Unroll, bool Reduces, bool Both, bool Limited = false>
  static GC3_DEVICE void units(Machine &machine, Operation op, const Sides &sides, uint64_t at, uint64_t stride,
                               [[maybe_unused]] uint32_t left = 0) {
    const auto holds = [&](uint32_t i) { return !Limited || i * static_cast<uint32_t>(stride) < left; };
    Unit<G> value[Unroll], other[Unroll];
    GC3_UNROLLED
    for (uint32_t i = 0; i < Unroll; ++i)
      value[i] = holds(i) ? machine.template load<G>(sides.first + at + i * stride) : Unit<G>{};
    if constexpr (Reduces) {
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        other[i] = holds(i) ? machine.template load<G>(sides.second + at + i * stride) : Unit<G>{};
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        value[i] = combine<Arithmetic>(op, value[i], other[i]);
    }
    GC3_UNROLLED
    for (uint32_t i = 0; i < Unroll; ++i)
      if (holds(i)) {
        machine.template store<G>(sides.store + at + i * stride, value[i]);
        if constexpr (Both)
          machine.template store<G>(sides.send + at + i * stride, value[i]);
      }
  }
};

} // namespace gc3::kernel
