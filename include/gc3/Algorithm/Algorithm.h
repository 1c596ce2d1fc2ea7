// SPDX-License-Identifier: Apache-2.0
// A synchronous algorithm on a topology (SCCL section 3.2): steps, each of some rounds, and the sends of each step. All
// producers of algorithms use this type, so they share the check, the cost and the printer of programs.
#pragma once

#include "gc3/Algorithm/Demand.h"
#include "gc3/Topology/Topology.h"
#include <cstdint>
#include <string>
#include <vector>

namespace gc3::algorithm {

/// A copy replaces the receiver's contents of the chunk; a reduction adds to them.
enum class SendKind : uint8_t { Copy, Reduce };

/// Sends the sender's contents of a chunk over a link of the topology.
struct Send {
  uint32_t chunk, link;
  SendKind kind = SendKind::Copy;
};

/// The sends of a step read the state at the start of the step. A rank may not send a chunk in a step in which it
/// receives the chunk, because programs have one place for it.
struct Algorithm {
  std::vector<uint32_t> rounds;          ///< by step
  std::vector<uint32_t> stepBegin = {0}; ///< step s is sends[stepBegin[s] .. stepBegin[s + 1])
  std::vector<Send> sends;

  uint32_t steps() const { return static_cast<uint32_t>(rounds.size()); }
  uint32_t totalRounds() const;
  /// Ends the current step, which has `ofRounds` rounds and consists of the sends since the previous step.
  void endStep(uint32_t ofRounds) {
    rounds.push_back(ofRounds);
    stepBegin.push_back(static_cast<uint32_t>(sends.size()));
  }
};

/// Returns `algorithm` backwards in time, for the reversed topology, with reductions in place of copies: an Allgather
/// becomes a Reducescatter, a Broadcast a Reduce (section 3.6).
Algorithm inverted(const Algorithm &algorithm);
/// Like inverted(), but copies stay copies: a Scatter becomes a Gather.
Algorithm reversed(const Algorithm &algorithm);
/// Returns `first` followed by `second`; both number chunks equally. A Reducescatter and an Allgather make an
/// Allreduce.
Algorithm sequence(const Algorithm &first, const Algorithm &second);

/// Returns the numbers of all sends, by chunk: sends[order[i]] sends chunk c for i in begin[c] .. begin[c + 1] - 1.
/// Keeps the order of the sends of a chunk.
std::vector<uint32_t> sendsByChunk(uint32_t chunks, const Algorithm &algorithm, std::vector<uint32_t> &begin);

/// Returns a copying algorithm without copies to ranks that have the chunk already or do not use it. Solvers and
/// searches can leave such copies.
Algorithm withoutIdleCopies(const topology::Topology &topology, const Demand &demand, const Algorithm &algorithm);

/// Returns the same sends without idle rounds: each step has as many rounds as its sends need, and steps without sends
/// are removed.
Algorithm withoutIdleRounds(const topology::Topology &topology, const Algorithm &algorithm);

/// Returns the reason why `algorithm` does not satisfy `demand` on `topology`: a step that sends more over a link or
/// under a bound than its rounds allow, a rank that sends contents it does not have, a contribution that counts twice,
/// or an output that ends without its required contents. Returns an empty string if the algorithm is correct. Shares no
/// code with the producers of algorithms. Linear in the sends; for reductions, in sends times contributions / 64.
std::string findError(const topology::Topology &topology, const Demand &demand, const Algorithm &algorithm);

} // namespace gc3::algorithm
