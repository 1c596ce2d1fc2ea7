// SPDX-License-Identifier: Apache-2.0
// Headers, slices and directives of the textual forms.
#include "gc3/IR/PrintParts.h"

using namespace gc3::ir;

void gc3::ir::printHeader(llvm::raw_ostream &out, const char *level, const ProgramInfo &info) {
  out << level << ' ' << info.name << " implements " << info.collective.name << " ranks " << info.collective.ranks
      << " protocol " << name(info.protocol);
  if (info.minBytes != 0 || info.maxBytes != ProgramInfo::NoLimit) {
    out << " sizes " << info.minBytes << "..";
    if (info.maxBytes != ProgramInfo::NoLimit)
      out << info.maxBytes;
  }
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
