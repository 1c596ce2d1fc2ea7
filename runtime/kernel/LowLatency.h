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

  /// Moves all lines of a run. If the buffers allow whole words, each thread moves several lines at a time, whose loads
  /// are in flight together.
  template <bool Reduces>
  static GC3_DEVICE bool lines(Machine &machine, const Motion &motion, Operation op, const TileRun &run) {
    constexpr uint32_t unroll = 4;
    const uint64_t bytes = motion.flags.sends() ? run.nominalBytes : run.bytes;
    const uint64_t stride = uint64_t{machine.threads()} * wordBytes;
    uint64_t at = uint64_t{machine.thread()} * wordBytes;
    if ((address(run.source) | address(run.target)) % wordBytes == 0)
      for (; at + (unroll - 1) * stride + wordBytes <= run.bytes; at += unroll * stride)
        if (!some<unroll, Reduces, true>(machine, motion, op, run, at, stride))
          return false;
    for (; at < bytes; at += stride)
      if (!some<1, Reduces, false>(machine, motion, op, run, at, stride))
        return false;
    return true;
  }

  /// Moves `Unroll` lines of this thread, the first with the word at byte `at` of the run. If `Whole`, all bytes of the
  /// words are in the buffers. Loads local data first, while the message is in flight. Sends before it stores locally,
  /// because other ranks wait for the message.
  template <uint32_t Unroll, bool Reduces, bool Whole>
  static GC3_DEVICE bool some(Machine &machine, const Motion &motion, Operation op, const TileRun &run, uint64_t at,
                              uint64_t stride) {
    const uint64_t line = (run.inMessage + at) / wordBytes * lineBytesLL, apart = stride / wordBytes * lineBytesLL;
    [[maybe_unused]] const uint32_t own = bytesWithin(at, run.bytes);
    Word word[Unroll]{};
    if (motion.flags.reads()) {
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        if constexpr (Whole)
          word[i] = machine.template load<wordBytes>(run.source + at + i * stride);
        else
          word[i] = loadWord<elementBytes>(machine, run.source + at, own);
    }
    if (motion.flags.receives()) {
      Pack pack[Unroll];
      bool going = true;
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        pack[i] = machine.loadFlagged(motion.message.in + line + i * apart);
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        pack[i] = awaitFlags(machine, motion, motion.message.in + line + i * apart, pack[i], going);
      if (!going)
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
        send(machine, motion.message.out + line + i * apart, word[i], static_cast<uint32_t>(motion.message.outNumber));
    }
    if (motion.flags.writes()) {
      GC3_UNROLLED
      for (uint32_t i = 0; i < Unroll; ++i)
        if constexpr (Whole)
          machine.template store<wordBytes>(run.target + at + i * stride, word[i]);
        else
          storeWord<elementBytes>(machine, run.target + at, word[i], own);
    }
    return true;
  }

  /// Loads a line again until both of its flags match, or until `going` is false. Returns the line. Sets `going` to
  /// false after a stop.
  static GC3_DEVICE Pack awaitFlags(Machine &machine, const Motion &motion, const std::byte *line, Pack pack,
                                    bool &going) {
    const auto flag = static_cast<uint32_t>(motion.message.inNumber);
    for (uint32_t polls = 1;
         going && (static_cast<uint32_t>(pack.low >> 32) != flag || static_cast<uint32_t>(pack.high >> 32) != flag);
         ++polls) {
      if (polls % pollsPerStopCheck == 0 && machine.loadStopWord(motion.stop) != 0)
        going = false;
      machine.pause();
      pack = machine.loadFlagged(line);
    }
    return pack;
  }

  static GC3_DEVICE void send(Machine &machine, std::byte *line, Word word, uint32_t flag) {
    const Word flagged = Word{flag} << 32;
    machine.storeFlagged(line, {(word & UINT32_MAX) | flagged, word >> 32 | flagged});
  }
};

} // namespace gc3::kernel
