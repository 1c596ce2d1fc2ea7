// SPDX-License-Identifier: Apache-2.0
// Makes random programs that are correct by construction. Also has an oracle for GC3-IR that shares no code with the
// compiler, and converts IRs to text.
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
  bool manualBlocks = false; ///< each operation has directives of its own, and many have manual thread blocks
  bool channels = true;      ///< directives can name channels
  bool instances = false;    ///< operations with directives of their own can have parallel instances
};

/// Returns a Chunk DAG of random valid operations. Its postcondition is the result of these operations. The site of
/// operation i is the range that begins at i + 1.
ir::ChunkDag randomProgram(std::mt19937_64 &random, const RandomOptions &options);

/// Runs steps of random thread blocks, with `fifoSlots` slots per connection. Compares the output with the
/// postcondition. Returns an error message, or an empty string.
std::string runInRandomOrder(const ir::Program &program, uint32_t fifoSlots, std::mt19937_64 &random);

/// Returns the printed form of an IR.
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
