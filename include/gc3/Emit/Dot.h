// SPDX-License-Identifier: Apache-2.0
// The three IRs → Graphviz text: a cluster per rank, data solid, order dashed, messages in the colour of their channel.
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

/// Returns the number of nodes of that graph. Graphviz takes seconds for a thousand nodes, and its time grows much
/// faster than the number of nodes.
size_t dotNodes(const ir::ChunkDag &dag);
size_t dotNodes(const ir::InstructionDag &dag);
size_t dotNodes(const ir::Program &program);

} // namespace gc3::emit
