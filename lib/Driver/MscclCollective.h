// SPDX-License-Identifier: Apache-2.0
// The collective of an MSCCL algorithm. gc3c writes the collective as .gc3 text and evaluates it like any program.
#pragma once

#include "Session.h"
#include "gc3/Import/MscclXml.h"

namespace gc3::driver {

/// Returns the collective that --collective names or, without this option, the collective that the file names. If the
/// option is missing and the file names no standard collective, returns a collective that promises nothing, with a
/// remark. Standard collectives get their ranks, chunks and `inplace` from the file. Other collectives get all
/// arguments from --collective, which can also name the .gc3 file that defines the collective:
/// `FILE.gc3:NAME(ARGUMENTS)`. Returns nothing after an error.
std::optional<ir::Collective> collectiveOf(Session &session, const imports::MscclAlgorithm &algorithm, bool inPlace);

} // namespace gc3::driver
