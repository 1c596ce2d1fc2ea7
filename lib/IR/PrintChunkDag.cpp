// SPDX-License-Identifier: Apache-2.0
// Prints the Chunk DAG: `%5 = reduce 1:input[0] <- 0:input[0] channel 0 after %3, ~%4` (~: a false dependency).
#include "gc3/IR/Print.h"
#include "gc3/IR/PrintParts.h"

using namespace gc3::ir;

static void printEdges(llvm::raw_ostream &out, const Dependencies &edges, uint32_t node) {
  const char *separator = " after ";
  for (uint32_t i = edges.begin[node]; i != edges.begin[node + 1]; ++i) {
    out << separator << (edges.edges[i].isFalse() ? "~%" : "%") << edges.edges[i].node();
    separator = ", ";
  }
}

void gc3::ir::print(llvm::raw_ostream &out, const ChunkDag &dag, const Dependencies &edges) {
  const ProgramInfo &info = *dag.info;
  printHeader(out, "chunk-dag", info);
  out << '\n';
  for (uint32_t node = 0; node != dag.ops.size(); ++node) {
    const ChunkOp &op = dag.ops[node];
    static constexpr const char *kinds[] = {"start", "copy", "reduce"};
    out << "  %" << node << " = " << kinds[static_cast<int>(op.kind)] << ' ' << op.dstRank << ':';
    printSlice(out, info, op.dstBuffer, op.dstIndex, op.count);
    if (op.kind != ChunkOpKind::Start) {
      out << " <- " << op.srcRank << ':';
      printSlice(out, info, op.srcBuffer, op.srcIndex, op.count);
      printDirective(out, info.directives[op.directive]);
    }
    printEdges(out, edges, node);
    out << '\n';
  }
}
