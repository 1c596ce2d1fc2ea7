// SPDX-License-Identifier: Apache-2.0
// The oracle for calls of all backends: makes the same calls on the host executor, and compares the outputs that the
// programs promise.
#pragma once

#include "core/Element.h"
#include "core/Layout.h"
#include "gc3.h"

#include <span>
#include <string>

namespace gc3::test {

/// The buffers of a rank in a call. They overlap in a call in place.
struct Ends {
  std::byte *send, *recv;
  const void *scalar = nullptr; ///< scalar by which the rank multiplies its input, or null
};

/// A call of a program.
struct Calling {
  uint64_t count = 1; ///< elements per block
  gc3DataType_t type = gc3Float32;
  gc3RedOp_t op = gc3Sum;
};

/// Makes a call of all ranks on the host. Returns an error message, or an empty string.
std::string runOnHost(const bundle::BundleFile &file, const core::Program &program, const Calling &calling,
                      std::span<const Ends> ranks);

/// Returns true if `a` and `b` are equivalent results: their bits are equal, or both are NaN. Under min and max, 0 and
/// -0 are also equivalent, because GPUs and hosts choose differently between them.
bool isAsGood(core::ElementType type, core::ReduceOp op, const std::byte *a, const std::byte *b);

/// Returns a hash of the output `bytes` of a rank. It covers the elements that comparePromised() compares. Equivalent
/// results (isAsGood()) have the same hash.
uint64_t hashPromised(const core::Program &program, const bundle::CheckView &check, const core::Layout &layout,
                      uint32_t rank, core::ElementType type, core::ReduceOp op, const std::byte *bytes);

/// Compares the output `is` of a rank with the expected output `should`. Skips slots without a promise. Also skips
/// elements that some contribution lacks, because their values are undefined. Returns a message about the first
/// difference, or an empty string.
std::string comparePromised(const core::Program &program, const bundle::CheckView &check, const core::Layout &layout,
                            uint32_t rank, core::ElementType type, core::ReduceOp op, const std::byte *is,
                            const std::byte *should);

} // namespace gc3::test
