// SPDX-License-Identifier: Apache-2.0
// Draws GC3-IR as a graph. The cluster of a rank contains a cluster per thread block, which contains the steps in
// order. Linear.
#include "DotParts.h"
#include "gc3/Emit/Dot.h"
#include "gc3/Emit/Messages.h"
#include "gc3/IR/PrintParts.h"

using namespace gc3;
using namespace gc3::emit;
using namespace gc3::ir;

static std::string title(const ThreadBlock &block, uint32_t index) {
  std::string text = "tb " + std::to_string(index) + " channel " + std::to_string(block.channel);
  if (block.recvPeer >= 0)
    text += " recv " + std::to_string(block.recvPeer);
  if (block.sendPeer >= 0)
    text += " send " + std::to_string(block.sendPeer);
  return text;
}

static void writeThreadBlock(llvm::raw_ostream &out, const Program &program, uint32_t index) {
  const ThreadBlock &block = program.threadBlocks[index];
  beginCluster(out, 2, "tb" + std::to_string(index), title(block, index - program.rankBegin[block.rank]));
  for (uint32_t i = 0; i != block.stepCount; ++i) {
    const Step &step = program.steps[block.firstStep + i];
    auto print = [&](llvm::raw_ostream &text) {
      text << i << ": ";
      printOperation(text, *program.info, step);
    };
    out << "      n" << block.firstStep + i << " [label=" << label(print) << ' ' << fillStyle(reduces(step.opcode))
        << "]\n";
  }
  for (uint32_t i = 1; i < block.stepCount; ++i) // with a high weight, so that Graphviz draws the steps as a column
    out << "      n" << block.firstStep + i - 1 << " -> n" << block.firstStep + i << " [weight=20 color=\"#3d4450\"]\n";
  out << "    }\n";
}

/// Writes the edges that end at the steps of a thread block: messages and waits.
static void writeEdges(llvm::raw_ostream &out, const Program &program, const ThreadBlock &block,
                       const std::vector<uint32_t> &senderOf) {
  for (uint32_t index = block.firstStep; index != block.firstStep + block.stepCount; ++index) {
    if (senderOf[index] != None)
      out << "  n" << senderOf[index] << " -> n" << index << ' ' << messageStyle(block.channel) << '\n';
    const Step &step = program.steps[index];
    for (uint32_t i = step.waitBegin; i != step.waitBegin + step.waitCount; ++i) {
      const Wait &wait = program.waits[i];
      const ThreadBlock &other = program.threadBlocks[program.rankBegin[block.rank] + wait.threadBlock];
      out << "  n" << other.firstStep + wait.step << " -> n" << index << ' ' << dependencyStyle(true) << '\n';
    }
  }
}

size_t emit::dotNodes(const Program &program) {
  return program.steps.size();
}

void emit::writeDot(llvm::raw_ostream &out, const Program &program) {
  beginGraph(out, "gc3-ir", *program.info);
  for (uint32_t rank = 0; rank != program.ranks(); ++rank) {
    if (program.rankBegin[rank] == program.rankBegin[rank + 1])
      continue;
    beginCluster(out, 1, "rank" + std::to_string(rank), "rank " + std::to_string(rank));
    for (uint32_t block = program.rankBegin[rank]; block != program.rankBegin[rank + 1]; ++block)
      writeThreadBlock(out, program, block);
    out << "  }\n";
  }
  std::vector<uint32_t> senderOf = matchMessages(program).senderOf;
  for (const ThreadBlock &block : program.threadBlocks)
    writeEdges(out, program, block, senderOf);
  out << "}\n";
}
