// SPDX-License-Identifier: Apache-2.0
// Plans the copies that a rank needs if the caller places its buffers differently from the program. The host executor
// has host/Staging.h for this; here each copy is an operation on a stream. Covers calls in place and out of place,
// scaled inputs, and blocks padded to whole slots. Also covers buffers that are not aligned to an element, which
// kernels cannot access.
#pragma once

#include "core/Layout.h"
#include "core/Placement.h"
#include "kernel/Image.h"

#include <vector>

namespace gc3::plan {

/// Elements that are moved before or after the kernel. For `Multiply` and `Divide`, `to` can equal `from`.
struct StreamMove {
  enum class Kind : uint8_t { Copy, Multiply, Divide } kind;
  std::byte *to;
  const std::byte *from;
  uint64_t elements;
  core::Factor factor; ///< for Multiply
};

/// The moves before and after a call's kernel, in stream order.
struct CallMoves {
  std::vector<StreamMove> before, after;
};

/// Plans the copies of a call for ranks whose placements are known.
class CopyPlan {
public:
  /// `layout` is the layout of the caller's count. `loaded` and `layout` must outlive this object.
  CopyPlan(const core::LoadedProgram &loaded, const core::Layout &layout, const core::Request &request)
      : program(*loaded.program), caller(layout), run(&layout), scaling(loaded, request) {}
  /// Pads all blocks to whole slots. `padded` is the layout of the padded count, and must outlive this object.
  void pad(const core::Layout &padded) { run = &padded; }

  /// Returns the bytes of scratch that a rank's kernel needs; a multiple of 128.
  uint64_t scratchBytes(uint32_t rank) const;
  /// Returns the bytes of private memory that a rank needs for its call; a multiple of 128.
  uint64_t privateBytes(uint32_t rank, core::Placement placement, const core::Request &request) const;
  /// Adds the moves of a rank, and returns the buffers of its kernel. `memory` must have privateBytes() bytes.
  kernel::RankBuffers planRank(uint32_t rank, core::Placement placement, const core::Request &request,
                               std::byte *memory, CallMoves &moves) const;

private:
  /// A rank's two buffers, and the factor of its input.
  struct Ends {
    std::byte *input, *output;
    core::Factor factor;
  };
  bool isPrivate(const core::Request &request) const;
  bool copiesInput(uint32_t rank, core::Placement placement) const;
  kernel::RankBuffers planUnpadded(uint32_t rank, core::Placement placement, Ends ends, std::byte *memory,
                                   CallMoves &moves) const;
  std::byte *inner(uint32_t rank, std::byte *outer) const;
  void addBlocks(const core::BufferLayout &to, std::byte *toMemory, const core::BufferLayout &from,
                 std::byte *fromMemory, uint32_t blocks, std::vector<StreamMove> &moves) const;
  void addCopy(std::vector<StreamMove> &moves, std::byte *to, const std::byte *from, uint64_t elements) const;
  void addScaled(std::vector<StreamMove> &moves, std::byte *to, const std::byte *from, uint64_t elements,
                 const core::Factor &factor) const;
  uint64_t paddedBytes(const core::BufferLayout &buffer) const;

  const core::Program &program;
  const core::Layout &caller;
  const core::Layout *run; ///< layout of the kernel's buffers
  const core::Scaling scaling;
};

} // namespace gc3::plan
