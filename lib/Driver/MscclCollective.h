// SPDX-License-Identifier: Apache-2.0
// What an MSCCL algorithm promises: collectives are written in the language, and evaluated as for any program.
#pragma once

#include "Session.h"
#include "gc3/Import/MscclXml.h"

namespace gc3::driver {

/// The collective that --collective names, or else the file; one that promises nothing, with a remark, where neither
/// says enough. Standard collectives get their ranks, chunks and `inplace` from the file, others all from --collective,
/// which may name the .gc3 file that has them: `FILE.gc3:NAME(ARGUMENTS)`. Nothing after an error.
std::optional<ir::Collective> collectiveOf(Session &session, const imports::MscclAlgorithm &algorithm, bool inPlace);

} // namespace gc3::driver
