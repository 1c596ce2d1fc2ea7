// SPDX-License-Identifier: Apache-2.0
// Writes MSCCL XML. The runtimes have their own reader, which supports little of XML: no declaration, one space before
// each attribute and none after the last, double quotes, no tabs. An XML library would write some of this differently,
// so this file writes the text directly. Linear in the program.
#include "Msccl.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::emit;
using namespace gc3::ir;

namespace {

class Writer {
public:
  Writer(llvm::raw_ostream &out, const Program &program, const MscclLayout &layout, MscclDialect dialect)
      : out(out), program(program), layout(layout), dialect(dialect) {}
  void run();

private:
  void writeAlgorithm();
  void writeSizes();
  void writeRank(uint32_t rank);
  void writeBlock(uint32_t id, const ThreadBlock &block);
  void writeStep(const ThreadBlock &block, uint32_t index);
  void attribute(const char *key, int64_t value) { out << ' ' << key << "=\"" << value << '"'; }
  void slot(const char *buffer, const char *offset, MscclSlot slot) {
    out << ' ' << buffer << "=\"" << slot.buffer << '"';
    attribute(offset, slot.offset);
  }
  void wait(const Wait &wait) {
    attribute("depid", wait.threadBlock);
    attribute("deps", wait.step);
  }
  Wait numbered(const ThreadBlock &block, const Wait &wait) const {
    const ThreadBlock &other = program.threadBlocks[program.rankBegin[block.rank] + wait.threadBlock];
    return {wait.threadBlock, layout.number(other.firstStep + wait.step)};
  }

  llvm::raw_ostream &out;
  const Program &program;
  const MscclLayout &layout;
  MscclDialect dialect;
};

} // namespace

static const char *typeOf(Opcode opcode) {
  switch (opcode) {
  case Opcode::Send: return "s";
  case Opcode::Recv: return "r";
  case Opcode::Copy: return "cpy";
  case Opcode::Reduce: return "re";
  case Opcode::RecvReduceCopy: return "rrc";
  case Opcode::RecvCopySend: return "rcs";
  case Opcode::RecvReduceSend: return "rrs";
  case Opcode::RecvReduceCopySend: return "rrcs";
  }
  return "";
}

static uint32_t channels(const Program &program) {
  uint32_t highest = 0;
  for (const ThreadBlock &block : program.threadBlocks)
    highest = std::max(highest, block.channel);
  return highest + 1;
}

/// Writes the range of sizes. `maxBytes` is the largest size in RCCL's files, where 0 means no limit, and the first
/// size above the range in MSCCL's files.
void Writer::writeSizes() {
  static constexpr uint64_t most = std::numeric_limits<int64_t>::max();
  uint64_t end = program.info->maxBytes;
  attribute("minBytes", static_cast<int64_t>(program.info->minBytes));
  if (dialect == MscclDialect::Rccl)
    attribute("maxBytes", end > most ? 0 : static_cast<int64_t>(end - 1));
  else
    attribute("maxBytes", static_cast<int64_t>(std::min(end, most)));
}

void Writer::writeAlgorithm() {
  const ProgramInfo &info = *program.info;
  const Collective &collective = info.collective;
  out << "<algo name=\"";
  llvm::printHTMLEscaped(info.name, out);
  out << "\" proto=\"" << name(info.protocol) << '"';
  attribute("nchannels", channels(program));
  attribute("nchunksperloop", std::max(collective.input.total(), collective.output.total()) * program.subdivision);
  attribute("ngpus", program.ranks());
  out << " coll=\"" << mscclCollective(collective.name, dialect) << '"';
  attribute("inplace", collective.inPlace());
  if (dialect == MscclDialect::Rccl)
    attribute("outofplace", !collective.inPlace());
  writeSizes();
  out << ">\n";
}

void Writer::writeStep(const ThreadBlock &block, uint32_t index) {
  const Step &step = program.steps[index];
  uint32_t number = layout.number(index);
  for (uint32_t i = 0; i + 1 < step.waitCount; ++i) {
    out << "      <step";
    attribute("s", number - (step.waitCount - 1) + i);
    out << R"( type="nop" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1" cnt="0")";
    wait(numbered(block, program.waits[step.waitBegin + i]));
    out << " hasdep=\"0\"/>\n";
  }
  // If the step has only a source or only a destination, both attributes get this slot.
  MscclSlot source = readsSrc(step.opcode) ? layout.source(block, step) : layout.destination(block, step);
  MscclSlot destination = writesDst(step.opcode) ? layout.destination(block, step) : source;
  out << "      <step";
  attribute("s", number);
  out << " type=\"" << typeOf(step.opcode) << '"';
  slot("srcbuf", "srcoff", source);
  slot("dstbuf", "dstoff", destination);
  attribute("cnt", step.count);
  if (step.waitCount == 0)
    out << R"( depid="-1" deps="-1")";
  else
    wait(numbered(block, program.waits[step.waitBegin + step.waitCount - 1]));
  attribute("hasdep", layout.publishes(index));
  out << "/>\n";
}

void Writer::writeBlock(uint32_t id, const ThreadBlock &block) {
  out << "    <tb";
  attribute("id", id);
  attribute("send", block.sendPeer);
  attribute("recv", block.recvPeer);
  attribute("chan", block.channel);
  out << ">\n";
  for (uint32_t i = 0; i != block.stepCount; ++i)
    writeStep(block, block.firstStep + i);
  out << "    </tb>\n";
}

void Writer::writeRank(uint32_t rank) {
  out << "  <gpu";
  attribute("id", rank);
  attribute("i_chunks", program.bufferSize(rank, InputBuffer));
  attribute("o_chunks", program.bufferSize(rank, OutputBuffer));
  attribute("s_chunks", static_cast<int64_t>(layout.scratchSize(rank)));
  out << ">\n";
  uint32_t begin = program.rankBegin[rank];
  uint32_t end = program.rankBegin[rank + 1];
  for (uint32_t index = begin; index != end; ++index)
    writeBlock(index - begin, program.threadBlocks[index]);
  if (begin == end) // the runtimes start one GPU block per thread block, and need at least one
    writeBlock(0, {rank, 0, -1, -1, 0, 0});
  out << "  </gpu>\n";
}

void Writer::run() {
  writeAlgorithm();
  for (uint32_t rank = 0; rank != program.ranks(); ++rank)
    writeRank(rank);
  out << "</algo>\n";
}

bool gc3::emit::writeMscclXml(llvm::raw_ostream &out, const Program &program, MscclDialect dialect,
                              Diagnostics &diags) {
  MscclLayout layout(program);
  if (!checkMsccl(program, layout, dialect, diags))
    return false;
  Writer(out, program, layout, dialect).run();
  return true;
}
