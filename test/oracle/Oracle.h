// SPDX-License-Identifier: Apache-2.0
// What calls should leave: the host executor makes the same ones, and what programs promise is compared.
#pragma once

#include "core/Element.h"
#include "core/Layout.h"
#include "gc3.h"

#include <span>
#include <string>

namespace gc3::test {

/// One rank's buffers in a call; the same one in place.
struct Ends {
  std::byte *send, *recv;
  const void *scalar = nullptr; ///< by which it multiplies its input, if it does
};

/// A call of a program.
struct Calling {
  uint64_t count = 1; ///< elements per block
  gc3DataType_t type = gc3Float32;
  gc3RedOp_t op = gc3Sum;
};

/// Makes the call of all ranks on the host. What went wrong, or an empty string.
std::string runOnHost(const bundle::BundleFile &file, const core::Program &program, const Calling &calling,
                      std::span<const Ends> ranks);

/// Whether two elements are the same result. Any NaN is as good as another, and under min and max any zero: which of 0
/// and -0 is the larger is decided by GPUs in one way, and on hosts by their order.
bool isAsGood(core::ElementType type, core::ReduceOp op, const std::byte *a, const std::byte *b);

/// Compares one rank's outputs where the collective promises anything, as far as all contributions have elements;
/// elsewhere both may have what they like.
std::string comparePromised(const core::Program &program, const bundle::CheckView &check, const core::Layout &layout,
                            uint32_t rank, core::ElementType type, core::ReduceOp op, const std::byte *is,
                            const std::byte *should);

} // namespace gc3::test
