// SPDX-License-Identifier: Apache-2.0
// Protocol LL128: a line of 128 bytes has 120 bytes of data, then a flag of 8 bytes, which is the message's number.
// Eight neighbouring lanes store a line together. On links that support this protocol, the line arrives untorn, or its
// last 8 bytes arrive last.
//
// Two lines hold 240 bytes of data, which are 15 packs, so that lanes can load and store buffers 16 bytes at a time.
// Eight lanes move a pair of lines. Lanes 0 to 6 each hold one of packs 0 to 6 and one of packs 8 to 14. Lane 7 holds
// pack 7, and stores its two halves next to the two flags. A warp moves four such pairs of lines at a time; either all
// of its lanes take part or none.
#pragma once

#include "kernel/Message.h"
#include "kernel/TileRuns.h"
#include "kernel/Wait.h"

namespace gc3::kernel {

inline constexpr uint32_t lineBytesLL128 = 128;
inline constexpr uint32_t lineDataLL128 = 120;
inline constexpr uint32_t warpLanes = 32;

template <typename Machine, typename Arithmetic>
class LL128 {
public:
  static constexpr bool countsArrivals = false;

  /// Moves the data of a step that sends or receives. Returns false after a stop, identically for all lanes of a warp.
  static GC3_DEVICE bool move(Machine &machine, const Motion &motion, const TileRun &run) {
    const bool sends = motion.flags.sends;
    const uint64_t bytes = sends ? run.nominalBytes : run.bytes;
    const uint64_t lines = (bytes + lineDataLL128 - 1) / lineDataLL128;
    const uint32_t lane = machine.thread() % warpLanes, inLine = lane % lanesPerLine;
    const uint64_t stride = machine.threads() / lanesPerLine * 2;
    for (uint64_t group = machine.thread() / warpLanes * linesPerWarp; group < lines; group += stride) {
      const uint64_t line = group + lane / lanesPerLine * 2;
      const uint32_t lineCount = line + 1 < lines ? 2 : line < lines;
      const uint64_t place =
          run.inMessage / lineDataLL128 * lineBytesLL128 + line * lineBytesLL128 + inLine * sizeof(Pack);
      const PackRange range(line * lineDataLL128 + inLine * sizeof(Pack), run.bytes, inLine);
      Pair pair{};
      if (motion.flags.reads)
        pair = range.load(machine, run.source);
      if (motion.flags.receives) {
        Pair arrived{};
        if (!receive(machine, motion, motion.message.in + place, lineCount, inLine, arrived))
          return false;
        pair = motion.flags.reduces ? combined(motion.op, arrived, pair) : arrived;
      }
      if (sends)
        send(machine, motion, motion.message.out + place, lineCount, inLine, pair);
      if (motion.flags.writes)
        range.store(machine, run.target, pair);
    }
    return true;
  }

private:
  static constexpr uint32_t elementBytes = Arithmetic::elementBytes;
  static constexpr uint32_t lanesPerLine = lineBytesLL128 / sizeof(Pack);
  static constexpr uint32_t linesPerWarp = 2 * warpLanes / lanesPerLine;

  /// The two packs of one lane in a pair of lines.
  struct Pair {
    Pack first, second;
  };

  static GC3_DEVICE Pair combined(Operation op, const Pair &a, const Pair &b) {
    return {combine<Arithmetic>(op, a.first, b.first), combine<Arithmetic>(op, a.second, b.second)};
  }

  /// The position of a lane's packs in the data, and the number of valid bytes in each pack. Lane 7 has only the first
  /// pack.
  struct PackRange {
    uint64_t at;
    uint32_t first, second; ///< valid bytes

    GC3_DEVICE PackRange(uint64_t offset, uint64_t end, uint32_t inLine) : at(offset) {
      const uint64_t left = offset < end ? end - offset : 0;
      const auto bytes = static_cast<uint32_t>(left < mostBytes ? left : mostBytes);
      first = bytes;
      second = bytes > apart && inLine != lanesPerLine - 1 ? bytes - apart : 0;
    }

    GC3_DEVICE Pair load(Machine &machine, const std::byte *from) const {
      return {loadPack<elementBytes>(machine, from + at, first),
              loadPack<elementBytes>(machine, from + at + apart, second)};
    }
    GC3_DEVICE void store(Machine &machine, std::byte *to, const Pair &pair) const {
      storePack<elementBytes>(machine, to + at, pair.first, first);
      storePack<elementBytes>(machine, to + at + apart, pair.second, second);
    }

  private:
    static constexpr uint32_t apart = lanesPerLine * sizeof(Pack), mostBytes = apart + sizeof(Pack);
  };

  /// Polls until the flags of the lines match. Lanes 0 to 6 can load data older than the flags that lane 7 loads, so
  /// all lanes load again after the flags match. Returns false after a stop.
  static GC3_DEVICE bool receive(Machine &machine, const Motion &motion, const std::byte *at, uint32_t lineCount,
                                 uint32_t inLine, Pair &pair) {
    const bool isFlagLane = inLine == lanesPerLine - 1;
    for (uint32_t polls = 1;; ++polls) {
      load(machine, at, lineCount, pair);
      const bool hasArrived = (lineCount < 1 || pair.first.high == motion.message.inNumber) &&
                              (lineCount < 2 || pair.second.high == motion.message.inNumber);
      if (machine.warpAll(hasArrived || !isFlagLane))
        break;
      if (polls % pollsPerStopCheck == 0 && !machine.warpAll(machine.loadStopWord(motion.stop) == 0))
        return false;
    }
    load(machine, at, lineCount, pair);
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

  static GC3_DEVICE void send(Machine &machine, const Motion &motion, std::byte *at, uint32_t lineCount,
                              uint32_t inLine, Pair pair) {
    if (inLine == lanesPerLine - 1) {
      pair.second = {pair.first.high, motion.message.outNumber};
      pair.first.high = motion.message.outNumber;
    }
    machine.storeLine(lineCount > 0 ? at : nullptr, pair.first);
    machine.storeLine(lineCount > 1 ? at + lineBytesLL128 : nullptr, pair.second);
  }
};

} // namespace gc3::kernel
