// SPDX-License-Identifier: Apache-2.0
// The identity of a program's collective: its form, which a call can write in whole or in part, and its meaning. A call
// by name must have one meaning at every size (docs/bundle.md).
#pragma once

#include "core/Request.h"

#include "gc3/Common/CollectiveForm.h"

namespace gc3::core {

using Files = std::span<const bundle::BundleFile *const>;

/// Calls function(program) for each program of the bundles.
template <typename Function>
void forEachProgram(Files files, Function function) {
  for (const bundle::BundleFile *file : files)
    for (uint32_t i = 0; i < file->programCount(); ++i)
      function(file->program(i));
}

/// Returns the form of the program: the name of its collective with the arguments. If the bundle stores no form,
/// returns only the name. The bundle owns the result.
const flatbuffers::String &formOf(const bundle::fbs::Program &program);

/// Returns whether `wanted` names the program's collective.
bool isNamedBy(const common::CollectiveForm &wanted, const bundle::fbs::Program &program);

/// Returns whether two programs, for one number of ranks and with collectives of one name, have one meaning. The name
/// and the root give the meaning of a standard collective. Bundles before version 1.1 do not have other meanings, so
/// there each program has its own.
bool haveOneMeaning(const bundle::fbs::Program &a, const bundle::fbs::Program &b);

/// Returns gc3InvalidArgument if `wanted` names collectives with several meanings among the programs for `ranks` ranks.
/// The error lists their forms.
Outcome checkMeaning(const common::CollectiveForm &wanted, uint32_t ranks, Files files);

/// Returns gc3BundleInvalid if collectives of one form have several meanings among the programs for `ranks` ranks.
Outcome checkForms(uint32_t ranks, Files files);

} // namespace gc3::core
