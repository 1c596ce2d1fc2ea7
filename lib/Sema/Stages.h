// SPDX-License-Identifier: Apache-2.0
// The steps of gc3::sema::analyze after compilation.
#pragma once

#include "Compiler.h"
#include "Machine.h"

namespace gc3::sema {

/// Replaces the defaults of params by the `-D` values. The trees must live as long as the compiler.
void applyDefines(Compiler &compiler, SourceManager &sources, Diagnostics &diags, const SemaOptions &options,
                  std::vector<std::unique_ptr<const ast::LoneExpression>> &trees);

/// Computes the params in their order; false after an error.
bool runParams(const Compiler &compiler, Machine &machine);

/// Compares what the trace left in the outputs with what the collective promises.
void checkPostcondition(const ir::ProgramInfo &info, const std::vector<ChunkHash> &valueHashes, Tracer &tracer,
                        Diagnostics &diags);

} // namespace gc3::sema
