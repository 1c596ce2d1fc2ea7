// SPDX-License-Identifier: Apache-2.0
// Runs a program on the emulated GPU, all ranks in one launch, and compares every element of every output with what the
// host executor leaves.
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
  uint32_t calls = 2; ///< one after the other, with other data
  uint32_t threads = 32;
  uint32_t misalignment = 0; ///< elements by which buffers are off
  uint64_t firstMessage = 0; ///< what connections count from, as after so many messages
  uint32_t ringRecords = 0;  ///< of the steps that a thread block records; a power of two, or 0
  uint32_t overNetwork = 0;  ///< percent of connections; Simple alone
  uint64_t seed = 1;
  Gpu::Faults faults;
};

/// What went wrong, or an empty string.
std::string emulate(const bundle::BundleFile &file, uint32_t program, const EmulationOptions &options);

} // namespace gc3::test
