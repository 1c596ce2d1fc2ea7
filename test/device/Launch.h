// SPDX-License-Identifier: Apache-2.0
// Runs the interpreter on the emulated GPU, with the reductions of the host.
#pragma once

#include "Gpu.h"
#include "core/Element.h"
#include "kernel/Image.h"

namespace gc3::test {

/// Parameters of a launch that kernel::KernelArgs does not contain.
struct Grid {
  core::ElementType type;
  kernel::Protocol protocol;
  uint32_t blocks, threads; ///< threads of a block
  bool overNetwork = false; ///< the kernel uses the network
};

/// Starts a launch on a GPU and returns its number. Copies the arguments.
uint32_t start(Gpu &gpu, const kernel::KernelArgs &call, const Grid &grid);

/// Runs all blocks until they end. If no thread can make progress, sets `stop`, to which `call.stop` must point, and
/// returns false after the blocks have written their reports.
bool launch(const kernel::KernelArgs &call, const Grid &grid, uint64_t seed, Gpu::Faults faults, uint32_t &stop);

} // namespace gc3::test
