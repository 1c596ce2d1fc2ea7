// SPDX-License-Identifier: Apache-2.0
// Draws the Instruction DAG as a graph. Messages of one chain have one colour, because they will share a channel.
// Linear.
#include "DotParts.h"
#include "gc3/Emit/Dot.h"
#include "gc3/IR/InstructionDag.h"
#include "gc3/IR/PrintParts.h"

using namespace gc3;
using namespace gc3::emit;
using namespace gc3::ir;

static void printLabel(llvm::raw_ostream &out, const InstructionDag &dag, uint32_t node) {
  const Instruction &instruction = dag.instructions[node];
  out << '%' << node << ' ';
  printOperation(out, *dag.info, instruction);
  if (dag.info->directives[instruction.directive].parallel != 1)
    out << "\ninstance " << instruction.instance;
}

size_t emit::dotNodes(const InstructionDag &dag) {
  return dag.instructions.size();
}

void emit::writeDot(llvm::raw_ostream &out, const InstructionDag &dag) {
  auto nodes = static_cast<uint32_t>(dag.instructions.size());
  beginGraph(out, "instruction-dag", *dag.info);
  writeByRank(
      out, dag.info->collective.ranks, nodes, [&](uint32_t node) { return dag.instructions[node].rank; },
      [&](uint32_t node) {
        out << "    n" << node << " [label=" << label([&](llvm::raw_ostream &text) { printLabel(text, dag, node); })
            << ' ' << fillStyle(reduces(dag.instructions[node].opcode)) << "]\n";
      });
  for (uint32_t node = 0; node != nodes; ++node) {
    if (uint32_t receiver = dag.instructions[node].receiver; receiver != None)
      out << "  n" << node << " -> n" << receiver << ' ' << messageStyle(dag.instructions[node].chain) << '\n';
    for (uint32_t i = dag.edges.begin[node]; i != dag.edges.begin[node + 1]; ++i)
      out << "  n" << dag.edges.edges[i].node() << " -> n" << node << ' '
          << dependencyStyle(dag.edges.edges[i].isFalse()) << '\n';
  }
  out << "}\n";
}
