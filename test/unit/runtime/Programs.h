// SPDX-License-Identifier: Apache-2.0
// Handwritten programs for tests. Together they use every opcode and both kinds of alias.
#pragma once

#include "BundleBuilder.h"

namespace gc3::test {

/// Returns an AllReduce of `ranks` chunks on a ring, with fused steps: send, rrs, rrcs, rcs, recv. With two or more
/// ranks it needs two FIFO slots.
ProgramSpec ringAllReduce(uint32_t ranks, bool aliased, uint32_t subdivision = 1);
/// Returns an AllReduce of one chunk on a ring, with unfused steps: recv into scratch, reduce, send. Two thread blocks
/// of each rank wait for each other.
ProgramSpec plainRingAllReduce(uint32_t ranks);
/// Returns three AllReduce programs: "chain", which serves all calls without online selection, "plain" and "ring".
std::vector<ProgramSpec> differentAllReduces(uint32_t ranks);
/// Returns the same programs with predictions that "chain" is the slowest, so that online selection tries the others.
/// Without predictions, the cost model favours "chain". If its measured times agree, nothing else runs.
std::vector<ProgramSpec> promisingAllReduces(uint32_t ranks);
/// Returns an AllToAll: each rank sends one message of `chunks` chunks to every other rank, and copies its own block.
ProgramSpec allToAll(uint32_t ranks, uint32_t chunks);
/// Returns an AllGather on a ring. If aliased, input slot 0 is output slot `rank`. If flat, the output is one block of
/// `ranks` chunks. The last chunks of a flat output are short if `ranks` does not divide the count.
ProgramSpec allGather(uint32_t ranks, bool aliased, bool flat = false);
/// Returns a ReduceScatter in which each rank sends directly to every other rank, which receives with rrc. If aliased,
/// output slot 0 is input slot `rank`. If flat, the input is one block of `ranks` chunks.
ProgramSpec reduceScatter(uint32_t ranks, bool aliased, bool flat = false);
/// Returns a Broadcast along a chain: root, root + 1 and so on, modulo `ranks`, up to root - 1.
ProgramSpec broadcast(uint32_t ranks, uint32_t root);
/// Returns a Reduce along a chain that ends at the root. The ranks between both ends use rrs.
ProgramSpec reduceTo(uint32_t ranks, uint32_t root);
ProgramSpec gather(uint32_t ranks, uint32_t root);
ProgramSpec scatter(uint32_t ranks, uint32_t root);
/// Returns a custom collective in which each rank r > 0 gets the chunks of rank r - 1 in reversed order. The output of
/// rank 0 may have any contents.
ProgramSpec shiftReversed(uint32_t ranks, uint32_t chunks);
/// Returns a custom collective in which rank 1 gets the input of rank 0, and other ranks have no steps.
ProgramSpec oneMessage(uint32_t ranks);
/// Returns an AllReduce of one chunk that writes its inputs: a chain from rank 0 to the last rank adds each partial sum
/// to the next input, and a second chain sends the result back.
ProgramSpec writesInput(uint32_t ranks);
/// Returns a program in which rank 1 keeps a sum in its first chunk, and rank 2 gets the sum as its last chunk. If the
/// count is not a multiple of 3, the last chunk is shorter than the first.
ProgramSpec sumToShorterChunk();
/// Returns a program in which two ranks exchange their only chunk in place: each receives into the slot that it sends.
ProgramSpec swapInPlace();

} // namespace gc3::test
