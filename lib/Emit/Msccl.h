// SPDX-License-Identifier: Apache-2.0
// What an MSCCL file says beyond the IR, worked out before it is checked and written: buffers by letter, the numbers of
// steps among their `nop`s, and the steps that publish their progress.
#pragma once

#include "gc3/Emit/MscclXml.h"

namespace gc3::emit {

/// A slot as the file names it: buffer `i`, `o` or `s`.
struct MscclSlot {
  char buffer;
  uint32_t offset;
  bool operator==(const MscclSlot &) const = default;
};

/// Linear in the program.
class MscclLayout {
public:
  explicit MscclLayout(const ir::Program &program);

  MscclSlot source(const ir::ThreadBlock &block, const ir::Step &step) const {
    return slot(block.rank, step.srcBuffer, step.srcIndex);
  }
  MscclSlot destination(const ir::ThreadBlock &block, const ir::Step &step) const {
    return slot(block.rank, step.dstBuffer, step.dstIndex);
  }
  /// Slots of all scratch buffers of the rank together; they lie one behind the other in `s`.
  uint64_t scratchSize(uint32_t rank) const { return scratchSizes[rank]; }
  /// The step's number in its thread block, with a `nop` before it for every wait but its last.
  uint32_t number(uint32_t step) const { return numbers[step]; }
  /// Steps of the thread block, `nop`s included.
  uint32_t stepCount(const ir::ThreadBlock &block) const {
    return block.stepCount == 0 ? 0 : numbers[block.firstStep + block.stepCount - 1] + 1;
  }
  /// True if a step waits for this one, or if the interpreters would merge it with the next one in a way that they
  /// can't run (`endReductions`): they publish a thread block's progress after steps with `hasdep`, and merge nothing
  /// across them.
  bool publishes(uint32_t step) const { return publishing[step] != 0; }

private:
  MscclSlot slot(uint32_t rank, ir::BufferId buffer, uint32_t index) const;
  void layOutScratch();
  void numberSteps(const ir::ThreadBlock &block);
  void endReductions(const ir::ThreadBlock &block);

  const ir::Program &program;
  std::vector<uint32_t> scratchBegin; ///< by rank * scratch buffers + scratch buffer
  std::vector<uint64_t> scratchSizes; ///< by rank
  std::vector<uint32_t> numbers;      ///< by step
  std::vector<uint8_t> publishing;    ///< by step
};

/// The name of the collective in the files of the dialect, or null if they can't have it.
const char *mscclCollective(const std::string &name, MscclDialect dialect);

/// Reports what the format can't say, and the limits of the runtimes; true if there is nothing.
bool checkMsccl(const ir::Program &program, const MscclLayout &layout, MscclDialect dialect, Diagnostics &diags);

} // namespace gc3::emit
