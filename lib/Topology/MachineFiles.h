// SPDX-License-Identifier: Apache-2.0
// The files of topologies/, which are embedded in the tools.
#pragma once

#include "gc3/Support/EmbeddedFile.h"

namespace gc3::topology {

llvm::ArrayRef<EmbeddedFile> machineFiles();

} // namespace gc3::topology
