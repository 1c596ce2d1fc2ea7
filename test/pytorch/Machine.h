// SPDX-License-Identifier: Apache-2.0
// A machine of eight emulated GPUs for a PyTorch job whose ranks are threads of one process.
#pragma once

#include "FakeWindows.h"
#include "OneAtATime.h"

namespace gc3::test {

struct Machine {
  FakeCuda cuda;
  FakeWindows windows{cuda};
};

/// Made at its first use, and there until the process ends: PyTorch's threads may use it as long.
Machine &machine();

/// What the fake CUDA has, for any number of threads.
const cuda::Cuda &machineCuda();

/// Waits until a stream has done what it was given, which may take what other threads do.
void awaitStream(cuda::Stream stream);

} // namespace gc3::test
