// SPDX-License-Identifier: Apache-2.0
// Any element count for programs that are right only where no slot of a block is short (Program.whole_slots): they run
// on copies of the caller's buffers whose blocks are padded to whole slots.
#pragma once

#include "core/Program.h"
#include "core/Request.h"
#include "host/Memory.h"
#include "host/Staging.h"

#include <vector>

namespace gc3::host {

class Padding {
public:
  /// Whether a call of `count` elements per block would have short slots that the program can't do with.
  static bool needed(const core::Program &program, uint64_t count);

  /// Makes room for the copies of all ranks; `request` is one of an unpadded call that fits into the address space.
  core::Outcome plan(const core::Program &program, const core::Request &request);

  /// Elements per block of the padded call.
  uint64_t count() const { return paddedCount; }
  size_t bytes() const { return memory.size(); }

  /// One rank's request in the padded call.
  core::Request padded(uint32_t rank, const core::Request &request) const;

  /// The copies of one rank, whose unpadded request this is.
  void before(uint32_t rank, const core::Request &request) const;
  void after(uint32_t rank, const core::Request &request) const;

private:
  /// The blocks of one kind of buffer, in bytes.
  struct Block {
    uint64_t bytes;  ///< as the caller has it
    uint64_t padded; ///< as the run has it
  };

  const core::Program *program = nullptr;
  uint64_t paddedCount = 0;
  Block input{}, output{};
  std::vector<RankMemory> copies; ///< by rank; null where it has no such buffer
  Memory memory;
};

} // namespace gc3::host
