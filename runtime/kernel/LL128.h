// SPDX-License-Identifier: Apache-2.0
// Protocol LL128: a line of 128 bytes has 120 bytes of data, then a flag of 8 bytes, which is the message's number.
// Eight neighbouring lanes store a line together. On links that support this protocol, the line arrives untorn, or its
// last 8 bytes arrive last.
//
// Two lines hold 240 bytes of data, which are 15 packs, so that lanes can load and store buffers 16 bytes at a time.
// Eight lanes move a pair of lines. Lanes 0 to 6 each hold one of packs 0 to 6 and one of packs 8 to 14. Lane 7 holds
// pack 7, and stores its two halves next to the two flags. A warp moves four such pairs of lines at a time, or eight;
// either all of its lanes take part or none.
#pragma once

#include "kernel/Message.h"
#include "kernel/TileRuns.h"
#include "kernel/Wait.h"

namespace gc3::kernel {

inline constexpr uint32_t lineBytesLL128 = 128;
inline constexpr uint32_t lineDataLL128 = 120;

template <typename Machine, typename Arithmetic>
class LL128 {
public:
  static constexpr bool countsArrivals = false;

  /// Moves the data of a step that sends or receives. Returns false after a stop, identically for all lanes of a warp.
  static GC3_DEVICE bool move(Machine &machine, const Motion &motion, const TileRun &run) {
    if (!motion.flags.reduces())
      return moveLines<false>(machine, motion, motion.op, run);
    bool going = true;
    withConstant(motion.op, [&](Operation constant) { going = moveLines<true>(machine, motion, constant, run); });
    return going;
  }

private:
  static constexpr uint32_t elementBytes = Arithmetic::elementBytes;
  static constexpr uint32_t lanesPerLine = lineBytesLL128 / sizeof(Pack);
  static constexpr uint32_t linesPerWarp = 2 * warpLanes / lanesPerLine;

  /// The two packs of one lane in a pair of lines.
  struct Pair {
    Pack first, second;
  };

  /// Moves all lines of a run. A warp moves `linesPerWarp` lines at a time, or several such groups while the buffers
  /// have whole packs for all of its lanes.
  template <bool Reduces>
  static GC3_DEVICE bool moveLines(Machine &machine, const Motion &motion, Operation op, const TileRun &run) {
    constexpr uint32_t unroll = Reduces ? 1 : 2;
    const uint64_t bytes = motion.flags.sends() ? run.nominalBytes : run.bytes;
    const uint64_t lines = (bytes + lineDataLL128 - 1) / lineDataLL128;
    const uint64_t wholeLines =
        (address(run.source) | address(run.target)) % sizeof(Pack) == 0 ? run.bytes / lineDataLL128 : 0;
    const uint32_t stride = machine.threads() / lanesPerLine * 2;
    const uint32_t lane = machine.thread() % warpLanes, inLine = lane % lanesPerLine, inGroup = lane / lanesPerLine * 2;
    const uint64_t begin = run.inMessage / lineDataLL128 * lineBytesLL128;
    uint64_t group = machine.thread() / warpLanes * linesPerWarp;
    for (; group + (unroll - 1) * stride + linesPerWarp <= wholeLines; group += unroll * stride)
      if (!some<unroll, Reduces, true>(machine, motion, op, run, begin, {group + inGroup, inLine, stride, 2}))
        return false;
    for (; group < lines; group += stride) {
      const uint64_t line = group + inGroup;
      if (!some<1, Reduces, false>(machine, motion, op, run, begin,
                                   {line, inLine, stride, line + 1 < lines ? 2 : uint32_t{line < lines}}))
        return false;
    }
    return true;
  }

  /// The lines of a lane: `count` (0 to 2) of them from number `first` on, then as many after each `stride` lines.
  struct Lines {
    uint64_t first;
    uint32_t inLine; ///< the lane's number among those of a line
    uint32_t stride;
    uint32_t count;
  };

