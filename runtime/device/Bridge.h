// SPDX-License-Identifier: Apache-2.0
// Bridges how a call places one rank's buffers and how a program expects them, as host/Staging.h does for the host
// executor, but by whole copies on a stream: in place or not, averages scaled, blocks padded to whole slots.
#pragma once

#include "device/Image.h"
#include "host/Layout.h"
#include "host/Staging.h"

#include <vector>

namespace gc3::device {

/// Elements moved before or after the kernel. `Scale` and `Divide` may have one place for both.
struct Move {
  enum class Kind : uint8_t { Copy, Scale, Divide } kind;
  std::byte *to;
  const std::byte *from;
  uint64_t elements;
};

/// What surrounds the kernel of a call, in the order of the stream.
struct Surroundings {
  std::vector<Move> before, after;
};

/// How a call reduces, beyond the operation between two elements.
struct Average {
  uint32_t scale = 1;   ///< floating-point inputs are divided by this
  uint32_t divisor = 1; ///< integer outputs are divided by this
  Average(const host::Program &program, const host::Request &request);
};

/// All ranks of a call whose buffers have been placed.
class Bridge {
public:
  /// `layout` is that of the caller's count. All but the request have to stay.
  Bridge(const host::Program &program, const host::Layout &layout, const host::Request &request);
  /// As if blocks had whole slots: `padded` is the layout of a count that gives them, and has to stay.
  void pad(const host::Layout &padded) { run = &padded; }

  /// Scratch that a rank's kernel needs; a multiple of 128 bytes.
  uint64_t scratchBytes(uint32_t rank) const;
  /// Private memory that a rank needs in a call; a multiple of 128 bytes.
  uint64_t privateBytes(uint32_t rank, host::Placement placement) const;
  /// Adds what has to be done for a rank, and says where its kernel finds the buffers. `memory` has privateBytes().
  RankMemory cross(uint32_t rank, host::Placement placement, const host::Request &request, std::byte *memory,
                   Surroundings &surroundings) const;

private:
  /// A rank's two buffers.
  struct Ends {
    std::byte *input, *output;
  };
  bool copiesInput(uint32_t rank, host::Placement placement) const;
  RankMemory crossUnpadded(uint32_t rank, host::Placement placement, Ends ends, std::byte *memory,
                           Surroundings &surroundings) const;
  void addInner(uint32_t rank, bool intoOuter, std::byte *outer, std::byte *inner, std::vector<Move> &moves) const;
  void addBlocks(const host::BufferLayout &to, std::byte *toMemory, const host::BufferLayout &from,
                 std::byte *fromMemory, uint32_t blocks, std::vector<Move> &moves) const;
  void add(std::vector<Move> &moves, Move::Kind kind, std::byte *to, const std::byte *from, uint64_t elements) const;
  uint64_t paddedBytes(const host::BufferLayout &buffer) const;
  Move::Kind scaling() const { return average.scale == 1 ? Move::Kind::Copy : Move::Kind::Scale; }

  const host::Program &program;
  const host::Layout &caller;
  const host::Layout *run; ///< of the kernel
  const Average average;
};

} // namespace gc3::device
