// SPDX-License-Identifier: Apache-2.0
// Supports any element count for programs that are correct only if no slot of a block is short (Program.whole_slots).
// Such programs run on copies of the caller's buffers, whose blocks are padded to whole slots.
#pragma once

#include "core/Program.h"
#include "core/Request.h"
#include "host/Memory.h"
#include "host/Staging.h"

#include <vector>

namespace gc3::host {

class Padding {
public:
  /// Returns whether a call of `count` elements per block has short slots that the program does not support.
  static bool needed(const core::Program &program, uint64_t count);

  /// Allocates the copies of all ranks. `request` is any rank's request of an unpadded call that fits into the address
  /// space.
  core::Outcome plan(const core::Program &program, const core::Request &request);

  /// Returns the elements per block of the padded call.
  uint64_t count() const { return paddedCount; }
  size_t bytes() const { return memory.size(); }

  /// Returns one rank's request for the padded call.
  core::Request padded(uint32_t rank, const core::Request &request) const;

  /// Copy one rank's buffers before and after the run. `request` is its unpadded request.
  void before(uint32_t rank, const core::Request &request) const;
  void after(uint32_t rank, const core::Request &request) const;

private:
  /// The size of one block of the input or of the output, in bytes.
  struct Block {
    uint64_t bytes;  ///< size in the caller's buffer
    uint64_t padded; ///< size in the padded copy
  };

  const core::Program *program = nullptr;
  uint64_t paddedCount = 0;
  Block input{}, output{};
  std::vector<RankMemory> copies; ///< indexed by rank; null if a rank has no such buffer
  Memory memory;
};

} // namespace gc3::host
