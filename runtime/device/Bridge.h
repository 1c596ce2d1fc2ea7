// SPDX-License-Identifier: Apache-2.0
// Bridges how a call places one rank's buffers and how a program expects them, as host/Staging.h does for the host
// executor, but by whole copies on a stream: in place or not, inputs scaled, blocks padded to whole slots, buffers at
// addresses that are no multiples of an element's size, which kernels can't touch.
#pragma once

#include "device/Image.h"
#include "host/Layout.h"
#include "host/Staging.h"

#include <vector>

namespace gc3::device {

/// Elements moved before or after the kernel. `Multiply` and `Divide` may have one place for both.
struct Move {
  enum class Kind : uint8_t { Copy, Multiply, Divide } kind;
  std::byte *to;
  const std::byte *from;
  uint64_t elements;
  host::Factor factor; ///< of Multiply
};

/// What surrounds the kernel of a call, in the order of the stream.
struct Surroundings {
  std::vector<Move> before, after;
};

/// All ranks of a call whose buffers have been placed.
class Bridge {
public:
  /// `layout` is that of the caller's count. All but the request have to stay.
  Bridge(const host::LoadedProgram &loaded, const host::Layout &layout, const host::Request &request)
      : program(*loaded.program), caller(layout), run(&layout), scaling(loaded, request) {}
  /// As if blocks had whole slots: `padded` is the layout of a count that gives them, and has to stay.
  void pad(const host::Layout &padded) { run = &padded; }

  /// Scratch that a rank's kernel needs; a multiple of 128 bytes.
  uint64_t scratchBytes(uint32_t rank) const;
  /// Private memory that a rank needs in its call; a multiple of 128 bytes.
  uint64_t privateBytes(uint32_t rank, host::Placement placement, const host::Request &request) const;
  /// Adds what has to be done for a rank, and says where its kernel finds the buffers. `memory` has privateBytes().
  RankMemory cross(uint32_t rank, host::Placement placement, const host::Request &request, std::byte *memory,
                   Surroundings &surroundings) const;

private:
  /// A rank's two buffers, and what its input is multiplied by.
  struct Ends {
    std::byte *input, *output;
    host::Factor factor;
  };
  bool isPrivate(const host::Request &request) const;
  bool copiesInput(uint32_t rank, host::Placement placement) const;
  RankMemory crossUnpadded(uint32_t rank, host::Placement placement, Ends ends, std::byte *memory,
                           Surroundings &surroundings) const;
  std::byte *inner(uint32_t rank, std::byte *outer) const;
  void addBlocks(const host::BufferLayout &to, std::byte *toMemory, const host::BufferLayout &from,
                 std::byte *fromMemory, uint32_t blocks, std::vector<Move> &moves) const;
  void addCopy(std::vector<Move> &moves, std::byte *to, const std::byte *from, uint64_t elements) const;
  void addScaled(std::vector<Move> &moves, std::byte *to, const std::byte *from, uint64_t elements,
                 const host::Factor &factor) const;
  uint64_t paddedBytes(const host::BufferLayout &buffer) const;

  const host::Program &program;
  const host::Layout &caller;
  const host::Layout *run; ///< of the kernel
  const host::Scaling scaling;
};

} // namespace gc3::device
