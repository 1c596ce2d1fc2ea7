// SPDX-License-Identifier: Apache-2.0
// The ranks of a communicator that this process has. Other ranks can be in other processes of the same machine, which
// share a file of memory with this process, and on other hosts, which a Transport reaches. Or there are none: then the
// site is whole.
#pragma once

#include "core/Result.h"
#include "host/SharedFile.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gc3::host {

class Transport;

/// The other processes of a communicator. All functions are thread-safe.
class Neighbours {
public:
  virtual ~Neighbours() = default;
  /// Returns an error if a rank has been lost, which names it. Threads that wait call it often, so it costs one load.
  virtual core::Outcome findLoss() = 0;
  /// Returns an error if this rank makes no more calls, because it is lost, or because it has been destroyed.
  virtual core::Outcome findLoss(uint32_t rank) = 0;
  /// Reports an error after which this process makes no more calls. The other processes get it from findLoss().
  virtual void reportFailure(const core::Outcome &failure) = 0;
  /// Returns whether the process of a rank is stopped, by a signal or a debugger.
  virtual bool isStopped(uint32_t rank) = 0;
  /// Describes the process of a rank by a clause such as "whose process 4711 on host a is stopped".
  virtual std::string describe(uint32_t rank) = 0;
};

class Site {
public:
  /// All ranks are in this process.
  explicit Site(uint32_t ranks) : all(ranks), owned(ranks, true), own(ranks) { std::iota(own.begin(), own.end(), 0); }
  /// `ownRanks` is ascending and not empty. `memory` and `others` must outlive this object. A call that makes no
  /// progress for `limit` fails.
  Site(uint32_t ranks, std::vector<uint32_t> ownRanks, SharedFile &memory, Neighbours &others,
       std::chrono::milliseconds limit)
      : all(ranks), owned(ranks), own(std::move(ownRanks)), file(&memory), neighbours(&others), limit(limit) {
    for (const uint32_t rank : own)
      owned[rank] = true;
  }

  /// Notes that not all ranks are on this host. `isRemote` has the other ones, by rank. `ofSite` must outlive this
  /// object.
  void connectHosts(Transport &ofSite, std::vector<bool> isRemote) {
    carrier = &ofSite;
    elsewhere = std::move(isRemote);
  }
  /// Returns what reaches other hosts; null if all ranks are on this host.
  Transport *transport() const { return carrier; }
  bool isOnHost(uint32_t rank) const { return elsewhere.empty() || !elsewhere[rank]; }
  /// Returns the number of ranks on this host.
  uint32_t ranksOnHost() const {
    return all - static_cast<uint32_t>(std::count(elsewhere.begin(), elsewhere.end(), true));
  }

  uint32_t ranks() const { return all; }
  bool isWhole() const { return !file; }
  /// Lets messages to and from ranks of other processes skip their slots, because the system permits access to the
  /// memory of these processes. `ids` are the ids of the processes by rank; 0 for the ranks of this process.
  void allowAccess(std::vector<int> ids) { processes = std::move(ids); }
  /// Returns whether messages of all ranks can skip their slots.
  bool sharesBuffers() const { return isWhole() || !processes.empty(); }
  /// Returns the argument of allowAccess().
  std::span<const int> otherProcesses() const { return processes; }

  /// Sets the variable that becomes true when a rank may use its buffers for something else. It must outlive this
  /// object.
  void watchEnd(const std::atomic<bool> &hasEnded) { end = &hasEnded; }
  /// Returns the argument of watchEnd(); null if the site is whole.
  const std::atomic<bool> *hasEnded() const { return end; }

  bool owns(uint32_t rank) const { return owned[rank]; }
  std::span<const uint32_t> ownRanks() const { return own; }

  // Only if the site is not whole.
  SharedFile &memory() const { return *file; }
  Neighbours &others() const { return *neighbours; }
  std::chrono::milliseconds timeLimit() const { return limit; }
  /// Returns an error if no call can end, because a rank or a connection is lost.
  core::Outcome findLoss() const;

private:
  uint32_t all;
  std::vector<bool> owned;     ///< by rank
  std::vector<bool> elsewhere; ///< by rank; empty if all ranks are on this host
  Transport *carrier = nullptr;
  std::vector<uint32_t> own;
  std::vector<int> processes;
  SharedFile *file = nullptr;
  Neighbours *neighbours = nullptr;
  const std::atomic<bool> *end = nullptr;
  std::chrono::milliseconds limit{0};
};

} // namespace gc3::host
