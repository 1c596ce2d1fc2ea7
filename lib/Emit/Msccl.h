// SPDX-License-Identifier: Apache-2.0
// Data of an MSCCL file that the IR does not contain: the letters of buffers, the numbers of steps, and the steps that
// publish the progress of their thread block. The numbers also count `nop` steps. This data is complete before the
// program is checked and written.
#pragma once

#include "gc3/Emit/MscclXml.h"

namespace gc3::emit {

/// A slot as the file names it: the letter of its buffer (`i`, `o` or `s`) and its offset in this buffer.
struct MscclSlot {
  char buffer;
  uint32_t offset;
  bool operator==(const MscclSlot &) const = default;
};

/// The layout of a program in an MSCCL file. The constructor is linear in the program.
class MscclLayout {
public:
  explicit MscclLayout(const ir::Program &program);

  MscclSlot source(const ir::ThreadBlock &block, const ir::Step &step) const {
    return slot(block.rank, step.srcBuffer, step.srcIndex);
  }
  MscclSlot destination(const ir::ThreadBlock &block, const ir::Step &step) const {
    return slot(block.rank, step.dstBuffer, step.dstIndex);
  }
  /// Returns the number of slots in all scratch buffers of the rank together; the buffers are consecutive in `s`.
  uint64_t scratchSize(uint32_t rank) const { return scratchSizes[rank]; }
  /// Returns the number of the step in its thread block. In the file, a step can wait only once. So a step with several
  /// waits follows a `nop` step for each wait except the last.
  uint32_t number(uint32_t step) const { return numbers[step]; }
  /// Returns the number of steps of the thread block, including `nop`s.
  uint32_t stepCount(const ir::ThreadBlock &block) const {
    return block.stepCount == 0 ? 0 : numbers[block.firstStep + block.stepCount - 1] + 1;
  }
  /// Returns true if another step waits for this step, or if the interpreters would otherwise merge this step with the
  /// next one incorrectly (endReductions()). The interpreters publish a thread block's progress after steps with
  /// `hasdep`, and they merge no steps across such a step.
  bool publishes(uint32_t step) const { return publishing[step] != 0; }

private:
  MscclSlot slot(uint32_t rank, ir::BufferId buffer, uint32_t index) const;
  void layOutScratch();
  void numberSteps(const ir::ThreadBlock &block);
  void endReductions(const ir::ThreadBlock &block);

  const ir::Program &program;
  std::vector<uint32_t> scratchBegin; ///< first slot in `s`, by rank * number of scratch buffers + scratch buffer
  std::vector<uint64_t> scratchSizes; ///< number of slots in `s`, by rank
  std::vector<uint32_t> numbers;      ///< result of number(), by step
  std::vector<uint8_t> publishing;    ///< result of publishes(), by step
};

/// Returns the name of the collective in files of the dialect, or null if the dialect can't express it.
const char *mscclCollective(const std::string &name, MscclDialect dialect);

/// Reports everything in the program that the format can't express or that exceeds the limits of the runtimes. Returns
/// true if there is no error.
bool checkMsccl(const ir::Program &program, const MscclLayout &layout, MscclDialect dialect, Diagnostics &diags);

} // namespace gc3::emit
