// SPDX-License-Identifier: Apache-2.0
// The processes that run a bundle together. Each has an equal range of the ranks. All run the same rows in the same
// order, and meet between the steps of a row. Process 0 prints the results.
#pragma once

#include "Share.h"

#include "core/Program.h"
#include "core/Result.h"

#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace gc3::run {

/// A process among those of its host.
struct OnHost {
  uint32_t process = 0, processes = 1;
};

class Job {
public:
  /// Waits until all processes have given their bytes, and returns those of all, by process. If this process has a
  /// problem, it waits only a short time, and then sends the problem to the others. After an error, which names a lost
  /// process, no process gathers again.
  using Bytes = std::vector<uint8_t>;
  using Gather = std::function<core::Result<std::vector<Bytes>>(const Bytes &own, const std::string &problem)>;

  /// Waits at most this time until another process is lost. Returns a text that names it, or an empty string.
  using AwaitLoss = std::function<std::string(std::chrono::milliseconds)>;

  /// One process, which has all ranks.
  Job() = default;
  /// Process `number` of `count`.
  Job(uint32_t number, uint32_t count, Gather function, OnHost here = {}, AwaitLoss lossFunction = {})
      : own(number), all(count), gather(std::move(function)), local(here), loss(std::move(lossFunction)) {}

  uint32_t process() const { return own; }
  uint32_t processes() const { return all; }
  const OnHost &onHost() const { return local; }
  /// Empty: other processes can't be lost.
  const AwaitLoss &awaitLoss() const { return loss; }
  bool isFirst() const { return own == 0; }
  /// Returns whether the processes can have equal ranges of this number of ranks.
  bool divides(uint32_t ranks) const { return ranks % processes() == 0; }
  /// Returns the ranks of this process. The processes must divide `ranks`. From now on, name() is by these ranks.
  core::RankRange ownRanks(uint32_t ranks);
  /// Returns "rank 3", or "process 1 (ranks 2 to 3)" if each process has several ranks.
  std::string name() const { return nameOf(own); }

  /// Waits until all processes have brought their shares, and returns those together. All processes call it in the same
  /// order. If the result has a problem, the job has ended: each process returns from where it is, and later calls
  /// return their argument.
  Share meet(const Share &share);
  /// Meets the other processes with a problem, or with none if `problem` is empty. Returns the problem of all together.
  std::string agree(const std::string &problem) { return meet({.problem = problem}).problem; }
  /// Returns whether this process prints problems: process 0 does, and each process that can't reach the others.
  bool printsProblems() const { return isFirst() || state == State::Broken; }

private:
  enum class State : uint8_t { Meeting, Ended, Broken };

  std::string nameOf(uint32_t process) const;
  /// Returns the result of a job whose processes can't meet: this share, with `reason` as its problem unless it has
  /// one.
  Share breakUp(const Share &share, const std::string &reason);

  uint32_t own = 0, all = 1;
  uint32_t ranksPerProcess = 1;
  Gather gather; ///< empty: one process
  OnHost local;
  AwaitLoss loss;
  State state = State::Meeting;
};

/// Sets `id` to the one that `make` writes in process 0. `make` returns an error message, or an empty string. Returns
/// the problem of all processes together. All call it.
template <typename Id, typename Make>
std::string shareId(Job &job, Id &id, Make make) {
  static_assert(std::is_trivially_copyable_v<Id>);
  Share share;
  if (job.isFirst())
    share.problem = make(id);
  share.text.assign(reinterpret_cast<const char *>(&id), sizeof id);
  share = job.meet(share);
  if (share.problem.empty() && share.text.size() != sizeof id)
    return "process 0 has another version of gc3-run";
  if (share.problem.empty())
    std::memcpy(&id, share.text.data(), sizeof id);
  return share.problem;
}

} // namespace gc3::run
