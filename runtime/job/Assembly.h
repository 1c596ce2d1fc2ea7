// SPDX-License-Identifier: Apache-2.0
// The ranks of a communicator in several processes: how they find each other, exchange small data, and learn that one
// of them is lost (docs/processes.md). All ranks have a connection to rank 0. A thread of each rank serves it, and
// sleeps while nothing happens.
//
// The other ranks get the listener's uniqueId() through another channel:
//   rank 0:  listener = Listener::open(interfaces);
//            assembly = Assembly::lead(listener, member, wait);
//   others:  assembly = Assembly::join(*readUniqueId(id), member, wait);
// or, if a launcher has started the ranks (job/Launcher.h), on each rank:
//            assembly = Assembly::join(launch, member, wait);
// then:      data = assembly->gather(own, wait);           // any number of times; all ranks in the same order
//            while it waits for rank `peer`: stop if assembly->loss() or assembly->lossOf(peer) is not null
//            assembly->report(error);                      // if this rank fails
//            assembly->leave(linger);                      // after the last call
//
// A loss of any rank ends each gather of all ranks with an error that names the lost rank.
#pragma once

#include "core/Result.h"
#include "job/Identity.h"
#include "job/Launcher.h"
#include "job/LossBoard.h"
#include "job/UniqueId.h"
#include "job/WaitLimits.h"
#include "net/Endpoint.h"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gc3::job {

/// A rank that joins.
struct Member {
  uint32_t rank = 0, ranks = 1;
  /// All ranks must have the same secret (GC3_SECRET), or none.
  std::string secret;
  Identity identity = identifyThisProcess();
};

/// An open port for rank 0. Ranks can connect from now on: Assembly::lead() serves them.
class Listener {
public:
  /// Opens a port and makes a random token. The addresses of the interfaces that `interfaces` selects come first; it
  /// has the form of NCCL_SOCKET_IFNAME, and can be empty. gc3SystemError: the system refuses a port.
  static core::Result<std::unique_ptr<Listener>> open(std::string_view interfaces);
  /// Opens the first free port of those that the launch gives to rank 0. gc3SystemError: all are in use.
  static core::Result<std::unique_ptr<Listener>> open(const Launch &launch);
  ~Listener();

  const net::Endpoint &endpoint() const;
  UniqueId uniqueId() const { return writeUniqueId(endpoint()); }

private:
  friend class Assembly;
  struct Parts;
  explicit Listener(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts;
};

/// One rank's part. Assemblies are independent, also those of one process. The functions never throw.
class Assembly {
public:
  using Bytes = std::span<const uint8_t>;
  /// Data of all ranks, by rank.
  using Gathered = std::vector<std::vector<uint8_t>>;

  // The ranks join. Each function returns when all ranks have joined and know all identities. Errors:
  // gc3Timeout: the text names the missing ranks, or the addresses of rank 0 with their errors.
  // gc3RemoteError: a rank that has joined is lost.

  /// Rank 0 waits for the other ranks.
  static core::Result<std::unique_ptr<Assembly>> lead(std::unique_ptr<Listener> listener, const Member &member,
                                                      const Wait &wait);
  /// Another rank connects to rank 0.
  static core::Result<std::unique_ptr<Assembly>> join(const net::Endpoint &rank0, const Member &member,
                                                      const Wait &wait);
  /// Any rank joins the ranks that its launcher has started. Ignores the member's rank and ranks. Each communicator of
  /// a job needs its own Launch::key.
  static core::Result<std::unique_ptr<Assembly>> join(const Launch &launch, const Member &member, const Wait &wait);
  /// Calls leave() without a wait.
  ~Assembly();

  uint32_t rank() const { return member.rank; }
  uint32_t ranks() const { return member.ranks; }
  /// Returns the identities of all ranks, by rank.
  std::span<const Identity> identities() const { return known; }

  /// Returns the bytes of all ranks, by rank. All ranks call it in the same order, one call at a time. A rank can give
  /// at most `mostGatherBytes` bytes (else gc3InvalidArgument), and sizes can differ. After an error, this rank has
  /// reported it, and further calls return an error.
  core::Result<Gathered> gather(Bytes own, const Wait &wait);
  static constexpr size_t mostGatherBytes = 1 << 20;

  /// Gathers one value of each rank. All ranks must have the same type and byte order; gc3RemoteError: a size differs.
  template <typename T>
  core::Result<std::vector<T>> gatherEach(const T &own, const Wait &wait);

  /// Returns the first rank that this rank knows to be ended or failed, or null. It is never a rank that has left. One
  /// load from memory that changes once, so callers can poll it. The result stays valid as long as this object.
  /// Thread-safe.
  const Loss *loss() const noexcept { return board.first(); }
  /// Returns the loss of a rank, also if it has left; null if it takes part. Costs the same as loss(). Thread-safe.
  const Loss *lossOf(uint32_t rank) const noexcept { return board.of(rank); }
  /// Waits until loss() is not null, at most `time`. Returns loss(). Thread-safe.
  const Loss *waitForLoss(std::chrono::milliseconds time);

  /// Sends an error of this rank to all ranks, and sets their loss() and this rank's. The first 4096 bytes of the text
  /// count. Does nothing if this rank has a loss, or has left. Thread-safe; does not wait.
  void report(const core::Outcome &error);

  /// Ends this rank's part in order. Other ranks get a loss of the kind `Left`. Rank 0 first waits until all other
  /// ranks have left or are lost, at most `linger`: after rank 0 has left, ranks do not learn of each other's losses.
  /// Not during gather().
  void leave(std::chrono::milliseconds linger);

  Assembly(const Assembly &) = delete;
  Assembly &operator=(const Assembly &) = delete;

private:
  struct Parts;
  explicit Assembly(const Member &member);

  LossBoard board;
  std::unique_ptr<Parts> parts; ///< null: one rank
  std::vector<Identity> known;
  const Member member;
};

template <typename T>
core::Result<std::vector<T>> Assembly::gatherEach(const T &own, const Wait &wait) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto *bytes = reinterpret_cast<const uint8_t *>(&own);
  const core::Result<Gathered> all = gather({bytes, sizeof own}, wait);
  if (!all.ok())
    return all.outcome();
  std::vector<T> values(all->size());
  for (size_t rank = 0; rank < values.size(); ++rank) {
    if ((*all)[rank].size() != sizeof(T))
      return core::Outcome{gc3RemoteError, "rank " + std::to_string(rank) + " has another version of gc3"};
    std::memcpy(&values[rank], (*all)[rank].data(), sizeof(T));
  }
  return values;
}

} // namespace gc3::job
