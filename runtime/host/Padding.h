// SPDX-License-Identifier: Apache-2.0
// Any element count for programs that are right only where no slot of a block is short (Program.whole_slots): they run
// on copies of the caller's buffers whose blocks are padded to whole slots.
#pragma once

#include "host/Memory.h"
#include "host/Program.h"
#include "host/Request.h"

#include <span>
#include <vector>

namespace gc3::host {

class Padding {
public:
  /// Whether a call of `count` elements per block would have short slots that the program can't do with.
  static bool needed(const Program &program, uint64_t count);

  /// Makes room for the copies of all ranks. The caller has checked the pointers and the sizes of the unpadded call.
  Outcome plan(const Program &program, std::span<const Request> requests);

  /// The requests of the padded call, by rank.
  std::span<const Request> padded() const { return paddedRequests; }

  /// The copies of one rank; different ranks may do so at once.
  void before(uint32_t rank) const;
  void after(uint32_t rank) const;

private:
  /// The blocks of one kind of buffer, in bytes.
  struct Block {
    uint64_t bytes;  ///< as the caller has it
    uint64_t padded; ///< as the run has it
  };

  const Program *program = nullptr;
  std::span<const Request> requests;
  std::vector<Request> paddedRequests;
  Block input{}, output{};
  Memory memory;
};

} // namespace gc3::host
