// SPDX-License-Identifier: Apache-2.0
// Manual programs for tests. Together they use every opcode and both kinds of alias.
#pragma once

#include "BundleBuilder.h"

namespace gc3::test {

/// Ring of `ranks` chunks with fused steps: send, rrs, rrcs, rcs, recv. With 2 or more ranks it needs 2 FIFO slots.
ProgramSpec ringAllReduce(uint32_t ranks, bool aliased, uint32_t subdivision = 1);
/// Ring of unfused steps: recv into scratch, reduce, send, with waits between two thread blocks.
ProgramSpec plainRingAllReduce(uint32_t ranks);
/// One message of `chunks` chunks per pair, and a copy.
ProgramSpec allToAll(uint32_t ranks, uint32_t chunks);
/// A ring. If aliased, input slot 0 is output slot `rank`. If flat, the output is one block of `ranks` chunks, so that
/// its last chunks are short if the count does not divide.
ProgramSpec allGather(uint32_t ranks, bool aliased, bool flat = false);
/// Direct messages with rrc. If aliased, output slot 0 is input slot `rank`. If flat, the input is one block of `ranks`
/// chunks.
ProgramSpec reduceScatter(uint32_t ranks, bool aliased, bool flat = false);
/// A chain from root to root - 1.
ProgramSpec broadcast(uint32_t ranks, uint32_t root);
/// A chain of rrs to the root.
ProgramSpec reduceTo(uint32_t ranks, uint32_t root);
ProgramSpec gather(uint32_t ranks, uint32_t root);
ProgramSpec scatter(uint32_t ranks, uint32_t root);
/// A custom collective: each rank r > 0 gets the reversed chunks of rank r - 1. Rank 0's output can have any value.
ProgramSpec shiftReversed(uint32_t ranks, uint32_t chunks);
/// A custom collective: rank 1 gets the input of rank 0, and other ranks have no steps.
ProgramSpec oneMessage(uint32_t ranks);
/// Every rank adds the chunks of both neighbours to its input before it sends the input on. Writes the input.
ProgramSpec writesInput(uint32_t ranks);

} // namespace gc3::test
