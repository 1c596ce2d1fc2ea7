// SPDX-License-Identifier: Apache-2.0
// Runs the stages of lowering on one program.
#include "gc3/Lower/Lower.h"
#include "Stages.h"

std::optional<gc3::ir::InstructionDag> gc3::lower::lower(const ir::ChunkDag &dag, const Options &options,
                                                         Diagnostics &diags) {
  std::optional<Unfused> unfused = expand(dag, options, diags);
  if (!unfused)
    return std::nullopt;
  if (options.fuse) {
    mergeReceives(*unfused);
    forwardCopies(*unfused);
  }
  return fuse(*unfused, options.fuse);
}
