// SPDX-License-Identifier: Apache-2.0
// What the ranks of NCCL communicators do together: join, load programs, and make calls. Each function is one thread's,
// for all of its ranks at once, of one communicator or several; the ranks of other threads and processes do the same.
// No NCCL group of the thread's is open.
#pragma once

#include "lsa/Rank.h"

namespace gc3::lsa {

/// What became of one rank. Not ok and no rank: it is refused, as on all other ranks, and NCCL works as before. Not ok
/// and a rank that is broken: the others may wait for it.
struct Joined {
  std::shared_ptr<Rank> rank;
  core::Outcome outcome;
  uint64_t communicator = 0; ///< alike for all of its ranks, and for nobody else's
};

/// A rank that wants to join, and what it brings.
struct Applicant {
  ncclapi::Comm comm;
  Catalog::Files files;
  core::Outcome problem; ///< why it can't run programs, if so: the others have to hear of it
  cuda::Options options;
  nccl::AbortFlag isAborted{}; ///< null: it has one of its own
};

/// By applicant.
std::vector<Joined> join(const Drivers &drivers, std::span<const Applicant> applicants);

/// A call of one rank.
struct RankCall {
  Rank *rank;
  uint32_t program; ///< that its catalog chose for the request
  core::Request request;
  cuda::Stream stream;

  core::Outcome outcome;
  /// The program could not be loaded, here or elsewhere; all ranks come to that, and nothing was done.
  bool declined = false;
  cuda::Runner::Plan plan;
};

/// Calls that a thread's ranks of a communicator make together, one each.
using Turn = std::vector<RankCall *>;

/// The n-th calls of all ranks of a communicator, in the order of their first: as other threads may make them one by
/// one, and wait for each to end, nothing is done for one before all that come before it are on their streams. So ranks
/// take turns, too: behind about a thousand launches CUDA waits for room on a GPU, on which kernels may wait for
/// another rank's.
std::vector<Turn> turnsOf(std::span<RankCall> calls);

/// Loads the program, if it is not loaded, for which it waits for other ranks.
void load(const Turn &calls, const ncclapi::Nccl &nccl);

/// As load(), and plans the calls.
void prepare(const Turn &calls, const ncclapi::Nccl &nccl);

/// Puts the calls on their streams, unless they have failed or were declined.
void enqueue(const Turn &calls);

/// All calls, by turns.
void run(std::span<RankCall> calls, const ncclapi::Nccl &nccl);

} // namespace gc3::lsa
