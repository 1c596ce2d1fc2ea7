// SPDX-License-Identifier: Apache-2.0
// A machine of eight emulated GPUs for a PyTorch job whose ranks are threads of one process.
#pragma once

#include "cuda/Cuda.h"

namespace gc3::test {

class FakeCuda;

/// Makes the fakes at its first use. They stay until the process ends, because PyTorch's threads use them as long.
FakeCuda &machine();
const cuda::Cuda &machineCuda();

} // namespace gc3::test
