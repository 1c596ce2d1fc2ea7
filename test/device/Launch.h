// SPDX-License-Identifier: Apache-2.0
// The interpreter on the emulated GPU, with the host's reductions.
#pragma once

#include "Gpu.h"
#include "core/Element.h"
#include "kernel/Image.h"

namespace gc3::test {

/// What a launch is of, beside its kernel::KernelArgs.
struct Grid {
  core::ElementType type;
  kernel::Protocol protocol;
  uint32_t blocks, threads; ///< threads of a block
  bool overNetwork = false; ///< its machine knows of the network
};

/// Adds a launch to those that run on a GPU, and gives its number. The arguments need not stay.
uint32_t start(Gpu &gpu, const kernel::KernelArgs &call, const Grid &grid);

/// Runs all blocks to their end. False if nothing could move any more: `stop`, which `call.stop` points to, is set
/// then, and the blocks have left their reports.
bool launch(const kernel::KernelArgs &call, const Grid &grid, uint64_t seed, Gpu::Faults faults, uint32_t &stop);

} // namespace gc3::test
