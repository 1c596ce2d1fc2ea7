// SPDX-License-Identifier: Apache-2.0
// Protocol LL128: lines of 128 bytes, 120 of data and then a flag of 8, which is the message's number. A line is stored
// by eight neighbouring lanes at once and, on links that allow this protocol, arrives whole, or its last 8 bytes last.
//
// A warp moves four lines at a time, all of its lanes or none.
#pragma once

#include "device/Message.h"
#include "device/Wait.h"
#include "device/Walk.h"

namespace gc3::device {

inline constexpr uint32_t lineBytesLL128 = 128;
inline constexpr uint32_t lineDataLL128 = 120;
inline constexpr uint32_t warpLanes = 32;

template <typename Machine, typename Arithmetic>
class LL128 {
public:
  static constexpr bool countsArrivals = false;

  /// A step that sends or receives. False: told to stop, the same for all lanes of a warp.
  static GC3_DEVICE bool move(Machine &machine, const Motion &motion, const Run &run) {
    const bool sends = motion.does.sends;
    const uint64_t firstLine = run.inMessage / lineDataLL128;
    const bool aligned = (address(run.source) | address(run.target)) % wordBytes == 0;
    const uint64_t bytes = sends ? run.nominalBytes : run.bytes;
    const uint64_t lines = (bytes + lineDataLL128 - 1) / lineDataLL128;
    const uint32_t lane = machine.thread() % warpLanes, inLine = lane % lanesPerLine;
    const uint64_t stride = machine.threads() / lanesPerLine;
    for (uint64_t group = machine.thread() / warpLanes * linesPerWarp; group < lines; group += stride) {
      const uint64_t line = group + lane / lanesPerLine;
      const bool active = line < lines;
      const uint64_t place = (firstLine + line) * lineBytesLL128 + inLine * sizeof(Pack);
      const Words words(line * lineDataLL128 + inLine * sizeof(Pack), active ? run.bytes : 0, inLine);
      Pack pack{};
      if (motion.does.receives) {
        if (!receive(machine, motion, active ? motion.message.in + place : nullptr, inLine, pack))
          return false;
      } else {
        pack = words.load(machine, run.source, aligned);
      }
      if (motion.does.reduces)
        pack = combine<Arithmetic>(motion.op, pack, words.load(machine, run.source, aligned));
      if (motion.does.writes)
        words.store(machine, run.target, pack, aligned);
      if (sends) {
        if (inLine == lanesPerLine - 1)
          pack.high = motion.message.outNumber;
        machine.storeLine(active ? motion.message.out + place : nullptr, pack);
      }
    }
    return true;
  }

private:
  static constexpr uint32_t elementBytes = Arithmetic::elementBytes;
  static constexpr uint32_t lanesPerLine = lineBytesLL128 / sizeof(Pack);
  static constexpr uint32_t linesPerWarp = warpLanes / lanesPerLine;

  /// A lane's two words of the data, of which some bytes may lie past the end; the last lane of a line has only one.
  struct Words {
    uint64_t at;
    uint32_t low, high; ///< bytes

    GC3_DEVICE Words(uint64_t offset, uint64_t end, uint32_t inLine)
        : at(offset), low(bytesWithin(offset, end)),
          high(inLine == lanesPerLine - 1 ? 0 : bytesWithin(offset + wordBytes, end)) {}

    GC3_DEVICE Pack load(Machine &machine, const std::byte *from, bool aligned) const {
      return {loadWord<elementBytes>(machine, from + at, low, aligned),
              loadWord<elementBytes>(machine, from + at + wordBytes, high, aligned)};
    }
    GC3_DEVICE void store(Machine &machine, std::byte *to, const Pack &pack, bool aligned) const {
      storeWord<elementBytes>(machine, to + at, pack.low, low, aligned);
      storeWord<elementBytes>(machine, to + at + wordBytes, pack.high, high, aligned);
    }
  };

  /// What lanes 0 to 6 read may be older than the flag that lane 7 reads with them, so all read again.
  static GC3_DEVICE bool receive(Machine &machine, const Motion &motion, const std::byte *at, uint32_t inLine,
                                 Pack &pack) {
    for (uint32_t polls = 1;; ++polls) {
      bool here = true;
      if (at) {
        pack = machine.loadLine(at);
        here = inLine != lanesPerLine - 1 || pack.high == motion.message.inNumber;
      }
      if (machine.warpAll(here))
        break;
      if (polls % pollsPerLook == 0 && !machine.warpAll(machine.look(motion.stop) == 0))
        return false;
    }
    if (at)
      pack = machine.loadLine(at);
    return true;
  }
};

} // namespace gc3::device
