// SPDX-License-Identifier: Apache-2.0
// Which slots can be shorter than others. When a block's elements do not divide evenly, its last slots are short or
// empty (docs/bundle.md); so a value that rests in a slot further back in its block than where it comes from and where
// it goes can lose elements on the way. Such a program is right for counts that divide evenly only.
#pragma once

#include "gc3/IR/GC3IR.h"
#include <algorithm>

namespace gc3::verify {

class SlotLengths {
public:
  explicit SlotLengths(const ir::Program &program)
      : input(program.info->collective.input.chunks * program.subdivision),
        output(program.info->collective.output.chunks * program.subdivision) {}

  /// The slot is at least as long as slot number `restingPlace` of a block of the kind with the most slots. Scratch
  /// slots have full length.
  uint32_t restingPlace(ir::BufferId buffer, uint32_t index) const {
    if (buffer >= ir::FirstScratchBuffer)
      return 0;
    uint32_t own = buffer == ir::InputBuffer ? input : output;
    return within(index, own) + std::max(input, output) - own;
  }

  /// The slot is at most as long as that one.
  uint32_t end(ir::BufferId buffer, uint32_t index) const {
    return within(index, buffer == ir::InputBuffer ? input : output);
  }

private:
  /// Most collectives have one block, and dividing is slow for something that is done for each slot of each step.
  static uint32_t within(uint32_t index, uint32_t block) { return index < block ? index : index % std::max(block, 1u); }

  uint32_t input; ///< slots per block
  uint32_t output;
};

} // namespace gc3::verify
