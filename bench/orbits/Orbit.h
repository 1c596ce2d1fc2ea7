// SPDX-License-Identifier: Apache-2.0
// A prototype: a program that is the same on each rank of a grid, written once. Its steps are never listed for all
// ranks.
//
//   grid 12500 8          all ranks: node and GPU; rank = 8 node + GPU
//   chunks 100000         chunks of a block of each rank's buffer
//   message 12500         slots of the largest message
//   tb 0 1                each rank has this thread block. It sends to the same thread block of the rank 0 nodes and
//                         1 GPU further on, around the grid in each dimension, and receives from the one that sends to
//                         it
//     send 12500          a step of GC3-IR of 12500 slots
//     rrs 12500 x 6       six such steps
//     rrc 12500 after 2 3 waits for step 3 of thread block 2
#pragma once

#include "Whole.h"

namespace gc3::simulate {

/// A program of one rank, whose peers are offsets on a grid.
struct Orbit {
  struct Step {
    common::Opcode opcode;
    uint32_t count;
    uint32_t times;
    uint32_t block = Whole::None, step = 0; ///< awaited; None: nothing
  };
  struct Block {
    uint32_t nodes, gpus; ///< offset of the receiver
    std::vector<Step> steps;
  };

  uint32_t nodes = 0, gpus = 0;
  uint32_t chunks = 0, message = 0;
  std::vector<Block> blocks;

  uint32_t ranks() const { return nodes * gpus; }
  /// Returns the number of steps of a thread block.
  uint64_t stepsOf(uint32_t block) const;
  /// Returns the number of steps of all ranks.
  uint64_t steps() const;
};

/// Parses a description. After an error returns nothing and sets `error`, which begins with the number of the line.
std::optional<Orbit> parseOrbit(const std::string &text, std::string &error);

/// Predicts a call with `bytes` bytes in each rank's buffer. The chunks must divide its elements of 4 bytes. The
/// program needs one FIFO slot. Lists the thread blocks of all ranks, but their steps once, and checks the symmetry as
/// for a bundle. Returns an error text, or an empty string.
std::string simulateOrbit(const Orbit &orbit, const Fabric &fabric, const plan::SlotSizes &slots, uint64_t bytes,
                          Prediction &prediction);

} // namespace gc3::simulate
