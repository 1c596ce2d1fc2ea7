// SPDX-License-Identifier: Apache-2.0
// Draws the Chunk DAG as a graph: each operation is in the cluster of the rank that it writes to. Linear.
#include "DotParts.h"
#include "gc3/Emit/Dot.h"
#include "gc3/IR/PrintParts.h"

using namespace gc3;
using namespace gc3::emit;
using namespace gc3::ir;

static void printLabel(llvm::raw_ostream &out, const ChunkDag &dag, uint32_t node) {
  static constexpr const char *kinds[] = {"start", "copy", "reduce"};
  const ChunkOp &op = dag.ops[node];
  out << '%' << node << ' ' << kinds[static_cast<int>(op.kind)] << '\n';
  printSlice(out, *dag.info, op.dstBuffer, op.dstIndex, op.count);
  if (op.kind == ChunkOpKind::Start)
    return;
  out << " <- " << op.srcRank << ':';
  printSlice(out, *dag.info, op.srcBuffer, op.srcIndex, op.count);
  printDirective(out, dag.info->directives[op.directive]);
}

size_t emit::dotNodes(const ChunkDag &dag) {
  return dag.ops.size();
}

void emit::writeDot(llvm::raw_ostream &out, const ChunkDag &dag, const Dependencies &edges) {
  auto nodes = static_cast<uint32_t>(dag.ops.size());
  beginGraph(out, "chunk-dag", *dag.info);
  writeByRank(
      out, dag.info->collective.ranks, nodes, [&](uint32_t node) { return dag.ops[node].dstRank; },
      [&](uint32_t node) {
        out << "    n" << node << " [label=" << label([&](llvm::raw_ostream &text) { printLabel(text, dag, node); })
            << ' ' << fillStyle(dag.ops[node].kind == ChunkOpKind::Reduce)
            << (dag.ops[node].kind == ChunkOpKind::Start ? " peripheries=2" : "") << "]\n";
      });
  for (uint32_t node = 0; node != nodes; ++node)
    for (uint32_t i = edges.begin[node]; i != edges.begin[node + 1]; ++i)
      out << "  n" << edges.edges[i].node() << " -> n" << node << ' ' << dependencyStyle(edges.edges[i].isFalse())
          << '\n';
  out << "}\n";
}
