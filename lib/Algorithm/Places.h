// SPDX-License-Identifier: Apache-2.0
// Assigns the chunks of an algorithm to places of a program: in the input, in the output, or in scratch.
#pragma once

#include "gc3/Algorithm/Algorithm.h"
#include "gc3/Support/PackedKey.h"
#include "gc3/Topology/Lattice.h"
#include "llvm/ADT/DenseMap.h"

namespace gc3::algorithm {

struct Location {
  uint32_t rank = 0;
  ir::BufferId buffer = ir::InputBuffer; ///< InputBuffer, OutputBuffer or FirstScratchBuffer
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
/// as soon as it has the chunk. Sums accumulate in the input, because programs may write to the input. Every other
/// chunk is stored in scratch. In place, a chunk is also stored in scratch if its place in the output holds an input
/// chunk that the rank sends in the same step or later.
Operations placeOperations(const topology::Topology &topology, const ir::Collective &collective, const Demand &demand,
                           const Algorithm &algorithm);

/// Returns the lattice for loops. If the topology has no lattice of several dimensions, returns a ring of single ranks.
/// In a ring, the printer looks for loops over every k-th rank, so cells of any size are covered.
topology::Lattice latticeOfLoops(const topology::Topology &topology);
/// Returns the number of chunks in a block if the buffer has a block per rank, else 0.
uint32_t blockSize(const ir::Collective &collective, ir::BufferId buffer);
/// Returns the index on rank 0 that corresponds to the index of `location` on `rank`, if all ranks perform the same
/// operations relative to their own position in the lattice.
uint32_t relativeIndex(const topology::Lattice &lattice, const ir::Collective &collective, const Location &location,
                       uint32_t rank);

} // namespace gc3::algorithm
