// SPDX-License-Identifier: Apache-2.0
// Draws the three IRs as Graphviz text. Each rank is a cluster. Edges for data are solid, edges for order only are
// dashed, and messages have the colour of their channel.
#pragma once

#include <cstddef>

namespace llvm {
class raw_ostream;
}

namespace gc3::ir {
struct ChunkDag;
struct Dependencies;
struct InstructionDag;
struct Program;
} // namespace gc3::ir

namespace gc3::emit {

/// Writes one digraph. The same program gives the same text.
void writeDot(llvm::raw_ostream &out, const ir::ChunkDag &dag, const ir::Dependencies &edges);
void writeDot(llvm::raw_ostream &out, const ir::InstructionDag &dag);
void writeDot(llvm::raw_ostream &out, const ir::Program &program);

/// Returns the number of nodes that writeDot() draws. Graphviz takes seconds for a thousand nodes, and its time grows
/// much faster than the number of nodes.
size_t dotNodes(const ir::ChunkDag &dag);
size_t dotNodes(const ir::InstructionDag &dag);
size_t dotNodes(const ir::Program &program);

} // namespace gc3::emit
