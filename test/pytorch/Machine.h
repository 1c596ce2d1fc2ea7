// SPDX-License-Identifier: Apache-2.0
// A machine of eight emulated GPUs, for a PyTorch job whose ranks are threads of one process.
#pragma once

#include "cuda/Cuda.h"

namespace gc3::test {

class FakeCuda;

/// Creates the fakes at the first use. They are never destroyed, because PyTorch's threads use them until the process
/// ends.
FakeCuda &machine();
const cuda::Cuda &machineCuda();

} // namespace gc3::test
