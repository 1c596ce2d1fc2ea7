// SPDX-License-Identifier: Apache-2.0
// Prints headers, ranks, slices and directives of the textual forms.
#include "gc3/IR/PrintParts.h"

using namespace gc3::ir;

void gc3::ir::printHeader(llvm::raw_ostream &out, const char *level, const ProgramInfo &info) {
  out << level << ' ' << info.name << " implements " << info.collective.name;
  if (!info.collective.arguments.empty())
    out << '(' << info.collective.arguments << ')';
  out << " ranks " << info.collective.ranks << " protocol " << name(info.protocol);
  if (info.nodes != 0)
    out << " nodes " << info.nodes << " of " << info.collective.ranks / info.nodes;
  if (info.minBytes != 0 || info.maxBytes != ProgramInfo::NoLimit || info.isPinned) {
    out << " sizes " << info.minBytes << "..";
    if (info.maxBytes != ProgramInfo::NoLimit)
      out << info.maxBytes;
    out << (info.isPinned ? " pinned" : "");
  }
}

static void printShape(llvm::raw_ostream &out, const char *name, const Shape &shape) {
  if (shape.total() == 0)
    return;
  out << ' ' << name;
  if (shape.blocks != 1)
    out << '[' << shape.blocks << ']';
  out << '[' << shape.chunks << ']';
}

void gc3::ir::printCollective(llvm::raw_ostream &out, const ProgramInfo &info) {
  out << "buffers";
  printShape(out, "input", info.collective.input);
  printShape(out, "output", info.collective.output);
  for (const std::string &name : info.scratchNames)
    out << ' ' << name;
  out << '\n';
  printPostcondition(out, info.collective);
}

void gc3::ir::printRank(llvm::raw_ostream &out, const ProgramInfo &info, const std::vector<uint32_t> &bufferSizes,
                        uint32_t subdivision, uint32_t rank) {
  out << "rank " << rank << ':';
  for (uint32_t buffer = 0; buffer != info.bufferCount(); ++buffer)
    if (uint32_t size = bufferSizes[size_t(rank) * info.bufferCount() + buffer])
      out << ' ' << info.bufferName(static_cast<BufferId>(buffer)) << ' ' << size;
  const RankAlias &alias = info.collective.aliases[rank];
  if (alias.kind == RankAlias::InputInOutput)
    out << " (input is output[" << alias.offset * subdivision << "..])";
  if (alias.kind == RankAlias::OutputInInput)
    out << " (output is input[" << alias.offset * subdivision << "..])";
  out << '\n';
}

void gc3::ir::printSlice(llvm::raw_ostream &out, const ProgramInfo &info, BufferId buffer, uint32_t index,
                         uint32_t count) {
  out << info.bufferName(buffer) << '[' << index;
  if (count != 1)
    out << ".." << index + count;
  out << ']';
}

void gc3::ir::printDirective(llvm::raw_ostream &out, const Directive &directive) {
  if (directive.channel >= 0)
    out << " channel " << directive.channel;
  if (directive.sendThreadBlock >= 0)
    out << " sendtb " << directive.sendThreadBlock;
  if (directive.recvThreadBlock >= 0)
    out << " recvtb " << directive.recvThreadBlock;
  if (directive.parallel != 1)
    out << " parallel " << directive.parallel;
}
