// SPDX-License-Identifier: Apache-2.0
// Protocol LL: a line of 16 bytes holds 8 bytes of data. It consists of two stores, each with 4 bytes of data and 4
// bytes of flag. A store of 8 bytes arrives untorn, so data has arrived if its flag has arrived. The protocol needs no
// fence and no counter, but moves twice as many bytes as the data has.
//
// The flag is the low half of the message's number. A line that was never written, or was last written 2^32 messages
// ago, could match the flag by chance. So the sender writes all lines of each slot once in every 2^31 messages of the
// connection.
#pragma once

#include "kernel/Message.h"
#include "kernel/TileRuns.h"
#include "kernel/Wait.h"

namespace gc3::kernel {

inline constexpr uint32_t lineBytesLL = 16;

template <typename Machine, typename Arithmetic>
class LowLatency {
public:
  static constexpr bool countsArrivals = false;

  /// Moves the data of a step that sends or receives. Returns false after a stop.
  static GC3_DEVICE bool move(Machine &machine, const Motion &motion, const TileRun &run) {
    if (!motion.flags.reduces())
      return lines<false>(machine, motion, motion.op, run);
    bool going = true;
    withConstant(motion.op, [&](Operation constant) { going = lines<true>(machine, motion, constant, run); });
    return going;
  }

  /// Call after all runs of a message with `slotCount` slots. If the message is the first of 2^31 messages in its FIFO
  /// slot, writes the lines of that slot that the message does not use.
  static GC3_DEVICE void finish(Machine &machine, const Motion &motion, const KernelArgs &call, uint32_t slotCount,
                                uint64_t nominalBytes) {
    if (!motion.flags.sends() || motion.message.outNumber % (uint64_t{1} << 31) >= call.slots)
      return;
    const uint64_t lines = call.slotBytes / lineBytesLL, stride = call.tileStride / wordBytes,
                   used = (nominalBytes + wordBytes - 1) / wordBytes;
    for (uint64_t line = machine.thread(); line < lines; line += machine.threads())
      if (line / stride >= slotCount || line % stride >= used)
        send(machine, motion.message.out + line * lineBytesLL, 0, static_cast<uint32_t>(motion.message.outNumber));
  }

private:
  static constexpr uint32_t elementBytes = Arithmetic::elementBytes;

  static constexpr uint32_t unroll = 4;

  /// Moves all lines of a run. If the run has more words than there are threads, and the buffers allow whole words,
  /// each thread moves several lines at a time, whose loads are in flight together. A warp then moves consecutive
  /// lines, and its lanes access them at constant distances.
  template <bool Reduces>
  static GC3_DEVICE bool lines(Machine &machine, const Motion &motion, Operation op, const TileRun &run) {
    constexpr uint32_t warpBytes = unroll * warpLanes * wordBytes;
    const uint64_t bytes = motion.flags.sends() ? run.nominalBytes : run.bytes;
    const uint32_t stride = machine.threads() * wordBytes;
    const bool isWide = (address(run.source) | address(run.target)) % wordBytes == 0 && run.bytes > stride;
    const uint64_t wide = isWide ? run.bytes / warpBytes * warpBytes : 0;
    const uint64_t first = run.inMessage / wordBytes * lineBytesLL;
    const Places places{run.source, run.target, motion.flags.receives() ? motion.message.in + first : nullptr,
                        motion.flags.sends() ? motion.message.out + first : nullptr, run.bytes};
    const uint32_t lane = machine.thread() % warpLanes, warp = machine.thread() / warpLanes;
    for (uint64_t at = warp * warpBytes + lane * wordBytes; at < wide; at += unroll * stride)
      if (!some<unroll, Reduces, true>(machine, motion, op, places, at))
        return false;
    for (uint64_t at = wide + machine.thread() * wordBytes; at < bytes; at += stride)
      if (!some<1, Reduces, false>(machine, motion, op, places, at))
        return false;
    return true;
  }

  /// The places of a run: in local buffers, and of its lines in messages.
  struct Places {
    const std::byte *source;
    std::byte *target;
    const std::byte *in;
    std::byte *out;
    uint64_t bytes; ///< in local buffers
  };

  /// Moves `Unroll` lines of this thread, the first with the word at byte `at` of the run, the next each `warpLanes`
  /// words later. If `Whole`, all bytes of the words are in the buffers. Loads local data first, while the message is
  /// in flight. Sends before it stores locally, because other ranks wait for the message. A step with a message that
  /// reduces also reads and receives.
  template <uint32_t Unroll, bool Reduces, bool Whole>
  static GC3_DEVICE bool some(Machine &machine, const Motion &motion, Operation op, const Places &places, uint64_t at) {
    constexpr uint32_t apart = warpLanes * wordBytes, linesApart = warpLanes * lineBytesLL;
    [[maybe_unused]] const uint32_t own = bytesWithin(at, places.bytes);
    Word word[Unroll]{};
    if (Reduces || motion.flags.reads()) {
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        if constexpr (Whole)
          word[i] = machine.template load<wordBytes>(places.source + at + i * apart);
        else
          word[i] = loadWord<elementBytes>(machine, places.source + at, own);
    }
    if (Reduces || motion.flags.receives()) {
      Pack pack[Unroll];
      if (!receive<Unroll>(machine, motion, places.in + 2 * at, pack))
        return false;
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i) {
        const Word arrived = (pack[i].low & UINT32_MAX) | pack[i].high << 32;
        word[i] = Reduces ? Arithmetic::combine(op, arrived, word[i]) : arrived;
      }
    }
    if (motion.flags.sends()) {
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        send(machine, places.out + 2 * at + i * linesApart, word[i], static_cast<uint32_t>(motion.message.outNumber));
    }
    if (motion.flags.writes()) {
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        if constexpr (Whole)
          machine.template store<wordBytes>(places.target + at + i * apart, word[i]);
        else
          storeWord<elementBytes>(machine, places.target + at, word[i], own);
    }
    return true;
  }

  /// Loads lines until all their flags match. Polls only the last line, because polls of all lines would take bandwidth
  /// from the senders. Returns false after a stop.
  template <uint32_t Unroll>
  static GC3_DEVICE bool receive(Machine &machine, const Motion &motion, const std::byte *from, Pack (&pack)[Unroll]) {
    constexpr uint32_t apart = warpLanes * lineBytesLL, last = Unroll - 1;
    const auto flag = static_cast<uint32_t>(motion.message.inNumber);
    for (uint32_t polls = 1;;) {
      uint32_t differs = 0;
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        pack[i] = machine.loadFlagged(from + i * apart);
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        differs |= difference(pack[i], flag);
      if (differs == 0)
        return true;
      do {
        if (polls++ % pollsPerStopCheck == 0 && machine.loadStopWord(motion.stop) != 0)
          return false;
        machine.pause();
        pack[last] = machine.loadFlagged(from + last * apart);
      } while (difference(pack[last], flag) != 0);
      if (Unroll == 1)
        return true;
    }
  }

  /// Returns 0 if both flags of a line match.
  static GC3_DEVICE uint32_t difference(const Pack &line, uint32_t flag) {
    return (static_cast<uint32_t>(line.low >> 32) ^ flag) | (static_cast<uint32_t>(line.high >> 32) ^ flag);
  }

  static GC3_DEVICE void send(Machine &machine, std::byte *line, Word word, uint32_t flag) {
    const Word flagged = Word{flag} << 32;
    machine.storeFlagged(line, {(word & UINT32_MAX) | flagged, word >> 32 | flagged});
  }
};

} // namespace gc3::kernel
