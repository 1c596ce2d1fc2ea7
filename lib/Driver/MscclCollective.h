// SPDX-License-Identifier: Apache-2.0
// The collective of an MSCCL algorithm. It is written in the language, and evaluated as for any program.
#pragma once

#include "Session.h"
#include "gc3/Import/MscclXml.h"

namespace gc3::driver {

/// Returns the collective that --collective names, else the one that the file names. If neither is sufficient, returns
/// a collective that promises nothing, with a remark. Standard collectives get their ranks, chunks and `inplace` from
/// the file. Others get all arguments from --collective, which can name the .gc3 file that defines them:
/// `FILE.gc3:NAME(ARGUMENTS)`. Returns nothing after an error.
std::optional<ir::Collective> collectiveOf(Session &session, const imports::MscclAlgorithm &algorithm, bool inPlace);

} // namespace gc3::driver
