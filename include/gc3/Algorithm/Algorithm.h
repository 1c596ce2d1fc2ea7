// SPDX-License-Identifier: Apache-2.0
// A synchronous algorithm on a topology (SCCL section 3.2): a sequence of steps, each with a number of rounds and a
// list of sends. The solver and the searches all return this type, so one check, one cost model and one printer serve
// all of them.
#pragma once

#include "gc3/Algorithm/Demand.h"
#include "gc3/Topology/Topology.h"
#include <cstdint>
#include <string>
#include <vector>

namespace gc3::algorithm {

/// A copy replaces the receiver's contents of the chunk; a reduction adds to them.
enum class SendKind : uint8_t { Copy, Reduce };

/// One send: the rank at the start of a link sends its contents of a chunk over the link.
struct Send {
  uint32_t chunk, link;
  SendKind kind = SendKind::Copy;
};

/// All sends of a step read the state before the step. A rank must not send and receive one chunk in the same step.
/// Programs keep the chunk in one place, so the received value could overwrite the value before the rank sends it.
struct Algorithm {
  std::vector<uint32_t> rounds;          ///< number of rounds, by step
  std::vector<uint32_t> stepBegin = {0}; ///< the sends of step s are sends[stepBegin[s] .. stepBegin[s + 1])
  std::vector<Send> sends;

  uint32_t steps() const { return static_cast<uint32_t>(rounds.size()); }
  uint32_t totalRounds() const;
  /// Ends the current step, which has `ofRounds` rounds and consists of the sends since the previous step.
  void endStep(uint32_t ofRounds) {
    rounds.push_back(ofRounds);
    stepBegin.push_back(static_cast<uint32_t>(sends.size()));
  }
};

/// Returns `algorithm` with its steps in reverse order and with a reduction in place of each copy. Link numbers stay
/// the same, so the result runs on the reversed topology. Turns an Allgather into a Reducescatter, and a Broadcast into
/// a Reduce (section 3.6).
Algorithm inverted(const Algorithm &algorithm);
/// Like inverted(), but copies stay copies: a Scatter becomes a Gather.
Algorithm reversed(const Algorithm &algorithm);
/// Returns the steps of `first` followed by the steps of `second`. Both must give each chunk the same number. For
/// example, a Reducescatter followed by an Allgather is an Allreduce.
Algorithm sequence(const Algorithm &first, const Algorithm &second);

/// Returns `order`, the indices of all sends, sorted by chunk. The sends of chunk c are sends[order[i]] for i from
/// begin[c] to begin[c + 1] - 1, in their original order.
std::vector<uint32_t> sendsByChunk(uint32_t chunks, const Algorithm &algorithm, std::vector<uint32_t> &begin);

/// Returns `algorithm` without idle copies. A copy is idle if the receiver has the chunk already, or neither needs nor
/// forwards it; solvers and searches can produce such copies. `algorithm` must not contain reductions.
Algorithm withoutIdleCopies(const topology::Topology &topology, const Demand &demand, const Algorithm &algorithm);

/// Returns the same sends without idle rounds: each step has as many rounds as its sends need, and steps without sends
/// are removed.
Algorithm withoutIdleRounds(const topology::Topology &topology, const Algorithm &algorithm);

/// Returns the reason why `algorithm` does not satisfy `demand` on `topology`, or an empty string if it does. Possible
/// faults: a step sends more chunks over a link, or over the links of a bound, than its rounds allow; a rank sends
/// contents that it does not have; a contribution counts twice; an output lacks its required contents at the end.
/// Shares no code with the producers of algorithms. Linear in the sends; for reductions, in sends times contributions
/// / 64.
std::string findError(const topology::Topology &topology, const Demand &demand, const Algorithm &algorithm);

} // namespace gc3::algorithm
