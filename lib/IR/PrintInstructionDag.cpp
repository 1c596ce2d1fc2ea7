// SPDX-License-Identifier: Apache-2.0
// Prints the Instruction DAG: `%7 = rank 1 rrcs input[0] -> input[0] from %6 to %8 chain 0 after %3`.
#include "gc3/IR/InstructionDag.h"
#include "gc3/IR/Print.h"
#include "gc3/IR/PrintParts.h"

using namespace gc3::ir;

/// Prints the demand of a chain if it differs from `own`, the demand of its first message. Later messages of the chain
/// can add requirements.
static void printDemand(llvm::raw_ostream &out, const ChainDemand &demand, const ChainDemand &own) {
  if (demand.channel == own.channel && demand.instance == own.instance)
    return;
  out << " (";
  if (demand.channel >= 0)
    out << "channel " << demand.channel << (demand.instance >= 0 ? " " : "");
  if (demand.instance >= 0)
    out << "instance " << demand.instance;
  out << ')';
}

/// Returns true if the directives are equal, except for their source places.
static bool sameDemands(const Directive &a, const Directive &b) {
  return a.channel == b.channel && a.sendThreadBlock == b.sendThreadBlock && a.recvThreadBlock == b.recvThreadBlock &&
         a.parallel == b.parallel;
}

/// Prints ` spill scratch[0]` for an rrs whose spill place is not its operand.
static void printSpill(llvm::raw_ostream &out, const ProgramInfo &info, const Instruction &instruction) {
  bool inPlace = instruction.srcBuffer == instruction.dstBuffer && instruction.srcIndex == instruction.dstIndex;
  if (instruction.opcode != Opcode::RecvReduceSend || inPlace)
    return;
  out << " spill ";
  printSlice(out, info, instruction.dstBuffer, instruction.dstIndex, instruction.count);
}

static void printInstruction(llvm::raw_ostream &out, const InstructionDag &dag, const Instruction &instruction) {
  const ProgramInfo &info = *dag.info;
  out << "rank " << instruction.rank << ' ';
  printOperation(out, info, instruction);
  printSpill(out, info, instruction);
  if (instruction.sender != None)
    out << " from %" << instruction.sender;
  if (instruction.receiver != None)
    out << " to %" << instruction.receiver;
  if (instruction.chain != None)
    out << " chain " << instruction.chain;
  const Directive &directive = info.directives[instruction.directive];
  if (instruction.opcode == Opcode::Send)
    printDemand(out, dag.chains[instruction.chain], demandOf(directive, instruction.instance));
  const Directive &sendDirective = info.directives[instruction.sendDirective];
  printDirective(out, directive);
  if (!sameDemands(directive, sendDirective)) {
    out << " sends";
    printDirective(out, sendDirective);
  }
  if (directive.parallel != 1)
    out << " instance " << instruction.instance;
}

void gc3::ir::print(llvm::raw_ostream &out, const InstructionDag &dag) {
  printHeader(out, "instruction-dag", *dag.info);
  out << " subdivision " << dag.subdivision << '\n';
  printCollective(out, *dag.info);
  for (uint32_t rank = 0; rank != dag.info->collective.ranks; ++rank)
    printRank(out, *dag.info, dag.bufferSizes, dag.subdivision, rank);
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
