// SPDX-License-Identifier: Apache-2.0
// The second IR: instructions with communication and processing edges (GC3 section 4.2), on slots.
#pragma once

#include "gc3/Common/Opcode.h"
#include "gc3/IR/ChunkDag.h"

namespace gc3::ir {

using common::Opcode;

inline constexpr uint32_t None = ~uint32_t(0);

/// One instruction of one rank. Indices and counts are in slots (1/subdivision of a chunk); both slices are local. The
/// `dst` of an rrs is its spill place: if the scheduler splits the rrs, the receive stores the sum there.
/// `sender` and `receiver` are the communication edges; a fused instruction has both.
struct Instruction {
  Opcode opcode;
  BufferId srcBuffer = 0;
  BufferId dstBuffer = 0;
  uint32_t rank;
  uint32_t srcIndex = 0;
  uint32_t dstIndex = 0;
  uint32_t count;
  uint32_t sender = None;   ///< the instruction whose message this one receives
  uint32_t receiver = None; ///< the instruction that receives this one's message
  uint32_t chain = None;    ///< number of the chain to which its messages belong; None for a local instruction
  uint32_t directive;       ///< directive of the received message, of the message that a plain send sends, or of the
                            ///< local operation
  uint32_t sendDirective;   ///< directive of the message that a fused instruction forwards; else equal to `directive`
  uint32_t instance;        ///< number of the parallel instance; 0 if there is only one
  uint32_t site;
};
static_assert(sizeof(Instruction) == 48);

/// Returns true if an Instruction with this opcode has a `dst`: slots that it writes, or the spill place of an rrs.
constexpr bool hasDst(Opcode opcode) {
  return writesDst(opcode) || opcode == Opcode::RecvReduceSend;
}

/// Requirements of the directives along a chain on the chain's channel; -1: none.
struct ChainDemand {
  int32_t channel = -1;  ///< channel that the channel directive names
  int32_t instance = -1; ///< number of the parallel instance, if there are several

  /// Combines *this with `other`. Returns false and changes nothing if no channel can satisfy both demands.
  bool merge(const ChainDemand &other);
};

/// Returns the demand of one message under a directive.
inline ChainDemand demandOf(const Directive &directive, uint32_t instance) {
  return {directive.channel, directive.parallel == 1 ? -1 : static_cast<int32_t>(instance)};
}

/// Instructions, sorted so that processing edges point to earlier instructions and `receiver` points to a later one.
struct InstructionDag {
  std::shared_ptr<const ProgramInfo> info;
  uint32_t subdivision = 1;          ///< slots per chunk
  std::vector<uint32_t> bufferSizes; ///< slots by rank * bufferCount + buffer
  std::vector<Instruction> instructions;
  Dependencies edges; ///< processing edges: order on one rank
  std::vector<ChainDemand> chains;
};

} // namespace gc3::ir
