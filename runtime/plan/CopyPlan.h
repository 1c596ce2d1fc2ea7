// SPDX-License-Identifier: Apache-2.0
// The copies between how a call places one rank's buffers and how a program expects them, as host/Staging.h does for
// the host executor, but by whole copies on a stream: in place or not, inputs scaled, blocks padded to whole slots,
// buffers at addresses that are no multiples of an element's size, which kernels can't touch.
#pragma once

#include "core/Layout.h"
#include "core/Placement.h"
#include "kernel/Image.h"

#include <vector>

namespace gc3::plan {

/// Elements moved before or after the kernel. `Multiply` and `Divide` may have one place for both.
struct StreamMove {
  enum class Kind : uint8_t { Copy, Multiply, Divide } kind;
  std::byte *to;
  const std::byte *from;
  uint64_t elements;
  core::Factor factor; ///< of Multiply
};

/// What surrounds the kernel of a call, in the order of the stream.
struct Surroundings {
  std::vector<StreamMove> before, after;
};

/// All ranks of a call whose buffers have been placed.
class CopyPlan {
public:
  /// `layout` is that of the caller's count. All but the request have to stay.
  CopyPlan(const core::LoadedProgram &loaded, const core::Layout &layout, const core::Request &request)
      : program(*loaded.program), caller(layout), run(&layout), scaling(loaded, request) {}
  /// As if blocks had whole slots: `padded` is the layout of a count that gives them, and has to stay.
  void pad(const core::Layout &padded) { run = &padded; }

  /// Scratch that a rank's kernel needs; a multiple of 128 bytes.
  uint64_t scratchBytes(uint32_t rank) const;
  /// Private memory that a rank needs in its call; a multiple of 128 bytes.
  uint64_t privateBytes(uint32_t rank, core::Placement placement, const core::Request &request) const;
  /// Adds what has to be done for a rank, and says where its kernel finds the buffers. `memory` has privateBytes().
  kernel::RankBuffers planRank(uint32_t rank, core::Placement placement, const core::Request &request,
                               std::byte *memory, Surroundings &surroundings) const;

private:
  /// A rank's two buffers, and what its input is multiplied by.
  struct Ends {
    std::byte *input, *output;
    core::Factor factor;
  };
  bool isPrivate(const core::Request &request) const;
  bool copiesInput(uint32_t rank, core::Placement placement) const;
  kernel::RankBuffers planUnpadded(uint32_t rank, core::Placement placement, Ends ends, std::byte *memory,
                                   Surroundings &surroundings) const;
  std::byte *inner(uint32_t rank, std::byte *outer) const;
  void addBlocks(const core::BufferLayout &to, std::byte *toMemory, const core::BufferLayout &from,
                 std::byte *fromMemory, uint32_t blocks, std::vector<StreamMove> &moves) const;
  void addCopy(std::vector<StreamMove> &moves, std::byte *to, const std::byte *from, uint64_t elements) const;
  void addScaled(std::vector<StreamMove> &moves, std::byte *to, const std::byte *from, uint64_t elements,
                 const core::Factor &factor) const;
  uint64_t paddedBytes(const core::BufferLayout &buffer) const;

  const core::Program &program;
  const core::Layout &caller;
  const core::Layout *run; ///< of the kernel
  const core::Scaling scaling;
};

} // namespace gc3::plan