  /// Moves `Unroll` pairs of lines of this lane. If `Whole`, all packs are whole and aligned in the buffers.
  template <uint32_t Unroll, bool Reduces, bool Whole>
  static GC3_DEVICE bool some(Machine &machine, const Motion &motion, Operation op, const TileRun &run, uint64_t begin,
                              const Lines &lines) {
    const uint64_t at = lines.first * lineDataLL128 + lines.inLine * sizeof(Pack);
    const uint64_t place = begin + lines.first * lineBytesLL128 + lines.inLine * sizeof(Pack);
    const uint32_t dataApart = lines.stride * lineDataLL128, apart = lines.stride * lineBytesLL128;
    const PackRange<Whole> range(at, run.bytes, lines.inLine);
    Pair pair[Unroll]{};
    if (motion.flags.reads()) {
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        pair[i] = range.load(machine, run.source + at + i * dataApart);
    }
    if (motion.flags.receives()) {
      Pair arrived[Unroll]{};
      bool going = true;
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        load(machine, motion.message.in + place + i * apart, lines.count, arrived[i]);
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        going = going && receive(machine, motion, motion.message.in + place + i * apart, lines, arrived[i]);
      if (!going)
        return false;
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        pair[i] = Reduces ? Pair{combine<Arithmetic>(op, arrived[i].first, pair[i].first),
                                 combine<Arithmetic>(op, arrived[i].second, pair[i].second)}
                          : arrived[i];
    }
    if (motion.flags.sends()) {
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        send(machine, motion, motion.message.out + place + i * apart, lines, pair[i]);
    }
    if (motion.flags.writes()) {
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        range.store(machine, run.target + at + i * dataApart, pair[i]);
    }
    return true;
  }

  /// The number of valid bytes in each of a lane's packs. Lane 7 has only the first pack.
  template <bool Whole>
  struct PackRange {
    uint32_t first, second;

    GC3_DEVICE PackRange(uint64_t offset, uint64_t end, uint32_t inLine) {
      const uint64_t left = offset < end ? end - offset : 0;
      const auto bytes = static_cast<uint32_t>(left < mostBytes ? left : mostBytes);
      first = Whole ? sizeof(Pack) : bytes;
      second = inLine == lanesPerLine - 1 ? 0 : Whole ? sizeof(Pack) : bytes > apart ? bytes - apart : 0;
    }

    GC3_DEVICE Pair load(Machine &machine, const std::byte *from) const {
      if constexpr (Whole)
        return {machine.template load<sizeof(Pack)>(from),
                second == 0 ? Pack{} : machine.template load<sizeof(Pack)>(from + apart)};
      else if (first == 0)
        return {};
      else
        return {loadPack<elementBytes>(machine, from, first), loadPack<elementBytes>(machine, from + apart, second)};
    }
    GC3_DEVICE void store(Machine &machine, std::byte *to, const Pair &pair) const {
      if constexpr (Whole) {
        machine.template store<sizeof(Pack)>(to, pair.first);
        if (second != 0)
          machine.template store<sizeof(Pack)>(to + apart, pair.second);
      } else if (first != 0) {
        storePack<elementBytes>(machine, to, pair.first, first);
        storePack<elementBytes>(machine, to + apart, pair.second, second);
      }
    }

  private:
    static constexpr uint32_t apart = lanesPerLine * sizeof(Pack), mostBytes = apart + sizeof(Pack);
  };

  /// Loads lines again until their flags match. Lanes 0 to 6 can have loaded data older than the flags that lane 7
  /// loads, so all lanes load once more after the flags match. Returns false after a stop.
  static GC3_DEVICE bool receive(Machine &machine, const Motion &motion, const std::byte *at, const Lines &lines,
                                 Pair &pair) {
    const bool isFlagLane = lines.inLine == lanesPerLine - 1;
    for (uint32_t polls = 1;; ++polls) {
      const bool hasArrived = (lines.count < 1 || pair.first.high == motion.message.inNumber) &&
                              (lines.count < 2 || pair.second.high == motion.message.inNumber);
      if (machine.warpAll(hasArrived || !isFlagLane))
        break;
      if (polls % pollsPerStopCheck == 0 && !machine.warpAll(machine.loadStopWord(motion.stop) == 0))
        return false;
      load(machine, at, lines.count, pair);
    }
    load(machine, at, lines.count, pair);
    if (isFlagLane)
      pair.first.high = pair.second.low;
    return true;
  }

  static GC3_DEVICE void load(Machine &machine, const std::byte *at, uint32_t lineCount, Pair &pair) {
    if (lineCount > 0)
      pair.first = machine.loadLine(at);
    if (lineCount > 1)
      pair.second = machine.loadLine(at + lineBytesLL128);
  }

  static GC3_DEVICE void send(Machine &machine, const Motion &motion, std::byte *at, const Lines &lines, Pair pair) {
    if (lines.inLine == lanesPerLine - 1) {
      pair.second = {pair.first.high, motion.message.outNumber};
      pair.first.high = motion.message.outNumber;
    }
    machine.storeLine(lines.count > 0 ? at : nullptr, pair.first);
    machine.storeLine(lines.count > 1 ? at + lineBytesLL128 : nullptr, pair.second);
  }
};

} // namespace gc3::kernel
