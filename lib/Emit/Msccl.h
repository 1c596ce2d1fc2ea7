// SPDX-License-Identifier: Apache-2.0
// Data of an MSCCL file that the IR does not contain: letters of buffers, the numbers of steps among their `nop`s, and
// the steps that publish their progress. All of it is computed before the program is checked and written.
#pragma once

#include "gc3/Emit/MscclXml.h"

namespace gc3::emit {

/// A slot as the file names it: buffer `i`, `o` or `s`.
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
  /// Returns the step's number in its thread block. A step has a `nop` before it for every wait except its last.
  uint32_t number(uint32_t step) const { return numbers[step]; }
  /// Returns the number of steps of the thread block, including `nop`s.
  uint32_t stepCount(const ir::ThreadBlock &block) const {
    return block.stepCount == 0 ? 0 : numbers[block.firstStep + block.stepCount - 1] + 1;
  }
  /// Returns true if a step waits for this one, or if the interpreters would otherwise merge it with the next one in a
  /// way that they can't run (`endReductions`). The interpreters publish a thread block's progress after steps with
  /// `hasdep`, and merge no steps across them.
  bool publishes(uint32_t step) const { return publishing[step] != 0; }

private:
  MscclSlot slot(uint32_t rank, ir::BufferId buffer, uint32_t index) const;
  void layOutScratch();
  void numberSteps(const ir::ThreadBlock &block);
  void endReductions(const ir::ThreadBlock &block);

  const ir::Program &program;
  std::vector<uint32_t> scratchBegin; ///< first slot in `s`, by rank * number of scratch buffers + scratch buffer
  std::vector<uint64_t> scratchSizes; ///< by rank
  std::vector<uint32_t> numbers;      ///< by step
  std::vector<uint8_t> publishing;    ///< by step
};

/// Returns the name of the collective in files of the dialect, or null if the dialect can't express it.
const char *mscclCollective(const std::string &name, MscclDialect dialect);

/// Reports what the format can't express, and what exceeds the limits of the runtimes. Returns true if there is no
/// error.
bool checkMsccl(const ir::Program &program, const MscclLayout &layout, MscclDialect dialect, Diagnostics &diags);

} // namespace gc3::emit
