// SPDX-License-Identifier: Apache-2.0
// The lowering of one program.
#include "gc3/Lower/Lower.h"
#include "Stages.h"

std::optional<gc3::ir::InstructionDag> gc3::lower::lower(const ir::ChunkDag &dag, const Options &options,
                                                         Diagnostics &diags) {
  std::optional<Expanded> expanded = expand(dag, options, diags);
  if (!expanded)
    return std::nullopt;
  return fuse(std::move(*expanded), options.fuse);
}
