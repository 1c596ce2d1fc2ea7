// SPDX-License-Identifier: Apache-2.0
// The two steps of lowering. Between them the instructions, two for every transfer, are only numbered: each is made
// from its operation when it is looked at, which takes a third of the space of keeping them.
#pragma once

#include "gc3/IR/InstructionDag.h"
#include "gc3/Lower/Lower.h"

namespace gc3::lower {

/// The instructions before fusion. An operation has its instructions one behind the other: instance by instance, of a
/// transfer first the send and then the receive.
class Unfused {
public:
  explicit Unfused(const ir::ChunkDag &chunks) : chunks(chunks), info(*chunks.info) {}

  const ir::ChunkDag &chunks;
  const ir::ProgramInfo &info;
  uint32_t subdivision = 1;      ///< slots per chunk
  ir::Dependencies edges;        ///< processing edges
  std::vector<uint32_t> firstOf; ///< by operation: its first instruction
  std::vector<uint32_t> opOf;    ///< by instruction: its operation
  std::vector<uint8_t> wanted;   ///< by instruction: it made a value that the postcondition wants at the end

  uint32_t size() const { return static_cast<uint32_t>(opOf.size()); }
  const ir::ChunkOp &operation(uint32_t instruction) const { return chunks.ops[opOf[instruction]]; }
  const ir::Directive &directive(uint32_t instruction) const {
    return info.directives[operation(instruction).directive];
  }
  bool isSend(uint32_t instruction) const;
  bool isReceive(uint32_t instruction) const;
  /// Which parallel instance of the operation it belongs to.
  uint32_t instance(uint32_t instruction) const;

  /// The instruction; its edges to others are by number here, and its chain is open.
  ir::Instruction at(uint32_t instruction) const;
};

std::optional<Unfused> expand(const ir::ChunkDag &dag, const Options &options, Diagnostics &diags);

/// Assigns chains, and fuses if `enabled`.
ir::InstructionDag fuse(const Unfused &unfused, bool enabled);

} // namespace gc3::lower
