// SPDX-License-Identifier: Apache-2.0
// Runs the interpreter on the emulated GPU: its templates, with the host's functions for the reductions. If the
// environment variable EMULATED_PTX names a folder, runs the PTX in this folder instead (ptx/Library.h).
#pragma once

#include "Gpu.h"
#include "core/Element.h"
#include "kernel/Image.h"

namespace gc3::test {

/// Parameters of a launch that kernel::KernelArgs does not contain.
struct Grid {
  core::ElementType type;
  kernel::Protocol protocol;
  uint32_t blocks, threads; ///< blocks of the launch, and threads in each block
  bool overNetwork = false; ///< the kernel uses the network
  bool overSwitch = false;  ///< the kernel uses the switch; runs the templates also with EMULATED_PTX
};

/// Adds a launch to a GPU, and returns the kernel's number. Copies the arguments.
uint32_t start(Gpu &gpu, const kernel::KernelArgs &call, const Grid &grid);

/// Runs all blocks until they end. `call.stop` must point to `stop`. If no thread can make progress, sets `stop`, waits
/// until the blocks have written their reports and ended, and returns false.
bool launch(const kernel::KernelArgs &call, const Grid &grid, uint64_t seed, Gpu::Faults faults, uint32_t &stop);

} // namespace gc3::test
