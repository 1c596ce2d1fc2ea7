// SPDX-License-Identifier: Apache-2.0
// Reads GC3-IR from its text (docs/gc3-ir.md). Linear; the site of a step is its line.
#include "ReadParts.h"
#include "gc3/IR/GC3IR.h"
#include "gc3/Support/Quantity.h"

using namespace gc3;
using namespace gc3::ir;

namespace {

class GC3IRReader {
public:
  GC3IRReader(Scanner &scanner, const ReadOptions &options, uint64_t &slots)
      : scanner(scanner), parts(scanner, options, slots) {}

  bool run();
  Program program;

private:
  bool threadBlock(uint32_t rank);
  bool peer(int32_t &peer);
  bool step(uint32_t number);
  bool waits(Step &step);
  bool numbered(uint32_t number, const char *what);

  Scanner &scanner;
  ProgramReader parts;
};

} // namespace

/// Reads the number of a thread block or step, which must be `wanted`.
bool GC3IRReader::numbered(uint32_t wanted, const char *what) {
  uint32_t start = scanner.start();
  uint32_t number = 0;
  if (!scanner.number(number, "a number"))
    return false;
  return number == wanted || scanner.fail(DiagId::Syntax, scanner.since(start),
                                          std::string("expected ") + what + " " + std::to_string(wanted) + ", found " +
                                              std::to_string(number));
}

bool GC3IRReader::peer(int32_t &peer) {
  uint32_t start = scanner.start();
  uint32_t number = 0;
  if (!scanner.number(number, "a rank"))
    return false;
  peer = static_cast<int32_t>(number);
  return peer >= 0 || scanner.fail(DiagId::RankOutOfRange, scanner.since(start),
                                   "the program has " + quantity(parts.info->collective.ranks, "rank"));
}

bool GC3IRReader::waits(Step &step) {
  step.waitBegin = static_cast<uint32_t>(program.waits.size());
  if (!scanner.takeWord("after"))
    return true;
  do {
    Wait &wait = program.waits.emplace_back();
    if (!scanner.number(wait.threadBlock, "the number of a thread block") || !scanner.expect(".") ||
        !scanner.number(wait.step, "the number of a step"))
      return false;
  } while (scanner.take(","));
  step.waitCount = static_cast<uint32_t>(program.waits.size()) - step.waitBegin;
  return true;
}

/// Reads `0: send input[0] after 1.2`.
bool GC3IRReader::step(uint32_t number) {
  Step step{};
  if (!numbered(number, "step") || !scanner.expect(":") || !parts.operation(step) || !waits(step) || !scanner.endLine())
    return false;
  step.site = static_cast<uint32_t>(parts.info->sites.size());
  parts.info->sites.push_back(scanner.line());
  program.steps.push_back(step);
  scanner.nextLine();
  return true;
}

/// Reads `tb 0 channel 0 recv 1 send 2` and the steps below it.
bool GC3IRReader::threadBlock(uint32_t rank) {
  auto local = static_cast<uint32_t>(program.threadBlocks.size()) - program.rankBegin.back();
  ThreadBlock block{rank, 0, -1, -1, static_cast<uint32_t>(program.steps.size()), 0};
  if (!numbered(local, "tb") || !scanner.expectWord("channel") || !scanner.number(block.channel, "a channel"))
    return false;
  if (scanner.takeWord("recv") && !peer(block.recvPeer))
    return false;
  if (scanner.takeWord("send") && !peer(block.sendPeer))
    return false;
  if (!scanner.endLine())
    return false;
  block.site = static_cast<uint32_t>(parts.info->sites.size());
  parts.info->sites.push_back(scanner.line());
  scanner.nextLine();
  for (; !scanner.atEnd() && scanner.peekWord().empty(); ++block.stepCount)
    if (!step(block.stepCount))
      return false;
  program.threadBlocks.push_back(block);
  return true;
}

bool GC3IRReader::run() {
  if (!parts.header("gc3-ir", &program.fifoSlots))
    return false;
  for (uint32_t rank = 0; rank != parts.info->collective.ranks; ++rank) {
    if (!parts.rankLine(rank))
      return false;
    while (scanner.takeWord("tb"))
      if (!threadBlock(rank))
        return false;
    program.rankBegin.push_back(static_cast<uint32_t>(program.threadBlocks.size()));
  }
  if (!scanner.atEnd() && scanner.peekWord() != "gc3")
    return scanner.expected("'tb', 'gc3-ir' or the end of the text");
  if (!parts.finishCollective())
    return false;
  program.info = parts.info;
  program.subdivision = parts.subdivision;
  program.bufferSizes = std::move(parts.bufferSizes);
  return true;
}

std::vector<Program> gc3::ir::readGC3IR(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                        llvm::StringRef text, const ReadOptions &options) {
  return readPrograms<GC3IRReader>(sources, diags, name, text, options, &GC3IRReader::program);
}
