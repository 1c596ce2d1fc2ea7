// SPDX-License-Identifier: Apache-2.0
// GC3-IR → bundle (docs/bundle.md).
#pragma once

#include "gc3/IR/GC3IR.h"
#include <string>

namespace gc3::emit {

/// A program and what is known of it.
struct VerifiedProgram {
  const ir::Program *program;
  uint32_t proven;   ///< verify::Property bits
  uint32_t minSlots; ///< 0: not known; the bundle then asks for all of fifoSlots
  bool wholeSlots;   ///< verify::Verdict::wholeSlots
};

/// The bytes of a bundle with these programs, in this order. The same programs give the same bytes.
std::string writeBundle(const std::vector<VerifiedProgram> &programs, const std::string &producer);

} // namespace gc3::emit
