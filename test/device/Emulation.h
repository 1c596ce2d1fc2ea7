// SPDX-License-Identifier: Apache-2.0
// Runs a program on the emulated GPU, with all ranks in one launch. Compares every output element that the program
// promises with the host executor's result.
#pragma once

#include "Gpu.h"
#include "core/Element.h"
#include "plan/Geometry.h"

#include <cstdint>
#include <string>

namespace gc3::test {

struct EmulationOptions {
  core::ElementType type = core::ElementType::Float;
  core::ReduceOp op = core::ReduceOp::Sum;
  plan::SlotSizes sizes;
  uint64_t count = 1; ///< elements per block
  uint32_t calls = 2; ///< number of consecutive calls, each with new random data
  uint32_t threads = 32;
  uint32_t misalignment = 0; ///< distance of each buffer from an aligned address, in elements
  uint64_t firstMessage = 0; ///< initial value of the message counters, as if as many messages had been sent
  uint32_t ringRecords = 0;  ///< size of each thread block's trace ring in steps: a power of two, or 0 for no trace
  bool direct = false;       ///< messages that need no slot have none; Simple only
  uint32_t overNetwork = 0;  ///< percentage of connections that use the network; Simple only
  uint64_t seed = 1;
  Gpu::Faults faults;
};

/// Returns a description of the first failure, or an empty string.
std::string emulate(const bundle::BundleFile &file, uint32_t program, const EmulationOptions &options);

} // namespace gc3::test
