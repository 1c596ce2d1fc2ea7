// SPDX-License-Identifier: Apache-2.0
// Proves a GC3-IR program, whoever made it: symbolic execution with FIFOs of a given number of slots. Shares nothing
// with the stages that make programs but the data structures of the IR.
#pragma once

#include "gc3/IR/GC3IR.h"

namespace gc3::verify {

struct Options {
  bool exact = false;                  ///< compare explicit multisets of contributions instead of their 128-bit hashes
  uint32_t maxFindings = 20;           ///< findings kept
  uint32_t maxThreadBlocks = 108;      ///< of a rank: those that a GPU can hold at once
  uint32_t maxInstructions = 1u << 25; ///< of a rank, and twice as many waits: a bundle has 2 GiB for them
  uint32_t maxFifoSlots = 65536;       ///< of a connection
  /// That messages in flight hold at once. Steps move 8 times as many in all, and searches for races look at an
  /// eighth.
  uint64_t maxSlots = uint64_t(32) << 20;
};

/// Something wrong with a program. `site` indexes ProgramInfo::sites, or is None.
struct Finding {
  /// TooLarge: it takes more than the limits allow to find out.
  enum Kind : uint8_t { TooLarge, Structure, Deadlock, Race, Uninitialised, Postcondition } kind;
  std::string message;
  uint32_t site = ir::None;
  struct Note {
    std::string message;
    uint32_t site;
  };
  std::vector<Note> notes;
};

/// What was shown, as bits of Verdict::proven and of a bundle. A postcondition that promises nothing is not shown.
enum Property : uint32_t { StructureHolds = 1, NoDeadlock = 2, PostconditionHolds = 4, NoRaces = 8 };

struct Verdict {
  uint32_t proven = 0;   ///< Property bits
  uint32_t minSlots = 0; ///< fewest FIFO slots per connection with which the program still ends; 0 if not known
  /// The program is right only where no slot of a block is short: for counts that the slots of a block divide. Set as
  /// long as the contrary is not shown.
  bool wholeSlots = true;
  std::vector<Finding> findings;
  bool holds() const { return findings.empty(); }
};

/// Checks, each only if those before it hold: structure (peers, connections, ranges, waits); that the program ends with
/// `program.fifoSlots` slots, for every timing and any number of tiles (whether blocking sends, receives and waits come
/// to an end does not depend on their order, and every tile leaves the FIFOs empty); that no two thread blocks of a
/// rank race, and nothing reads a slot before it is written; that the postcondition holds. Linear in the slots that
/// steps move, times the logarithm of a rank's thread blocks.
Verdict verify(const ir::Program &program, const Options &options);

} // namespace gc3::verify
