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

  /// The places of a lane's packs in the first pair of lines of a run: in local buffers, and in messages.
  struct Places {
    const std::byte *source;
    std::byte *target;
    const std::byte *in;
    std::byte *out;
    int64_t bytes;   ///< from the lane's first pack to the end of the local buffers; can be negative
    uint32_t inLine; ///< the lane's number among those of a line
  };
  static GC3_DEVICE Places placesOf(Machine &machine, const Motion &motion, const TileRun &run) {
    const uint32_t lane = machine.thread() % warpLanes, inLine = lane % lanesPerLine, pair = lane / lanesPerLine;
    const uint64_t data = pair * 2 * lineDataLL128 + inLine * sizeof(Pack);
    const uint64_t line =
        run.inMessage / lineDataLL128 * lineBytesLL128 + pair * 2 * lineBytesLL128 + inLine * sizeof(Pack);
    return {motion.flags.reads() ? run.source + data : nullptr,
            motion.flags.writes() ? run.target + data : nullptr,
            motion.flags.receives() ? motion.message.in + line : nullptr,
            motion.flags.sends() ? motion.message.out + line : nullptr,
            static_cast<int64_t>(run.bytes - data),
            inLine};
  }

  /// Moves all lines of a run. While the buffers have whole packs for all lanes of a warp, the warp moves
  /// `linesPerWarp` lines at a time, or twice as many if there are enough for all warps.
  template <bool Reduces>
  static GC3_DEVICE bool moveLines(Machine &machine, const Motion &motion, Operation op, const TileRun &run) {
    const Places places = placesOf(machine, motion, run);
    const uint64_t bytes = motion.flags.sends() ? run.nominalBytes : run.bytes;
    const auto lines = static_cast<uint32_t>((bytes + lineDataLL128 - 1) / lineDataLL128);
    const bool isAligned = (address(run.source) | address(run.target)) % sizeof(Pack) == 0;
    const uint32_t whole = isAligned ? static_cast<uint32_t>(run.bytes / lineDataLL128) : 0;
    const uint32_t stride = machine.threads() / warpLanes * linesPerWarp;
    const uint32_t warp = machine.thread() / warpLanes * linesPerWarp;
    constexpr uint32_t twice = 2 * linesPerWarp;
    const uint32_t wide = whole > stride ? whole / twice * twice : 0;
    for (uint32_t line = 2 * warp; line < wide; line += 2 * stride)
      if (!some<2, Reduces, true>(machine, motion, op, places, line, 2))
        return false;
    uint32_t line = wide + warp;
    for (; line + linesPerWarp <= whole; line += stride)
      if (!some<1, Reduces, true>(machine, motion, op, places, line, 2))
        return false;
    for (; line < lines; line += stride) {
      const uint32_t own = line + machine.thread() % warpLanes / lanesPerLine * 2;
      if (!some<1, Reduces, false>(machine, motion, op, places, line, own < lines ? lines - own : 0))
        return false;
    }
    return true;
  }

  /// Moves `Unroll` pairs of lines of this lane, for a warp whose first line is `line`. The lane has `count` lines
  /// there. If `Whole`, all packs are whole and aligned in the buffers.
  template <uint32_t Unroll, bool Reduces, bool Whole>
  static GC3_DEVICE bool some(Machine &machine, const Motion &motion, Operation op, const Places &places, uint32_t line,
                              uint32_t count) {
    constexpr uint32_t dataApart = linesPerWarp * lineDataLL128;
    const uint64_t data = uint64_t{line} * lineDataLL128, place = uint64_t{line} * lineBytesLL128;
    const PackRange<Whole> range(data, places);
    Pair pair[Unroll]{};
    if (Reduces || motion.flags.reads()) {
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        pair[i] = range.load(machine, places.source + data + i * dataApart);
    }
    if (Reduces || motion.flags.receives()) {
      Pair arrived[Unroll]{};
      if (!receive<Unroll>(machine, motion, places.in + place, places.inLine, count, arrived))
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
        send(machine, motion, places.out + place + i * apart, places.inLine, count, pair[i]);
    }
    if (motion.flags.writes()) {
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        range.store(machine, places.target + data + i * dataApart, pair[i]);
    }
    return true;
  }

  /// The number of valid bytes in each of a lane's packs. Lane 7 has only the first pack.
  template <bool Whole>
  struct PackRange {
    uint32_t first, second;

    GC3_DEVICE PackRange(uint64_t data, const Places &places) {
      const int64_t left = places.bytes - static_cast<int64_t>(data);
      const auto bytes = static_cast<uint32_t>(left < 0 ? 0 : left < mostBytes ? left : mostBytes);
      first = Whole ? sizeof(Pack) : bytes;
      second = places.inLine == lanesPerLine - 1 ? 0 : Whole ? sizeof(Pack) : bytes > apart ? bytes - apart : 0;
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
    static constexpr uint32_t apart = lanesPerLine * sizeof(Pack);
    static constexpr int64_t mostBytes = apart + sizeof(Pack);
  };

  static constexpr uint32_t apart = linesPerWarp * lineBytesLL128; ///< between the pairs of lines of a lane

  /// Loads lines until their flags match. Lanes 0 to 6 can have loaded data older than the flags that lane 7 loads, so
  /// all lanes load once more after the flags match. Returns false after a stop.
  template <uint32_t Unroll>
  static GC3_DEVICE bool receive(Machine &machine, const Motion &motion, const std::byte *from, uint32_t inLine,
                                 uint32_t count, Pair (&pair)[Unroll]) {
    const bool isFlagLane = inLine == lanesPerLine - 1;
    for (uint32_t polls = 1;; ++polls) {
      Word differs = 0;
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        differs |= load(machine, motion, from + i * apart, count, pair[i]);
      if (machine.warpAll(differs == 0 || !isFlagLane))
        break;
      if (polls % pollsPerStopCheck == 0 && !machine.warpAll(machine.loadStopWord(motion.stop) == 0))
        return false;
    }
    GC3_UNROLLED
    for (uint32_t i = 0; i < Unroll; ++i) {
      load(machine, motion, from + i * apart, count, pair[i]);
      if (isFlagLane)
        pair[i].first.high = pair[i].second.low;
    }
    return true;
  }

  /// Loads a pair of lines. Returns 0 if their flags match, as lane 7 sees them.
  static GC3_DEVICE Word load(Machine &machine, const Motion &motion, const std::byte *at, uint32_t count, Pair &pair) {
    Word differs = 0;
    if (count > 0)
      pair.first = machine.loadLine(at), differs |= pair.first.high ^ motion.message.inNumber;
    if (count > 1)
      pair.second = machine.loadLine(at + lineBytesLL128), differs |= pair.second.high ^ motion.message.inNumber;
    return differs;
  }

  static GC3_DEVICE void send(Machine &machine, const Motion &motion, std::byte *at, uint32_t inLine, uint32_t count,
                              Pair pair) {
    if (inLine == lanesPerLine - 1) {
      pair.second = {pair.first.high, motion.message.outNumber};
      pair.first.high = motion.message.outNumber;
    }
    machine.storeLine(count > 0, at, pair.first);
    machine.storeLine(count > 1, at + lineBytesLL128, pair.second);
  }
};

} // namespace gc3::kernel
