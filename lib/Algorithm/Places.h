// SPDX-License-Identifier: Apache-2.0
// Where the program of an algorithm keeps chunks: the input, the output, or scratch.
#pragma once

#include "gc3/Algorithm/Algorithm.h"
#include "gc3/Support/PackedKey.h"
#include "gc3/Topology/Lattice.h"
#include "llvm/ADT/DenseMap.h"

namespace gc3::algorithm {

struct Location {
  uint32_t rank = 0;
  ir::BufferId buffer = ir::InputBuffer; ///< or OutputBuffer, or FirstScratchBuffer
  uint32_t index = 0;
};

/// One operation of the program, on `count` chunks in a row.
struct Operation {
  Location from, to;
  SendKind kind = SendKind::Copy;
  uint32_t count = 1;
};

/// The operations of a program: before the first step, in each step, and after the last.
struct Operations {
  std::vector<Operation> before, after;
  std::vector<std::vector<Operation>> steps;
};

/// What a rank needs in its output is kept there from the moment it has it. Sums grow in the input, as programs may
/// write to it. All else waits in scratch, also what would overwrite, in place, an input that is sent in the same step
/// or later.
Operations placeOperations(const topology::Topology &topology, const ir::Collective &collective, const Demand &demand,
                           const Algorithm &algorithm);

/// That of loops: in one dimension cells may be of any size, and so they are single ranks in a ring.
topology::Lattice latticeOfLoops(const topology::Topology &topology);
/// The chunks of a block, in a buffer with a block for each rank; 0 in others.
uint32_t blockSize(const ir::Collective &collective, ir::BufferId buffer);
/// The index that rank 0 has where `rank` has that of `location`, if all ranks of the lattice do alike.
uint32_t relativeIndex(const topology::Lattice &lattice, const ir::Collective &collective, const Location &location,
                       uint32_t rank);

} // namespace gc3::algorithm
