// SPDX-License-Identifier: Apache-2.0
// GC3-IR → bundle (docs/bundle.md).
#pragma once

#include "gc3/IR/GC3IR.h"
#include "gc3/IR/Times.h"
#include <string>

namespace gc3::emit {

/// A program and its verified properties.
struct VerifiedProgram {
  const ir::Program *program;
  uint32_t proven;   ///< verify::Property bits
  uint32_t minSlots; ///< smallest number of FIFO slots with which the program terminates; 0: unknown, so the bundle
                     ///< requires Program::fifoSlots
  bool wholeSlots;   ///< verify::Verdict::wholeSlots
  std::vector<ir::TimePoint> times{}; ///< of calls of the program, ascending by bytes; empty: unknown
};

/// Returns the bytes of a bundle with these programs, in this order. The same arguments give the same bytes.
std::string writeBundle(const std::vector<VerifiedProgram> &programs, const std::string &producer,
                        const std::vector<ir::Baseline> &baselines = {});

} // namespace gc3::emit
