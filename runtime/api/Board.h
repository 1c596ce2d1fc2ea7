// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a host communicator announce their calls to each other. The memory is zeroed and has no pointers
// to objects, so processes can share it.
//
// Each rank has its own cache lines, which only its own thread writes. Announcements of ranks of other hosts are
// copies, which the process writes that receives them first.
#pragma once

#include "api/OnlineCalls.h"
#include "api/RequestRecord.h"
#include "host/BufferArena.h"
#include "host/Memory.h"
#include "host/Parking.h"
#include "host/Staging.h"

#include <array>
#include <atomic>
#include <cstddef>

namespace gc3::api {

/// A rank's announcement of one call. The rank's thread writes `number` last.
struct alignas(host::linePair) Announcement {
  /// Returns whether other processes can map the rank's buffers.
  bool isMapped() const { return arena.holds(send, recv); }

  std::atomic<uint64_t> number;
  uint64_t call;         ///< id of the prepared call that the rank has entered; 0: the ranks must agree on a call
  uint64_t choice;       ///< hash of what online selection has chosen for this call; 0: nothing
  host::Sharing sharing; ///< see host::PreparedCall::sharing
  core::Placement placement;
  const void *send; ///< the rank's buffers, as addresses of its process
  void *recv;
  host::ArenaPlace arena;                        ///< of the rank's process
  OnlineCalls::TimedCall timed;                  ///< only with online selection
  alignas(host::linePair) RequestRecord request; ///< only if `call` is 0
};

/// Whether calls have ended by a timeout.
enum class TimeoutState : uint32_t {
  None,
  Deciding, ///< a rank looks for the ranks that are missing
  TimedOut  ///< no rank may announce a call
};

class Board {
public:
  static size_t bytes(uint32_t ranks) { return sizeof(Head) + ranks * sizeof(Place); }
  /// `memory` has bytes() zeros, or a board that another process uses. It is aligned to host::linePair.
  Board(std::byte *memory, uint32_t rankCount)
      : head(*reinterpret_cast<Head *>(memory)), places(reinterpret_cast<Place *>(memory + sizeof(Head))),
        ranks(rankCount) {}

  std::atomic<TimeoutState> &timeoutState() { return head.timeoutState; }
  /// True after a rank has returned from a call with an error that other ranks do not have. Its buffers may have
  /// another use then.
  std::atomic<bool> &hasEnded() { return head.hasEnded; }
  /// For threads that wait for other ranks.
  host::Parking &waiting() { return head.waiting; }

  /// Indexed by the parity of the call's number. A rank announces call n + 2 only after it has seen all ranks in call
  /// n + 1. By then, all ranks have read its announcement of call n.
  Announcement &announcement(uint32_t rank, uint64_t number) { return places[rank].announcements[number % 2]; }
  const Announcement &announcement(uint32_t rank, uint64_t number) const {
    return places[rank].announcements[number % 2];
  }
  /// True while a thread is in a call of the rank.
  std::atomic<bool> &busy(uint32_t rank) { return places[rank].busy; }

  /// Returns whether a rank has arrived in call `number`.
  bool hasArrived(uint32_t rank, uint64_t number) const {
    return announcement(rank, number).number.load(std::memory_order_acquire) == number;
  }
  /// Returns whether all ranks have arrived in call `number`. Ranks 0 .. `next` - 1 are known to have arrived.
  /// Increases `next` if more ranks have.
  bool haveAllArrived(uint64_t number, uint32_t &next) const {
    while (next < ranks && hasArrived(next, number))
      ++next;
    return next == ranks;
  }

  /// The announcements of a rank of another host come over several connections, maybe repeatedly. Each of them is
  /// stored by the process that claims it first.
  enum class Claim : uint8_t {
    Own,   ///< the caller stores the announcement
    Known, ///< a process has claimed this announcement or a later one
    Gap,   ///< an earlier announcement is missing
  };
  Claim claim(uint32_t rank, uint64_t number) {
    uint64_t last = number - 1;
    if (places[rank].claimed.compare_exchange_strong(last, number, std::memory_order_acq_rel))
      return Claim::Own;
    return last >= number ? Claim::Known : Claim::Gap;
  }

private:
  // NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): what threads wait for has its own lines
  struct alignas(host::linePair) Head {
    std::atomic<TimeoutState> timeoutState;
    std::atomic<bool> hasEnded;
    alignas(host::linePair) host::Parking waiting;
  };
  struct alignas(host::linePair) Place {
    std::array<Announcement, 2> announcements;
    alignas(host::linePair) std::atomic<bool> busy;
    std::atomic<uint64_t> claimed; ///< number of the last announcement that was claimed
  };

  Head &head;
  Place *const places; ///< by rank
  const uint32_t ranks;
};

} // namespace gc3::api
