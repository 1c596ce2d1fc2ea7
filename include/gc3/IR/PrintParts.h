// SPDX-License-Identifier: Apache-2.0
// Pieces that the printers of text and of pictures share.
#pragma once

#include "gc3/Common/Opcode.h"
#include "gc3/IR/ChunkDag.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::ir {

/// `program NAME implements COLLECTIVE ranks R protocol P` and the sizes, without a line end.
void printHeader(llvm::raw_ostream &out, const char *level, const ProgramInfo &info);

/// The lines behind the header: `buffers input[3] output[4][3] scratch` (blocks and chunks, the names of scratch
/// buffers), and what the output must hold.
void printCollective(llvm::raw_ostream &out, const ProgramInfo &info);

/// `ensures ...` lines: none if nothing is promised.
void printPostcondition(llvm::raw_ostream &out, const Collective &collective);

/// `rank 0: output 3 (input is output[0..])`: the sizes of a rank's buffers, in slots.
void printRank(llvm::raw_ostream &out, const ProgramInfo &info, const std::vector<uint32_t> &bufferSizes,
               uint32_t subdivision, uint32_t rank);

/// `output[3]` or `output[3..7]`.
void printSlice(llvm::raw_ostream &out, const ProgramInfo &info, BufferId buffer, uint32_t index, uint32_t count);

/// `rrc input[0] -> input[0]`: an Instruction or a Step with the slices that it uses.
template <typename Node>
void printOperation(llvm::raw_ostream &out, const ProgramInfo &info, const Node &node) {
  out << name(node.opcode);
  if (readsSrc(node.opcode)) {
    out << ' ';
    printSlice(out, info, node.srcBuffer, node.srcIndex, node.count);
  }
  if (writesDst(node.opcode)) {
    out << " -> ";
    printSlice(out, info, node.dstBuffer, node.dstIndex, node.count);
  }
}

/// ` channel 1 sendtb 0 recvtb 2 parallel 4`, as far as given.
void printDirective(llvm::raw_ostream &out, const Directive &directive);

} // namespace gc3::ir
