// SPDX-License-Identifier: Apache-2.0
// Parts of IRs that the text and picture printers share.
#pragma once

#include "gc3/Common/Opcode.h"
#include "gc3/IR/ChunkDag.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::ir {

/// Prints `program NAME implements COLLECTIVE ranks R protocol P` and the sizes, without a line end.
void printHeader(llvm::raw_ostream &out, const char *level, const ProgramInfo &info);

/// Prints the lines after the header: `buffers input[3] output[4][3] scratch` (blocks and chunks, names of scratch
/// buffers), and the postcondition.
void printCollective(llvm::raw_ostream &out, const ProgramInfo &info);

/// Prints the `ensures ...` lines. Prints no line if the postcondition promises nothing.
void printPostcondition(llvm::raw_ostream &out, const Collective &collective);

/// Prints the sizes of a rank's buffers, in slots: `rank 0: output 3 (input is output[0..])`.
void printRank(llvm::raw_ostream &out, const ProgramInfo &info, const std::vector<uint32_t> &bufferSizes,
               uint32_t subdivision, uint32_t rank);

/// Prints `output[3]` or `output[3..7]`.
void printSlice(llvm::raw_ostream &out, const ProgramInfo &info, BufferId buffer, uint32_t index, uint32_t count);

/// Prints an Instruction or a Step with the slices that it uses: `rrc input[0] -> input[0]`.
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

/// Prints ` channel 1 sendtb 0 recvtb 2 parallel 4`. Omits directives that are not given.
void printDirective(llvm::raw_ostream &out, const Directive &directive);

} // namespace gc3::ir
