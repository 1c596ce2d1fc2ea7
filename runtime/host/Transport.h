// SPDX-License-Identifier: Apache-2.0
// Connects the ranks of this process with ranks of other hosts, over a Wire. It sends the announcements of this
// process's ranks, and mirrors the connections of prepared calls (host/Mirror.h). It has no thread: it works while
// ranks wait, because they call progress(). So before a rank returns from a call, drain() hands over everything that
// other hosts wait for.
//
// Thread-safe. One thread works at a time, under a lock. Other threads then do not wait for it.
#pragma once

#include "core/Result.h"
#include "host/Mirror.h"
#include "host/Wire.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gc3::host {

class Transport final : private Wire::Receiver {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr uint32_t none = UINT32_MAX;

  /// Gets the announcements of ranks of other hosts.
  class Announcements {
  public:
    virtual ~Announcements() = default;
    /// Stores an announcement. Returns false if it is none of this version, or if it is not the rank's next one.
    virtual bool receive(uint32_t rank, uint64_t number, std::span<const std::byte> data) = 0;
  };

  /// The processes that this one reaches.
  struct Reach {
    std::vector<uint32_t> processes; ///< by rank of another host: the lowest rank of its process; `none`: other ranks
    std::vector<uint32_t> listeners; ///< processes that get the announcements: one of each other host
  };

  /// `ownRanks` are those of this process, ascending. `describe` returns a text such as "process 4711 on host a" for a
  /// rank.
  Transport(std::unique_ptr<Wire> wire, Reach reach, std::span<const uint32_t> ownRanks,
            std::function<std::string(uint32_t rank)> describe);
  ~Transport() override;

  /// Returns the lowest rank of this process.
  uint32_t lowestRank() const { return self; }
  /// Returns the lowest rank of the process of a rank of another host; `none` for ranks of this host.
  uint32_t processOf(uint32_t rank) const { return reach.processes[rank]; }

  /// Returns what connect() of other processes needs. Only ranks of the communicator may see it.
  std::vector<uint8_t> address() const;
  /// Connects this process with all processes of other hosts. `addresses` are those of the ranks' processes. Waits
  /// until all processes have answered; `interrupt` returns an error if it is no use to wait longer. gc3Timeout: a
  /// process has not answered before the deadline.
  core::Outcome connect(std::span<const std::vector<uint8_t>> addresses, Clock::time_point deadline,
                        const std::function<core::Outcome()> &interrupt);

  /// Sets the receiver of announcements, before connect() or the first call. It must live until close().
  void setAnnouncements(Announcements &receiver) { announcements = &receiver; }
  /// Sends the announcement of a rank of this process to all other hosts, where one process shows it to the others. The
  /// rank has entered the call. The processes of this host must not see its announcement before.
  void announce(uint32_t rank, uint64_t number, Wire::Bytes data);
  /// Sends the last announcement of a rank to the processes to which announce() has not sent it.
  void announceToRest(uint32_t rank, uint64_t number, Wire::Bytes data);

  /// Begins to carry messages of a prepared call. `mirror` must live until detach() or close().
  void attach(Mirror &mirror);
  /// Drops later messages of the call. All its ranks must have left it.
  void detach(Mirror &mirror);

  /// Sends and receives what it can, unless another thread does. Returns whether anything has arrived.
  bool progress();
  /// Sleeps until something may have arrived, or until the deadline. Returns false at once if another thread sleeps
  /// here.
  bool sleepUntil(Clock::time_point deadline);
  /// Waits until everything that the calling thread's ranks have sent arrives without further calls of this object.
  /// gc3Timeout: after `limit`, another process still does not receive it. gc3RemoteError: see violation().
  core::Outcome drain(std::chrono::milliseconds limit);

  /// Returns an error if a process has sent what none of this version sends. Costs one load.
  core::Outcome violation() const;
  /// Returns an error about a process whose connection has been lost for a while, and for which `isExcused` returns
  /// false. If there is no such process, costs one load. The end of a process is a loss, too, but the caller learns of
  /// it in another way, with a better text, in this while.
  core::Outcome findLoss(const std::function<bool(uint32_t process)> &isExcused) const;

  /// Ends all connections. If `inOrder` is true, first waits a little until the other processes have all that this one
  /// has sent.
  void close(bool inOrder);

private:
  struct Peer {
    uint64_t token = 0;
    bool hasGreeted = false, hasLeft = false;
    std::optional<std::string> lossReason;
    Clock::time_point lostAt;     ///< only with a reason
    std::vector<std::byte> batch; ///< headers and data that the wire does not have yet
    WireHeader first;             ///< the first header of the batch
    uint32_t batched = 0;         ///< number of its headers
    bool isDone() const { return hasLeft || lossReason; }
  };
  /// A message of a call that this process has not prepared yet.
  struct EarlyMessage {
    WireHeader header;
    std::vector<std::byte> data;
  };

  WireHeader headerTo(uint32_t process, WireHeader::Kind kind, uint32_t place = 0) const;
  void postAnnouncement(uint32_t process, uint32_t rank, uint64_t number, Wire::Bytes data);
  void post(uint32_t process, WireHeader header, Wire::Bytes data);
  void sendBatch(uint32_t process, Peer &peer);
  void sendBatches();
  void openBatch(const WireHeader &batch, Wire::Bytes frames);
  void receive(Wire::Bytes header, Wire::Bytes data) override;
  void lose(uint32_t process, const std::string &reason) override;
  void dispatch(const WireHeader &header, Wire::Bytes data);
  void receiveMessage(const WireHeader &header, Wire::Bytes data);
  void deliver(Mirror &mirror, const WireHeader &header, Wire::Bytes data);
  void receiveCredit(const WireHeader &header);
  void keep(const WireHeader &header, Wire::Bytes data);
  void reject(uint32_t process, const std::string &what);
  Mirror *find(uint64_t call);
  void sendAll();
  bool advance();
  void exchange(Mirror &mirror);
  void sendMessages(Mirror &mirror, OutgoingMirror &end);
  void sendCredits(Mirror &mirror, IncomingMirror &end);
  bool isDrained(uint64_t ticket);
  core::Outcome lossOf(uint32_t process) const;
  template <typename Over>
  bool waitUntil(Clock::time_point deadline, Over over);

  const std::unique_ptr<Wire> wire;
  const Reach reach;
  const uint32_t self;
  const uint64_t token; ///< other processes know it from address()
  const std::function<std::string(uint32_t)> describe;
  Announcements *announcements = nullptr;
  std::atomic<bool> isSleeping{false}; ///< a thread is in sleepUntil()
  std::atomic<bool> hasViolation{false}, hasLoss{false};
  mutable std::mutex mutex;       ///< guards the following members, and `wire`
  std::map<uint32_t, Peer> peers; ///< by the lowest rank of the process
  std::vector<Mirror *> mirrors;
  std::map<uint64_t, std::vector<EarlyMessage>> early; ///< by call
  uint64_t earlyBytes = 0;
  uint64_t newestAttached = 0;            ///< sequence number of the last attached call
  std::map<uint32_t, uint64_t> announced; ///< by rank of this process: number of its last call
  uint64_t oldest = 0;                    ///< the smallest of these numbers
  uint64_t sends = 0;                     ///< what this process has sent
  uint64_t flushing = 0;                  ///< value of `sends` at the begin of the last flush
  uint64_t flushed = 0;                   ///< value of `sends` up to which everything is handed over
  std::string violationText;
  bool isClosed = false;
};

} // namespace gc3::host
