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
    const bool sends = motion.flags.sends;
    const uint64_t offset = run.inMessage / wordBytes * lineBytesLL;
    const uint64_t bytes = sends ? run.nominalBytes : run.bytes;
    for (uint64_t at = uint64_t{machine.thread()} * wordBytes; at < bytes;
         at += uint64_t{machine.threads()} * wordBytes) {
      const uint32_t own = bytesWithin(at, run.bytes);
      const uint64_t line = offset + at / wordBytes * lineBytesLL;
      // Loads local data first, while the message is in flight. Sends before it stores locally, because other ranks
      // wait for the message.
      Word word = 0;
      if (motion.flags.reads)
        word = loadWord<elementBytes>(machine, run.source + at, own);
      if (motion.flags.receives) {
        Word arrived = 0;
        if (!receive(machine, motion, motion.message.in + line, arrived))
          return false;
        word = motion.flags.reduces ? Arithmetic::combine(motion.op, arrived, word) : arrived;
      }
      if (sends)
        send(machine, motion.message.out + line, word, static_cast<uint32_t>(motion.message.outNumber));
      if (motion.flags.writes)
        storeWord<elementBytes>(machine, run.target + at, word, own);
    }
    return true;
  }

  /// Call after all runs of a message with `slotCount` slots. If the message is the first of 2^31 messages in its FIFO
  /// slot, writes the lines of that slot that the message does not use.
  static GC3_DEVICE void finish(Machine &machine, const Motion &motion, const KernelArgs &call, uint32_t slotCount,
                                uint64_t nominalBytes) {
    if (!motion.flags.sends || motion.message.outNumber % (uint64_t{1} << 31) >= call.slots)
      return;
    const uint64_t lines = call.slotBytes / lineBytesLL, stride = call.tileStride / wordBytes,
                   used = (nominalBytes + wordBytes - 1) / wordBytes;
    for (uint64_t line = machine.thread(); line < lines; line += machine.threads())
      if (line / stride >= slotCount || line % stride >= used)
        send(machine, motion.message.out + line * lineBytesLL, 0, static_cast<uint32_t>(motion.message.outNumber));
  }

private:
  static constexpr uint32_t elementBytes = Arithmetic::elementBytes;

  static GC3_DEVICE bool receive(Machine &machine, const Motion &motion, const std::byte *line, Word &word) {
    const auto flag = static_cast<uint32_t>(motion.message.inNumber);
    for (uint32_t polls = 1;; ++polls) {
      Pack pack = machine.loadFlagged(line);
      if (static_cast<uint32_t>(pack.low >> 32) == flag && static_cast<uint32_t>(pack.high >> 32) == flag) {
        word = (pack.low & UINT32_MAX) | pack.high << 32;
        return true;
      }
      if (polls % pollsPerStopCheck == 0 && machine.loadStopWord(motion.stop) != 0)
        return false;
      machine.pause();
    }
  }

  static GC3_DEVICE void send(Machine &machine, std::byte *line, Word word, uint32_t flag) {
    const Word flagged = Word{flag} << 32;
    machine.storeFlagged(line, {(word & UINT32_MAX) | flagged, word >> 32 | flagged});
  }
};

} // namespace gc3::kernel
