// SPDX-License-Identifier: Apache-2.0
// A synchronous algorithm on a topology (SCCL section 3.2): steps, each of some rounds, and what is sent in each. All
// that makes algorithms ends here: the check, the cost and the text of the program are the same for all.
#pragma once

#include "gc3/Algorithm/Demand.h"
#include "gc3/Topology/Topology.h"
#include <cstdint>
#include <string>
#include <vector>

namespace gc3::algorithm {

/// A copy replaces what the receiver has of the chunk, a reduction adds to it.
enum class SendKind : uint8_t { Copy, Reduce };

/// A chunk, with all that the sender has of it, over a link of the topology.
struct Send {
  uint32_t chunk, link;
  SendKind kind = SendKind::Copy;
};

/// Sends of one step take what was there when the step began. So no rank may send a chunk in a step in which it
/// receives it: programs have one place for it.
struct Algorithm {
  std::vector<uint32_t> rounds;          ///< by step
  std::vector<uint32_t> stepBegin = {0}; ///< step s is sends[stepBegin[s] .. stepBegin[s + 1])
  std::vector<Send> sends;

  uint32_t steps() const { return static_cast<uint32_t>(rounds.size()); }
  uint32_t totalRounds() const;
  /// Ends the step that the sends since the last one make up.
  void endStep(uint32_t ofRounds) {
    rounds.push_back(ofRounds);
    stepBegin.push_back(static_cast<uint32_t>(sends.size()));
  }
};

/// What `algorithm` does on the reversed topology, backwards in time, with reductions for copies: an Allgather becomes
/// a Reducescatter, a Broadcast a Reduce (section 3.6).
Algorithm inverted(const Algorithm &algorithm);
/// The same without reductions: a Scatter becomes a Gather.
Algorithm reversed(const Algorithm &algorithm);
/// One after the other, on one numbering of chunks: a Reducescatter and an Allgather make an Allreduce.
Algorithm sequence(const Algorithm &first, const Algorithm &second);

/// Chunk c is sent by sends[order[begin[c]]] up to before sends[order[begin[c + 1]]], in their order; returns the
/// order.
std::vector<uint32_t> sendsByChunk(uint32_t chunks, const Algorithm &algorithm, std::vector<uint32_t> &begin);

/// An algorithm that only copies, without copies to ranks that have the chunk or do nothing with it: solvers and
/// searches may leave some.
Algorithm withoutIdleCopies(const topology::Topology &topology, const Demand &demand, const Algorithm &algorithm);

/// The same sends without idle rounds: each step has as many as they take, and steps without any are left out.
Algorithm withoutIdleRounds(const topology::Topology &topology, const Algorithm &algorithm);

/// Why `algorithm` does not do what `demand` asks for on `topology`: a step that sends more than its rounds let through
/// a link or a bound, a rank that sends what it does not have, a contribution that counts twice, an output that ends
/// without what it must hold. Empty if it does. Shares nothing with what makes algorithms. Linear in the sends, and for
/// reductions in sends times contributions / 64.
std::string whyWrong(const topology::Topology &topology, const Demand &demand, const Algorithm &algorithm);

} // namespace gc3::algorithm
