// SPDX-License-Identifier: Apache-2.0
// Proves a GC3-IR program correct, independent of its producer, by symbolic execution with FIFOs of a given number of
// slots. Shares only the data structures of the IR with the stages that produce programs.
#pragma once

#include "gc3/IR/GC3IR.h"

namespace gc3::verify {

struct Options {
  bool exact = false;                  ///< compare explicit multisets of contributions instead of their 128-bit hashes
  uint32_t maxFindings = 20;           ///< maximum number of findings kept
  uint32_t maxThreadBlocks = 108;      ///< limit per rank: the thread blocks that a GPU can hold at once
  uint32_t maxInstructions = 1u << 25; ///< limit on the steps of a rank, and half the limit on its waits; a bundle has
                                       ///< 2 GiB for both
  uint32_t maxFifoSlots = 65536;       ///< limit per connection
  /// Maximum number of slots in all messages in flight at once. Steps may move 8 * maxSlots slots in total. Searches
  /// for races may examine maxSlots / 8 places, plus 16 for each step.
  uint64_t maxSlots = uint64_t(32) << 20;
};

/// A fault in a program. `site` indexes ProgramInfo::sites or is None.
struct Finding {
  /// TooLarge: the check would exceed a limit of Options.
  enum Kind : uint8_t { TooLarge, Structure, Deadlock, Race, Uninitialised, Postcondition } kind;
  std::string message;
  uint32_t site = ir::None;
  struct Note {
    std::string message;
    uint32_t site;
  };
  std::vector<Note> notes;
};

/// Proven properties, as bits of Verdict::proven and of a bundle. PostconditionHolds is not set if the postcondition
/// promises nothing.
enum Property : uint32_t { StructureHolds = 1, NoDeadlock = 2, PostconditionHolds = 4, NoRaces = 8 };

struct Verdict {
  uint32_t proven = 0;   ///< Property bits
  uint32_t minSlots = 0; ///< fewest FIFO slots per connection with which the program still terminates; 0: unknown
  /// If true, the program is correct only if all slots of a block have equal length. The element count must then be a
  /// multiple of the number of slots in a block. True unless the opposite is proven.
  bool wholeSlots = true;
  std::vector<Finding> findings;
  bool holds() const { return findings.empty(); }
};

/// Checks the following properties, each only if the earlier ones hold. (1) Structure: peers, connections, ranges,
/// waits. (2) Termination with `program.fifoSlots` slots, for every timing and any number of tiles. One execution
/// proves this, because the order in which blocking sends, receives and waits run does not change whether they end. One
/// tile is enough, because every tile leaves the FIFOs empty. (3) Races: no two thread blocks of a rank race, and no
/// step reads a slot before it is written. (4) The postcondition. Linear in the slots that steps move, times the
/// logarithm of a rank's number of thread blocks.
Verdict verify(const ir::Program &program, const Options &options);

} // namespace gc3::verify
