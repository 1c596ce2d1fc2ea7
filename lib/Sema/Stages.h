// SPDX-License-Identifier: Apache-2.0
// The steps of gc3::sema::analyze() after compilation.
#pragma once

#include "Compiler.h"
#include "Machine.h"

namespace gc3::sema {

/// Replaces the defaults of params with the `-D` values. `trees` must outlive the compiler.
void applyDefines(Compiler &compiler, SourceManager &sources, Diagnostics &diags, const SemaOptions &options,
                  std::vector<std::unique_ptr<const ast::LoneExpression>> &trees);

/// Computes the param's value, and the list of its values if it has one. Returns false if one of them can't be
/// computed. Reports a value that is not in the list, and returns true.
bool runParam(const ParamInfo &param, Machine &machine, Diagnostics &diags);

/// Computes the list of a param's values. Returns false after an error.
bool runChoices(const ParamInfo &param, Machine &machine, ParamValue &choices);

/// Returns the text with which a `-D` sets a param of this type to the value.
std::string defineText(Machine &machine, Type type, const ParamValue &value);

/// Computes the params in their order. Returns false after an error, such as a value that a param does not list.
bool runParams(const Compiler &compiler, Machine &machine, Diagnostics &diags);

/// Compares the traced contents of the outputs with the promises of the collective, and reports differences.
void checkPostcondition(const ir::ProgramInfo &info, const std::vector<ChunkHash> &valueHashes, Tracer &tracer,
                        Diagnostics &diags);

} // namespace gc3::sema
