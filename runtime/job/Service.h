// SPDX-License-Identifier: Apache-2.0
// The running part of an assembly: its connections, and the thread that serves them. Rank 0 has a connection to each
// other rank, and each other rank has one to rank 0.
#pragma once

#include "job/Center.h"
#include "job/Channel.h"
#include "job/Identity.h"
#include "job/Inbox.h"
#include "job/LossBoard.h"
#include "job/ProcessWatch.h"
#include "net/Reception.h"

#include <asio/steady_timer.hpp>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

namespace gc3::job {

/// The functions can throw, except those with `noexcept`. The private functions from run() on run on the service's
/// thread.
class Service {
public:
  using Gathered = Center::Gathered;

  /// `losses` must outlive this object. `reception` is null, except on rank 0: there it must use the same context, and
  /// outlive this object.
  Service(uint32_t rank, const Identity &identity, LossBoard &losses, std::shared_ptr<asio::io_context> context,
          net::Reception *reception);
  ~Service() { leave(std::chrono::milliseconds(0)); }
  Service(const Service &) = delete;
  Service &operator=(const Service &) = delete;

  // Before start():
  /// Only for rank 0: accepts the other ranks.
  void accept(const net::Key &key);
  /// Takes the connection to another rank.
  void add(uint32_t other, net::Tcp::socket socket);

  void start();

  // As in job/Assembly.h:
  core::Result<Gathered> gather(std::span<const uint8_t> own, const Wait &wait);
  void report(const core::Outcome &error);
  const Loss *waitForLoss(std::chrono::milliseconds time);
  void leave(std::chrono::milliseconds linger) noexcept;

private:
  core::Outcome explain(const Wait &wait, uint64_t round);
  std::optional<std::string> ask(std::function<void()> question);
  bool haveOthersLeft() const;

  void run() noexcept;
  void contribute(Message data);
  void publish();
  bool handle(uint32_t other, Message &message);
  bool handleOfRank(uint32_t other, Message &message);
  bool handleOfRank0(Message &message);
  bool noteIdentity(uint32_t of, net::Bytes bytes);
  bool noteIdentities(const Gathered &gathered);
  void watch(uint32_t other);
  void handleEnd(uint32_t other, Channel::End end, const std::string &text);
  void lose(const Loss &loss);
  void spread(const Loss &loss);
  void sendToAll(const Message &message);
  std::string describeMissing(uint64_t round) const;
  std::string describeRank(uint32_t of) const;
  std::string stoppedDetail(uint32_t of) const;
  void finish();
  void stopIfFinished();

  const uint32_t rank;
  const Identity identity; ///< of this rank
  LossBoard &losses;
  const std::shared_ptr<asio::io_context> context;
  net::Reception *const reception;
  asio::steady_timer stopTimer{*context};
  Center center;
  Inbox inbox;
  std::vector<std::unique_ptr<Channel>> channels; ///< by rank; null: no connection
  std::vector<std::unique_ptr<ProcessWatch>> watches;
  std::vector<std::optional<Identity>> identities; ///< by rank
  uint64_t nextRound = 0;                          ///< of the thread that gathers
  std::optional<uint64_t> awaited;                 ///< gather whose result this rank waits for
  bool isFinishing = false;
  std::atomic<bool> hasLeft = false;
  std::thread thread;
};

} // namespace gc3::job
