// SPDX-License-Identifier: Apache-2.0
// Text of the Instruction DAG: `%7 = rank 1 rrcs input[0] -> input[0] from %6 to %8 chain 0 after %3`.
#include "gc3/IR/InstructionDag.h"
#include "gc3/IR/Print.h"
#include "gc3/IR/PrintParts.h"

using namespace gc3::ir;

static void printInstruction(llvm::raw_ostream &out, const InstructionDag &dag, const Instruction &instruction) {
  const ProgramInfo &info = *dag.info;
  out << "rank " << instruction.rank << ' ';
  printOperation(out, info, instruction);
  if (instruction.sender != None)
    out << " from %" << instruction.sender;
  if (instruction.receiver != None)
    out << " to %" << instruction.receiver;
  if (instruction.chain != None)
    out << " chain " << instruction.chain;
  if (info.directives[instruction.directive].parallel != 1)
    out << " instance " << instruction.instance;
}

void gc3::ir::print(llvm::raw_ostream &out, const InstructionDag &dag) {
  printHeader(out, "instruction-dag", *dag.info);
  out << " subdivision " << dag.subdivision << '\n';
  for (uint32_t node = 0; node != dag.instructions.size(); ++node) {
    out << "  %" << node << " = ";
    printInstruction(out, dag, dag.instructions[node]);
    const char *separator = " after ";
    for (uint32_t i = dag.edges.begin[node]; i != dag.edges.begin[node + 1]; ++i) {
      out << separator << (dag.edges.edges[i].isFalse() ? "~%" : "%") << dag.edges.edges[i].node();
      separator = ", ";
    }
    out << '\n';
  }
}
