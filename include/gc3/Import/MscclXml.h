// SPDX-License-Identifier: Apache-2.0
// MSCCL XML → GC3-IR (docs/msccl-xml.md): algorithms of other systems, with the meaning that the interpreters of the
// MSCCL runtimes give them. In two parts, as the file names its collective, and somebody else knows what that promises.
#pragma once

#include "gc3/IR/GC3IR.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace gc3 {
class Diagnostics;
class SourceManager;
} // namespace gc3

namespace gc3::imports {

/// An algorithm as its file says it.
struct MscclAlgorithm {
  /// Chunks of the buffers that a rank says it touches.
  struct Sizes {
    uint32_t input = 0;
    uint32_t output = 0;
    uint32_t scratch = 0;
  };

  ir::ProgramInfo info;        ///< of the collective: its ranks, and its name as `std/` spells it
  SourceRange collectiveRange; ///< where the file names it
  uint32_t chunks = 0;         ///< of the larger of a rank's input and output
  SourceRange chunksRange;     ///< where the file says so
  bool inPlace = false;        ///< it serves calls with one buffer for both sides
  bool outOfPlace = false;     ///< it serves calls with two
  std::vector<Sizes> sizes;    ///< by rank
  /// Thread blocks, steps and waits as in GC3-IR, but for the slots of steps: these are chunks of the buffers i, o and
  /// s (0, 1 and 2), which may be one another's parts, and lie anywhere. Without an info and sizes of buffers.
  ir::Program program;
  std::vector<uint8_t> merged; ///< by step: the interpreters run this reduction together with the one before it
};

/// Reads the one algorithm of the text; what stands around it is skipped. Nothing after an error, which is then in
/// `diags`. The file is taken for hostile: no DOCTYPE and no entities of its own are read, it may have at most 512 MiB,
/// and each of the buffers at most `maxSlots` chunks, of all ranks together. Linear.
std::optional<MscclAlgorithm> readMscclXml(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                           llvm::StringRef text, uint64_t maxSlots);

/// A collective for an algorithm that does not say what it is to do: as large as its buffers, and nothing promised.
ir::Collective unknownCollective(const MscclAlgorithm &algorithm, bool inPlace);

/// The algorithm as an implementation of the collective, which says, too, how input and output meet. Nothing after an
/// error: shapes that do not fit, slots outside of their buffers, writing to the input of a call out of place. Linear.
std::optional<ir::Program> programOf(const MscclAlgorithm &algorithm, ir::Collective collective, uint32_t fifoSlots,
                                     Diagnostics &diags);

} // namespace gc3::imports
