// SPDX-License-Identifier: Apache-2.0
// The dispatch table: byte ranges of the programs of one collective. Quadratic in the programs of a file.
#include "Stages.h"

using namespace gc3;
using namespace gc3::sema;

static std::string sizesOf(const ir::ProgramInfo &info) {
  if (info.minBytes == 0 && info.maxBytes == ir::ProgramInfo::NoLimit)
    return "every size";
  return std::to_string(info.minBytes) + " .. " + std::to_string(info.maxBytes) + " bytes";
}

void gc3::sema::checkDispatch(const std::vector<ir::ChunkDag> &programs, Diagnostics &diags) {
  for (size_t i = 0; i < programs.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      const ir::ProgramInfo &a = *programs[k].info, &b = *programs[i].info;
      bool rivals = a.collective.name == b.collective.name && a.collective.ranks == b.collective.ranks;
      if (!rivals || a.minBytes >= b.maxBytes || b.minBytes >= a.maxBytes)
        continue;
      SourceRange here = b.sizesRange.isValid() ? b.sizesRange : b.nameRange;
      SourceRange there = a.sizesRange.isValid() ? a.sizesRange : a.nameRange;
      diags
          .error(DiagId::SizesOverlap, here,
                 "'" + b.name + "' (" + sizesOf(b) + ") and '" + a.name + "' (" + sizesOf(a) + ") both implement '" +
                     b.collective.name + "' on " + std::to_string(b.collective.ranks) +
                     " ranks; give each a 'sizes' range of its own")
          .note(there, "'" + a.name + "' is here");
    }
  }
}
