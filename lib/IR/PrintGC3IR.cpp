// SPDX-License-Identifier: Apache-2.0
// Prints GC3-IR: ranks, their buffers, thread blocks with peers and channel, and numbered steps with their waits.
#include "gc3/IR/GC3IR.h"
#include "gc3/IR/Print.h"
#include "gc3/IR/PrintParts.h"

using namespace gc3::ir;

static void printStep(llvm::raw_ostream &out, const Program &program, const Step &step) {
  const ProgramInfo &info = *program.info;
  printOperation(out, info, step);
  const char *separator = " after ";
  for (uint32_t i = step.waitBegin; i != step.waitBegin + step.waitCount; ++i) {
    out << separator << program.waits[i].threadBlock << '.' << program.waits[i].step;
    separator = ", ";
  }
  out << '\n';
}

void gc3::ir::print(llvm::raw_ostream &out, const Program &program) {
  const ProgramInfo &info = *program.info;
  printHeader(out, "gc3-ir", info);
  out << " subdivision " << program.subdivision << " slots " << program.fifoSlots << '\n';
  printCollective(out, info);
  for (uint32_t rank = 0; rank != program.ranks(); ++rank) {
    printRank(out, info, program.bufferSizes, program.subdivision, rank);
    for (uint32_t tb = program.rankBegin[rank]; tb != program.rankBegin[rank + 1]; ++tb) {
      const ThreadBlock &block = program.threadBlocks[tb];
      out << "  tb " << tb - program.rankBegin[rank] << " channel " << block.channel;
      if (block.recvPeer >= 0)
        out << " recv " << block.recvPeer;
      if (block.sendPeer >= 0)
        out << " send " << block.sendPeer;
      out << '\n';
      for (uint32_t step = 0; step != block.stepCount; ++step) {
        out << "    " << step << ": ";
        printStep(out, program, program.steps[block.firstStep + step]);
      }
    }
  }
}
