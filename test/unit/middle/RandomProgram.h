// SPDX-License-Identifier: Apache-2.0
// Random programs that are right by construction, a judge of GC3-IR that shares no code with the compiler, and IRs as
// text.
#pragma once

#include "gc3/IR/GC3IR.h"
#include "gc3/IR/Print.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

namespace gc3::test {

struct RandomOptions {
  uint32_t maxRanks = 5;
  uint32_t operations = 40;
  bool directives = true;
  bool pins = false;
};

/// A valid trace with the postcondition that it reaches.
ir::ChunkDag randomProgram(std::mt19937_64 &random, const RandomOptions &options);

/// Runs the program thread block by thread block in a random order, with `fifoSlots` slots, and compares what it leaves
/// in the output with the postcondition. Returns an empty string, or what went wrong.
std::string runInRandomOrder(const ir::Program &program, uint32_t fifoSlots, std::mt19937_64 &random);

/// An IR as it prints.
template <typename IR>
std::string text(const IR &ir) {
  std::string result;
  llvm::raw_string_ostream out(result);
  if constexpr (std::is_same_v<IR, ir::ChunkDag>)
    ir::print(out, ir, dependencies(ir, ir.ops.size() * ir.ops.size()));
  else
    ir::print(out, ir);
  return out.str();
}

} // namespace gc3::test
