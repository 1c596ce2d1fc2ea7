// SPDX-License-Identifier: Apache-2.0
// The lowering of one program.
#include "gc3/Lower/Lower.h"
#include "Stages.h"

std::optional<gc3::ir::InstructionDag> gc3::lower::lower(const ir::ChunkDag &dag, const Options &options,
                                                         Diagnostics &diags) {
  std::optional<Unfused> unfused = expand(dag, options, diags);
  if (!unfused)
    return std::nullopt;
  return fuse(*unfused, options.fuse);
}
