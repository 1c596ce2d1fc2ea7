// SPDX-License-Identifier: Apache-2.0
// Places of chunks in the program of an algorithm: the input, the output, or scratch.
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

/// One operation of the program, on `count` consecutive chunks.
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

/// Returns the operations of an algorithm. If the output of a rank must hold a chunk, the rank stores the chunk there
/// as soon as it has the chunk. Sums grow in the input, because programs may write to it. All other chunks wait in
/// scratch, including a chunk that would overwrite, in place, an input that is sent in the same step or later.
Operations placeOperations(const topology::Topology &topology, const ir::Collective &collective, const Demand &demand,
                           const Algorithm &algorithm);

/// Returns the lattice for loops. With one dimension, it is a ring of single ranks, because cells could have any size.
topology::Lattice latticeOfLoops(const topology::Topology &topology);
/// Returns the number of chunks in a block, for a buffer with a block per rank; 0 for other buffers.
uint32_t blockSize(const ir::Collective &collective, ir::BufferId buffer);
/// Returns the index on rank 0 that corresponds to the index of `location` on `rank`, if all ranks of the lattice
/// perform the same operations.
uint32_t relativeIndex(const topology::Lattice &lattice, const ir::Collective &collective, const Location &location,
                       uint32_t rank);

} // namespace gc3::algorithm
