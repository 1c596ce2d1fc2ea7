// SPDX-License-Identifier: Apache-2.0
// A machine with eight emulated GPUs, for a PyTorch job whose ranks are threads of one process.
#pragma once

#include "cuda/Cuda.h"

namespace gc3::test {

class FakeCuda;

/// Returns the fake CUDA. The first call creates the fakes of CUDA and NCCL. They are never destroyed, because
/// PyTorch's threads use them until the process ends.
FakeCuda &machine();
const cuda::Cuda &machineCuda();

} // namespace gc3::test
