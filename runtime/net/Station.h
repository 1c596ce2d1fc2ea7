// SPDX-License-Identifier: Apache-2.0
// The running part of an exchanger: its connections, and the thread that serves them.
#pragma once

#include "net/ChoiceSearch.h"
#include "net/Hub.h"
#include "net/Link.h"
#include "net/Mailbox.h"
#include "net/Outbox.h"

#include <asio/steady_timer.hpp>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace gc3::net {

/// Returns this rank's answer to a question.
using LookBack = std::function<Answer(uint64_t asked)>;

/// The functions can throw, except stop(). The private functions run on the station's thread.
class Station {
public:
  Station(uint32_t rank, uint32_t ranks) : isHub(rank == 0), hub(ranks), search(ranks) {}
  ~Station() { stop(); }
  Station(const Station &) = delete;
  Station &operator=(const Station &) = delete;

  /// The context of the sockets that the functions below take.
  asio::io_context &socketContext() { return context; }
  /// Takes the connection to another rank. Not after start().
  void add(uint32_t otherRank, Tcp::socket socket);
  void start(Outbox::ReadTimes readTimes, LookBack lookBack);
  /// Makes the thread look into the mailbox. Thread-safe, after start().
  void wake();
  /// Makes rank 0 compare the choices of all ranks. Thread-safe, after start().
  void compare();
  /// Ends the thread. Thread-safe. Does nothing if the thread does not run.
  void stop() noexcept;

  Mailbox mailbox;

private:
  void run() noexcept;
  void send(uint64_t exchange, const select::Message &message);
  bool handle(uint32_t otherRank, Frame &frame);
  bool handleAtHub(uint32_t otherRank, const Frame &frame);
  bool handleFromHub(Frame &frame);
  void sendToAll(const Frame &frame);
  void beginSearch();
  void handleEnd(uint32_t otherRank, const std::string &reason);
  bool handleHurry(uint32_t otherRank, uint64_t exchange);
  void spreadHurry();
  void publish();
  void fail(const std::string &text);
  void finish();
  void stopIfFinished();

  const bool isHub;
  asio::io_context context{1};
  asio::steady_timer stopTimer{context};
  Hub hub;
  ChoiceSearch search;
  LookBack lookBack;
  std::vector<std::unique_ptr<Link>> links; ///< of rank 0: to all other ranks; of the others: to rank 0
  std::optional<Outbox> outbox;
  uint64_t spread = 0; ///< exchanges that other ranks know to be in a hurry
  bool isFinishing = false;
  std::atomic<bool> isWoken = false; ///< the thread will look into the mailbox
  std::mutex stopping;
  std::thread thread;
};

} // namespace gc3::net
