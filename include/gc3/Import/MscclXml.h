// SPDX-License-Identifier: Apache-2.0
// MSCCL XML → GC3-IR (docs/msccl-xml.md): algorithms of other systems, with the meaning that the interpreters of the
// MSCCL runtimes give them. The import has two parts, because the file only names its collective. After readMscclXml(),
// the caller determines the collective with its postcondition, and passes both to programOf().
#pragma once

#include "gc3/IR/GC3IR.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace gc3 {
class Diagnostics;
class SourceManager;
} // namespace gc3

namespace gc3::imports {

/// An algorithm as its file describes it.
struct MscclAlgorithm {
  /// Numbers of chunks that a rank declares for its buffers.
  struct Sizes {
    uint32_t input = 0;
    uint32_t output = 0;
    uint32_t scratch = 0;
  };

  ir::ProgramInfo info;        ///< of the collective, only the number of ranks and the name as `std/` spells it are set
  SourceRange collectiveRange; ///< place of the collective's name in the file
  uint32_t chunks = 0;         ///< chunks of the larger of a rank's input and output
  SourceRange chunksRange;     ///< place of that number in the file
  bool inPlace = false;        ///< true: the file serves calls with one buffer for input and output
  bool outOfPlace = false;     ///< true: the file serves calls with two buffers
  std::vector<Sizes> sizes;    ///< by rank
  /// Thread blocks, steps and waits as in GC3-IR, except for the slices of steps: these are chunks of the buffers i, o
  /// and s (0, 1 and 2). One of these buffers can be part of another, and slices can lie outside their buffers. `info`
  /// and `bufferSizes` are not set.
  ir::Program program;
  std::vector<uint8_t> merged; ///< by step: 1 if the interpreters run this reduction together with the previous one
};

/// Reads the one algorithm of the text and skips the text around it. Returns nothing after an error, which is in
/// `diags`. The file is untrusted. A DOCTYPE and custom entities are errors. The text may have at most 512 MiB. Each of
/// the buffers may have at most `maxSlots` chunks on all ranks together. Linear.
std::optional<MscclAlgorithm> readMscclXml(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                           llvm::StringRef text, uint64_t maxSlots);

/// Returns a collective for an algorithm that does not name one: it is as large as the algorithm's buffers and promises
/// nothing.
ir::Collective unknownCollective(const MscclAlgorithm &algorithm, bool inPlace);

/// Returns the algorithm as an implementation of the collective, which also defines how input and output overlap.
/// Returns nothing after an error: shapes that do not fit, slots outside their buffers, or a write to the input of an
/// out-of-place call. Linear.
std::optional<ir::Program> programOf(const MscclAlgorithm &algorithm, ir::Collective collective, uint32_t fifoSlots,
                                     Diagnostics &diags);

} // namespace gc3::imports
