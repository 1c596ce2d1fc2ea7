// SPDX-License-Identifier: Apache-2.0
// Hand-made programs for tests. Between them they use every opcode and both kinds of alias.
#pragma once

#include "BundleBuilder.h"

namespace gc3::test {

/// Ring of `ranks` chunks with fused steps: send, rrs, rrcs, rcs, recv. Needs 2 FIFO slots from 2 ranks on.
ProgramSpec ringAllReduce(uint32_t ranks, bool aliased, uint32_t subdivision = 1);
/// Unfused: recv into scratch, reduce, send, with waits between two thread blocks.
ProgramSpec plainRingAllReduce(uint32_t ranks);
/// One message of `chunks` chunks per pair, and a copy.
ProgramSpec allToAll(uint32_t ranks, uint32_t chunks);
/// Ring; aliased: input slot 0 is output slot `rank`.
/// Flat: the output is one block of `ranks` chunks, so that its last chunks are short where counts do not divide.
ProgramSpec allGather(uint32_t ranks, bool aliased, bool flat = false);
/// Direct; aliased: output slot 0 is input slot `rank`. Uses rrc.
/// Flat: the input is one block of `ranks` chunks.
ProgramSpec reduceScatter(uint32_t ranks, bool aliased, bool flat = false);
/// Chain from root to root - 1.
ProgramSpec broadcast(uint32_t ranks, uint32_t root);
/// Chain to the root with rrs.
ProgramSpec reduceTo(uint32_t ranks, uint32_t root);
ProgramSpec gather(uint32_t ranks, uint32_t root);
ProgramSpec scatter(uint32_t ranks, uint32_t root);
/// A custom collective: each rank r > 0 gets the reversed chunks of rank r - 1; rank 0's output may hold anything.
ProgramSpec shiftReversed(uint32_t ranks, uint32_t chunks);
/// A custom collective: rank 1 gets what rank 0 has, and the others have nothing to do.
ProgramSpec oneMessage(uint32_t ranks);
/// Every rank adds its two neighbours' chunks into its own input before sending it on: writes the input.
ProgramSpec writesInput(uint32_t ranks);

} // namespace gc3::test
